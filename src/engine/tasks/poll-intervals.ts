// How often clients are told to poll: seldom for tasks in which nothing changes.

import type { TaskRecord } from './task-store.ts';

/** After so many polls without a change, the interval grows. */
const pollsPerStep = 10;
const growth = 1.5;
/** Tasks whose polls are counted; the oldest are forgotten. */
const maxCounted = 10_000;

export class PollIntervals {
  readonly #polls = new Map<string, { readonly version: number; count: number }>();

  /** Counts a poll. */
  count({ id, version, phase }: TaskRecord): void {
    const polls = this.#polls.get(id);
    if (phase === 'ended') this.#polls.delete(id);
    else if (polls?.version === version) polls.count++;
    else {
      this.#polls.set(id, { version, count: 1 });
      if (this.#polls.size > maxCounted) this.#polls.delete(this.#polls.keys().next().value as string);
    }
  }

  current({ id, version }: TaskRecord, [first, longest]: readonly [number, number] = [1_000, 15_000]): number {
    const polls = this.#polls.get(id);
    if (polls === undefined || polls.version !== version || polls.count < pollsPerStep) return first;
    return Math.round(Math.min(longest, first * growth ** Math.floor(polls.count / pollsPerStep)));
  }
}
