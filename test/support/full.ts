// Some tests repeat the same thing many times. `npm test` runs some repetitions; MOORING_TEST_FULL=1 runs all.

export const isFullRun = process.env['MOORING_TEST_FULL'] === '1';

/** All pairs of two lists in a full run; otherwise as few as have each value of both. */
export function pairsOf<A, B>(first: readonly A[], second: readonly B[]): (readonly [A, B])[] {
  if (isFullRun) return first.flatMap((a) => second.map((b) => [a, b] as const));
  const count = Math.max(first.length, second.length);
  return Array.from({ length: count }, (_, n) => [first[n % first.length] as A, second[n % second.length] as B]);
}

/** Runs of a property: these with a seed that is always the same, or as many as a full run has with a random one. */
export function propertyRuns(
  count: number,
  inFullRun = 5 * count,
): { readonly numRuns: number; readonly seed?: number } {
  return isFullRun ? { numRuns: inFullRun } : { numRuns: count, seed: 20261116 };
}
