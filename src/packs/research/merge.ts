// Merges the lists of several sources into one: each paper once, papers that several sources rank high first.

import { type FoundPaper, keysOf, type Paper } from './paper.ts';

/** The list of one source, best first. */
export interface RankedList {
  readonly source: string;
  readonly papers: readonly Paper[];
}

/** The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): the weight of the very first ranks. */
const fusion = 60;

interface PaperGroup {
  /** When two groups turn out to be the same paper, the earlier one keeps its texts. */
  readonly order: number;
  paper: Paper;
  readonly sources: Set<string>;
  score: number;
  /** Merged into another group, which replaces this one. */
  into?: PaperGroup;
}

/** One list without duplicates. A paper with several keys joins the groups of all of them. */
export function mergePapers(lists: readonly RankedList[]): FoundPaper[] {
  const byKey = new Map<string, PaperGroup>();
  const groups: PaperGroup[] = [];
  for (const { source, papers } of lists) {
    for (const [rank, paper] of papers.entries()) {
      const keys = keysOf(paper);
      let group = find(byKey, keys[0]);
      for (const key of keys.slice(1)) group = join(group, find(byKey, key));
      if (group === undefined) {
        group = { order: groups.length, paper, sources: new Set(), score: 0 };
        groups.push(group);
      } else group.paper = complete(group.paper, paper);
      // The same source may list two versions of a paper; only the first counts.
      if (!group.sources.has(source)) group.score += 1 / (fusion + rank + 1);
      group.sources.add(source);
      for (const key of keys) byKey.set(key, group);
    }
  }
  return groups
    .filter((group) => group.into === undefined)
    .map(({ paper, sources, score }) => ({ ...paper, sources: [...sources], score }))
    .sort((a, b) => b.score - a.score);
}

function find(byKey: ReadonlyMap<string, PaperGroup>, key: string | undefined): PaperGroup | undefined {
  let group = key === undefined ? undefined : byKey.get(key);
  while (group?.into !== undefined) group = group.into;
  return group;
}

function join(first: PaperGroup | undefined, second: PaperGroup | undefined): PaperGroup | undefined {
  if (first === undefined || second === undefined || first === second) return first ?? second;
  if (second.order < first.order) return join(second, first);
  first.paper = complete(first.paper, second.paper);
  first.score += second.score;
  for (const source of second.sources) first.sources.add(source);
  second.into = first;
  return first;
}

/** Fields that one paper lacks come from the other; the longer abstract and list of authors win. */
function complete(one: Paper, other: Paper): Paper {
  const longer = <T extends { readonly length: number }>(a: T | undefined, b: T | undefined): T | undefined =>
    (a?.length ?? 0) >= (b?.length ?? 0) ? a : b;
  return {
    ...other,
    ...one,
    authors: longer(one.authors, other.authors) ?? [],
    ...defined('abstract', longer(one.abstract, other.abstract)),
    ...defined('citations', max(one.citations, other.citations)),
  };
}

const defined = (name: string, value: unknown): object => (value === undefined ? {} : { [name]: value });

const max = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
