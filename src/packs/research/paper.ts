// A paper, independent of its source, and the rules by which two papers are the same.

/** What sources report about a paper. Texts are unchanged except for removed markup; the pack cleans them. */
export interface Paper {
  readonly title: string;
  readonly authors: readonly string[];
  readonly year?: number;
  readonly doi?: string;
  readonly arxivId?: string;
  readonly url?: string;
  readonly pdf?: string;
  readonly venue?: string;
  readonly abstract?: string;
  readonly citations?: number;
}

/** A paper with the names of the sources that found it, and its rank there. */
export interface FoundPaper extends Paper {
  readonly sources: readonly string[];
  readonly score: number;
}

/** A DOI in its normal form: lower case, without the address of a resolver. */
export function normaliseDoi(text: string | undefined): string | undefined {
  const found = /10\.\d{4,9}\/\S{1,200}/.exec(text ?? '');
  return found === null ? undefined : found[0].toLowerCase().replace(/[.,;]+$/, '');
}

/** An arXiv id without its version: `2401.01234v2` and `arXiv:2401.01234` are the same paper. */
export function normaliseArxivId(text: string | undefined): string | undefined {
  const found = /(\d{4}\.\d{4,5}|[a-z-]{2,20}(?:\.[A-Z]{2})?\/\d{7})(?:v\d{1,3})?$/.exec(text?.trim() ?? '');
  return found?.[1];
}

/** A title in a form that sources agree on: only letters and digits, without accents and case. */
export function normaliseTitle(title: string): string {
  return title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** "Introduction" is the title of many papers: a short title only counts if the year agrees as well. */
const tellingTitleChars = 24;

/** The keys of a paper. Two papers that share a key are the same. */
export function keysOf(paper: Paper): string[] {
  const keys: string[] = [];
  const doi = normaliseDoi(paper.doi);
  if (doi !== undefined) keys.push(`doi:${doi}`);
  const arxivId = paper.arxivId ?? /^10\.48550\/arxiv\.(.+)$/.exec(doi ?? '')?.[1];
  if (arxivId !== undefined) keys.push(`arxiv:${arxivId.toLowerCase()}`);
  const title = normaliseTitle(paper.title);
  if (title.length >= tellingTitleChars) keys.push(`title:${title}`);
  else if (title !== '' && paper.year !== undefined) keys.push(`title:${title}:${paper.year}`);
  return keys;
}
