// Long work in slices: so much at a time, then everybody else's turn. For work whose length a caller can choose, such
// as telling a thousand subscribers of ten thousand changes.

import { monotonicMs } from './clock.ts';

/** How long one slice may hold the event loop: nobody waits longer for an answer because of it. */
export const sliceMs = 10;

/** Those who wait for their next slice. Only one of them runs per turn of the event loop, however many there are. */
const waiting: (() => void)[] = [];
let scheduled = false;

/** Resolves in a later turn of the event loop, after those who asked before. */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    schedule();
  });
}

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  // Node's own way costs no delay; a timer of 0 ms waits for at least one.
  const { setImmediate: soon = setTimeout } = globalThis as { setImmediate?: (run: () => void) => unknown };
  soon(() => {
    scheduled = false;
    waiting.shift()?.();
    if (waiting.length > 0) schedule();
  });
}

/**
 * Handles every item. Returns undefined when that took one slice or less, and a promise where it goes on in later turns.
 * Items are asked for one by one, so they may still be added and removed. What `handle` throws ends the work.
 */
export function inSlices<T>(items: Iterable<T>, handle: (item: T) => void): undefined | Promise<void> {
  const iterator = items[Symbol.iterator]();
  /** True when nothing is left. */
  const runSlice = (): boolean => {
    const until = monotonicMs() + sliceMs;
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
      handle(next.value);
      if (monotonicMs() >= until) return false;
    }
    return true;
  };
  // Work that is in slices already goes first.
  if (waiting.length === 0 && runSlice()) return undefined;
  return (async () => {
    do await nextSlice();
    while (!runSlice());
  })();
}
