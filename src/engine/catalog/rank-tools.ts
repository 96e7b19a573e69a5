// Searches tools by words and ranks them, best first. No index: a server has tens or hundreds of tools. Where a gateway has
// thousands, a search runs in slices.

import { lazyPattern } from '../../common/lazy-pattern.ts';
import { inSlices } from '../../common/slices.ts';
import type { JsonObject } from '../../protocol/model.ts';

/** What is known about a tool. */
export interface Candidate {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly category: string;
  readonly inputSchema: JsonObject;
}

const weights = { name: 10, nameStart: 6, namePart: 4, category: 3, title: 3, description: 2, argument: 1 } as const;

/** Words of a query that count: stops a query of hundreds of letters from taking seconds where there are thousands of tools. */
const maxWords = 32;

/** The tools that match at least one word of the query, best first; an empty query matches all, in their order. */
export async function rankTools<T extends Candidate>(candidates: readonly T[], query: string): Promise<T[]> {
  const words = [...new Set(tokens(query))].slice(0, maxWords);
  if (words.length === 0) return [...candidates];
  const matches: { readonly candidate: T; readonly score: number }[] = [];
  await inSlices(candidates, (candidate) => {
    const points = score(candidate, words);
    if (points > 0) matches.push({ candidate, score: points });
  });
  return matches.sort((a, b) => b.score - a.score).map(({ candidate }) => candidate);
}

function score(candidate: Candidate, words: readonly string[]): number {
  const name = tokens(candidate.name);
  const texts: [readonly string[], number][] = [
    [tokens(candidate.category), weights.category],
    [tokens(candidate.title ?? ''), weights.title],
    [tokens(candidate.description ?? ''), weights.description],
    [argumentsOf(candidate.inputSchema).flatMap(tokens), weights.argument],
  ];
  let total = 0;
  for (const word of words) {
    if (name.includes(word)) total += weights.name;
    else if (name.some((each) => each.startsWith(word))) total += weights.nameStart;
    else if (name.some((each) => each.includes(word))) total += weights.namePart;
    for (const [text, weight] of texts) if (text.some((each) => each.startsWith(word))) total += weight;
  }
  return total;
}

const camelCase = lazyPattern('(\\p{Ll})(\\p{Lu})', 'gu');
const separators = lazyPattern('[^\\p{L}\\p{N}]+');

/** Words in lower case; names in camelCase and snake_case are split. */
function tokens(text: string): string[] {
  return text
    .replaceAll(camelCase(), '$1 $2')
    .toLowerCase()
    .split(separators())
    .filter((each) => each !== '');
}

function argumentsOf(schema: unknown): string[] {
  const { properties } = (schema ?? {}) as { readonly properties?: object };
  return Object.keys(properties ?? {});
}
