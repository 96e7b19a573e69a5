// The polling interval that clients get: longer for tasks that do not change.

import type { TaskRecord } from '../store/task-store.ts';

/** After this many polls without a change, the interval grows. */
const pollsPerStep = 10;
const growth = 1.5;
/** Tasks whose polls are counted; the oldest are forgotten. */
const maxCounted = 10_000;

export type PollLimits = readonly [first: number, longest: number];
const defaultLimits: PollLimits = [1_000, 15_000];

export class PollIntervals {
  readonly #polls = new Map<string, { readonly version: number; count: number }>();

  /** Counts a poll, and returns the interval after it. */
  count({ id, version, phase }: TaskRecord, limits: PollLimits = defaultLimits): number {
    const polls = this.#polls.get(id);
    if (phase !== 'ended' && polls?.version === version) return intervalAfter(++polls.count, limits);
    if (phase === 'ended') this.#polls.delete(id);
    else {
      this.#polls.set(id, { version, count: 1 });
      if (this.#polls.size > maxCounted) this.#polls.delete(this.#polls.keys().next().value as string);
    }
    return limits[0];
  }

  current({ id, version }: TaskRecord, limits: PollLimits = defaultLimits): number {
    const polls = this.#polls.get(id);
    return polls?.version === version ? intervalAfter(polls.count, limits) : limits[0];
  }
}

function intervalAfter(polls: number, [first, longest]: PollLimits): number {
  if (polls < pollsPerStep || first === longest) return first;
  return Math.round(Math.min(longest, first * growth ** Math.floor(polls / pollsPerStep)));
}
