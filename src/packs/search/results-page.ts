// Parses the HTML page of DuckDuckGo: results, ads to skip, the message that nothing was found, the form that leads to
// the next page, and the bot challenge. Does not use the network.

import { tokenize } from '../remote/markup.ts';
import type { SearchHit } from './backend.ts';

/** A parsed page. */
export type ResultsPage =
  | { readonly kind: 'results'; readonly hits: readonly SearchHit[]; readonly next: URLSearchParams | undefined }
  | { readonly kind: 'challenge' }
  /** Neither results nor the message that there are none. */
  | { readonly kind: 'unknown' };

/** More results than one page ever contains. */
const maxHits = 100;

interface HitDraft {
  readonly ad: boolean;
  title: string;
  href: string;
  snippet: string;
}

type FormField = 'title' | 'snippet';

/** Parses a page. It relies on DuckDuckGo's classes `result`, `result__a`, `result__snippet` and `result--ad`. */
export function readResultsPage(html: string): ResultsPage {
  const drafts: HitDraft[] = [];
  const form = new FormReader();
  let nothing = false;
  let field: FormField | undefined;
  // The element whose text is being collected, and how many of the same name are open inside it.
  let element = '';
  let depth = 0;

  for (const token of tokenize(html)) {
    if (token.kind === 'text') {
      const draft = drafts.at(-1);
      if (field !== undefined && draft !== undefined) draft[field] += token.text;
      continue;
    }
    if (token.kind === 'close') {
      form.close(token.name);
      if (field !== undefined && token.name === element && --depth === 0) field = undefined;
      continue;
    }
    const { name, attributes } = token;
    const classes = (attributes.get('class') ?? '').split(/\s+/);
    if (isChallenge(name, classes, attributes)) return { kind: 'challenge' };
    form.open(name, classes, attributes);
    if (field !== undefined) {
      if (name === element && !token.empty) depth++;
      continue;
    }
    if (classes.includes('no-results') || classes.includes('result--no-result')) nothing = true;
    else if (classes.includes('result') && drafts.length < maxHits) {
      drafts.push({ ad: classes.includes('result--ad'), title: '', href: '', snippet: '' });
    }
    const draft = drafts.at(-1);
    const wanted = classes.includes('result__a')
      ? 'title'
      : classes.includes('result__snippet')
        ? 'snippet'
        : undefined;
    if (draft === undefined || wanted === undefined || draft[wanted] !== '') continue;
    if (wanted === 'title') draft.href = attributes.get('href') ?? '';
    [field, element, depth] = [wanted, name, 1];
  }
  const hits = drafts.flatMap((draft) => toHit(draft) ?? []);
  // A page with only ads is a results page; one without any sign of results is something else.
  if (hits.length === 0 && !nothing && !drafts.some((draft) => draft.ad)) return { kind: 'unknown' };
  return { kind: 'results', hits, next: form.fields };
}

function isChallenge(name: string, classes: readonly string[], attributes: ReadonlyMap<string, string>): boolean {
  if (classes.some((each) => each.startsWith('anomaly-modal'))) return true;
  if (name !== 'form') return false;
  return attributes.get('id') === 'challenge-form' || (attributes.get('action') ?? '').includes('/anomaly.js');
}

function toHit({ ad, title, href, snippet }: HitDraft): SearchHit | undefined {
  const url = ad ? undefined : targetOf(href);
  return url === undefined || title.trim() === '' ? undefined : { title, url, snippet };
}

/**
 * The target of a result. Links go through `duckduckgo.com/l/?uddg=…`, which would report what was opened; the target
 * is in the parameter. Ads (`/y.js`) and DuckDuckGo's own pages are not results.
 */
export function targetOf(href: string): string | undefined {
  const link = parse(href, 'https://duckduckgo.com/');
  if (link === undefined) return undefined;
  if (!isOwn(link.hostname)) return link.href;
  const target = link.pathname === '/l/' ? link.searchParams.get('uddg') : null;
  const url = target === null ? undefined : parse(target);
  return url === undefined || (isOwn(url.hostname) && url.pathname === '/y.js') ? undefined : url.href;
}

function parse(text: string, base?: string): URL | undefined {
  try {
    const url = new URL(text, base);
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
  } catch {
    return undefined; // Not a valid link, so there is no result to show.
  }
}

const isOwn = (hostname: string): boolean => hostname === 'duckduckgo.com' || hostname.endsWith('.duckduckgo.com');

/** Collects the hidden fields of the form behind the button "Next". */
class FormReader {
  fields: URLSearchParams | undefined;
  #inNavigation = false;
  #collecting: URLSearchParams | undefined;

  open(name: string, classes: readonly string[], attributes: ReadonlyMap<string, string>): void {
    if (classes.includes('nav-link')) this.#inNavigation = true;
    if (name === 'form') this.#collecting = this.#inNavigation ? new URLSearchParams() : undefined;
    if (name !== 'input' || this.#collecting === undefined) return;
    const field = attributes.get('name');
    if (attributes.get('type') === 'hidden' && field !== undefined) {
      this.#collecting.append(field, attributes.get('value') ?? '');
    }
  }

  close(name: string): void {
    if (name !== 'form' || this.#collecting === undefined) return;
    // "Previous" comes first if there is one; the later form leads to the next page.
    if (this.#collecting.has('s')) this.fields = this.#collecting;
    this.#collecting = undefined;
    this.#inNavigation = false;
  }
}
