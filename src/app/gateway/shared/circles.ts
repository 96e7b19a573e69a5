// Whether a client that connects to a shared gateway is a server of that gateway. Gateways that were started independently are
// connected to each other where their files contain each other, and the environment of neither shows it.

import { type Above, runningGateways } from '../running.ts';

/**
 * `undecided`: other gateways in the circle have clients that they may reject, and one of them decides first. Otherwise gateways that
 * connect to each other at the same moment would all be rejected.
 */
export type Circle = 'none' | 'certain' | 'undecided';

/** Whether a gateway is among those above it, if it has a client with these gateways above it. */
export function findCircle(ids: readonly string[], outer: readonly string[], running: readonly Above[]): Circle {
  const above = allAbove(outer, running, (each) => each.above);
  if (!contains(above, ids)) return 'none';
  if (
    contains(
      allAbove(outer, running, (each) => each.accepted ?? each.above),
      ids,
    )
  )
    return 'certain';
  const own = processIdOf(ids);
  const isFirst = (each: Above): boolean =>
    isDeciding(each) && contains(above, each.ids) && processIdOf(each.ids) > own;
  return running.some(isFirst) ? 'undecided' : 'certain';
}

function allAbove(
  outer: readonly string[],
  running: readonly Above[],
  aboveOf: (each: Above) => readonly string[],
): ReadonlySet<string> {
  const above = new Set(outer);
  for (let size = -1; size !== above.size; ) {
    size = above.size;
    for (const each of running) if (contains(above, each.ids)) for (const id of aboveOf(each)) above.add(id);
  }
  return above;
}

const contains = (all: ReadonlySet<string>, ids: readonly string[]): boolean => ids.some((id) => all.has(id));

const processIdOf = (ids: readonly string[]): string => ids.at(-1) ?? '';

function isDeciding({ above, accepted = above }: Above): boolean {
  return above.length > accepted.length;
}

/** What all running gateways report. */
export async function gatewaysAbove(): Promise<readonly Above[]> {
  const running = await runningGateways();
  const asked = await Promise.allSettled(running.map((each) => each.above()));
  // One that ends meanwhile is above nothing.
  return asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}
