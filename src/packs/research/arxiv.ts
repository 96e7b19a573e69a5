// arXiv: preprints in physics, mathematics and computer science. It responds with an Atom feed and requires three
// seconds between requests.

import { tokenize } from '../remote/markup.ts';
import { serviceErrors } from '../remote/service-error.ts';
import { normaliseArxivId, normaliseDoi, type Paper } from './paper.ts';
import { maybe, RemoteSource, type RemoteSourceOptions } from './remote-source.ts';
import type { LiteratureQuery } from './source.ts';

export class Arxiv extends RemoteSource {
  readonly name = 'arxiv';

  constructor(options: RemoteSourceOptions = {}) {
    super('https://export.arxiv.org/api/query', options, { minIntervalMs: 3_000 });
  }

  protected async ask({ text, limit, fromYear, toYear, sort, signal }: LiteratureQuery): Promise<readonly Paper[]> {
    // Keywords of the query language would change the meaning of the query; without them every term must occur.
    const words =
      text.match(/[\p{L}\p{N}][\p{L}\p{N}.+-]*/gu)?.filter((word) => !/^(?:AND|OR|ANDNOT)$/.test(word)) ?? [];
    const terms = words.slice(0, 20).map((word) => `all:${word}`);
    if (terms.length === 0) return [];
    if (fromYear !== undefined || toYear !== undefined) {
      terms.push(`submittedDate:[${fromYear ?? 1990}01010000 TO ${toYear ?? 2100}12312359]`);
    }
    const url = this.address({
      search_query: terms.join(' AND '),
      start: 0,
      max_results: limit,
      sortBy: sort === 'date' ? 'submittedDate' : 'relevance',
      sortOrder: 'descending',
    });
    const { text: feed } = await this.service.text(url, this.init(['application/atom+xml', 'text/xml'], signal));
    const papers = readFeed(feed, limit);
    if (papers === undefined) throw serviceErrors.unreadable(this.name, 'it is not an Atom feed');
    return papers;
  }
}

interface PaperDraft {
  id: string;
  title: string;
  summary: string;
  published: string;
  doi: string;
  journal: string;
  pdf: string;
  readonly authors: string[];
}

type TextField = 'id' | 'title' | 'summary' | 'published' | 'doi' | 'journal';

const fieldNames: Readonly<Record<string, TextField>> = {
  id: 'id',
  title: 'title',
  summary: 'summary',
  published: 'published',
  'arxiv:doi': 'doi',
  'arxiv:journal_ref': 'journal',
};

/** The first papers of a feed; undefined when it is not a feed. */
function readFeed(xml: string, limit: number): Paper[] | undefined {
  const drafts: PaperDraft[] = [];
  let isFeed = false;
  let draft: PaperDraft | undefined;
  let field: TextField | 'author' | undefined;
  for (const token of tokenize(xml, 'xml')) {
    if (token.kind === 'text') {
      if (draft === undefined || field === undefined) continue;
      if (field === 'author') draft.authors[draft.authors.length - 1] += token.text;
      else draft[field] += token.text;
    } else if (token.kind === 'close') {
      if (token.name === 'entry') draft = undefined;
      field = undefined;
    } else if (token.name === 'feed') isFeed = true;
    else if (token.name === 'entry') {
      if (drafts.length === limit) break;
      draft = { id: '', title: '', summary: '', published: '', doi: '', journal: '', pdf: '', authors: [] };
      drafts.push(draft);
    } else if (draft !== undefined) {
      if (token.name === 'name') draft.authors.push('');
      if (token.name === 'link' && token.attributes.get('title') === 'pdf')
        draft.pdf = token.attributes.get('href') ?? '';
      field = token.name === 'name' ? 'author' : fieldNames[token.name];
    }
  }
  return isFeed ? drafts.flatMap((each) => toPaper(each) ?? []) : undefined;
}

function toPaper(draft: PaperDraft): Paper | undefined {
  // The service also reports errors as an entry, whose id is not that of a paper.
  const arxivId = normaliseArxivId(draft.id.replace(/^https?:\/\/arxiv\.org\/abs\//, ''));
  if (arxivId === undefined) return undefined;
  const year = Number.parseInt(draft.published.slice(0, 4), 10);
  return {
    title: squeeze(draft.title),
    authors: draft.authors.map(squeeze),
    arxivId,
    url: `https://arxiv.org/abs/${arxivId}`,
    ...maybe('year', Number.isNaN(year) ? undefined : year),
    ...maybe('doi', normaliseDoi(draft.doi)),
    ...maybe('venue', given(draft.journal)),
    ...maybe('abstract', given(draft.summary)),
    ...maybe('pdf', given(draft.pdf)),
  };
}

const squeeze = (text: string): string => text.replace(/\s+/g, ' ').trim();
const given = (text: string): string | undefined => (squeeze(text) === '' ? undefined : squeeze(text));
