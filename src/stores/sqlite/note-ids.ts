// Ids of notes that begin with given digits, for completion. Pure arithmetic; notes.ts queries the database.

/** First and last id. */
export type IdRange = readonly [number, number];

/** The ranges within 1 … last of numbers whose digits begin with `prefix`, largest first. */
export function idRanges(last: number, prefix: string): IdRange[] {
  const ranges: IdRange[] = [];
  if (prefix === '') ranges.push([1, last]);
  else if (!prefix.startsWith('0')) {
    for (let from = Number(prefix), width = 1; from <= last; from *= 10, width *= 10) {
      ranges.push([from, Math.min(from + width - 1, last)]);
    }
  }
  return ranges.reverse();
}

/** The ids of ranges without gaps, and how many there are. */
export function countIds(ranges: readonly IdRange[], limit: number): { values: string[]; total: number } {
  const values: string[] = [];
  let total = 0;
  for (const [from, to] of ranges) {
    total += to - from + 1;
    for (let number = to; number >= from && values.length < limit; number--) values.push(String(number));
  }
  return { values, total };
}
