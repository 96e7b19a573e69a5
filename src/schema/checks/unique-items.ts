// `uniqueItems` in time proportional to the size of the value: comparing every pair lets 8,000 small objects take
// seconds. Equal means equal as JSON: key order does not matter, 1 and 1.0 are the same number.
import { canonicalJson } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { spend } from './budget.ts';

/** The positions of the first two equal items, or `undefined` when all differ. */
export function findRepeat(items: readonly unknown[]): readonly [number, number] | undefined {
  if (items.length < 2) return undefined;
  spend(items.length * limits.stepsPerSubschema);
  const scalars = new Map<unknown, number>();
  // Apart from the scalars: the string '{}' is not the object {}.
  const composites = new Map<string, number>();
  for (let at = 0; at < items.length; at++) {
    const item = items[at];
    const composite = typeof item === 'object' && item !== null;
    const seen: Map<unknown, number> = composite ? composites : scalars;
    const key = composite ? canonicalJson(item) : item;
    if (composite) spend(200 + (key as string).length * 5);
    const before = seen.get(key);
    if (before !== undefined) return [before, at];
    seen.set(key, at);
  }
  return undefined;
}
