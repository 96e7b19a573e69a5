// Runs long work in slices, with turns of the event loop between them. For work whose length a caller can choose, such
// as notifying a thousand subscribers of ten thousand changes.

import { monotonicMs } from './clock.ts';

/** How long one slice may block the event loop, and thereby delay other responses. */
export const sliceMs = 10;

/** Work that waits for its next slice. Only one slice runs per turn of the event loop, however much work there is. */
const waiting: (() => void)[] = [];
let scheduled = false;

/** Resolves in a later turn of the event loop, in the order of the calls. */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    schedule();
  });
}

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  let startMs = 0;
  inNextTurn(() => {
    startMs = monotonicMs();
    waiting.shift()?.();
  });
  // In the same turn, when the slice is over.
  inNextTurn(() => {
    if (waiting.length === 0) scheduled = false;
    else pauseAfter(monotonicMs() - startMs, scheduleNext);
  });
}

/** Not all platforms have setImmediate, which adds no delay; a timer of 0 ms waits for at least 1 ms. */
export function inNextTurn(run: () => void): void {
  const { setImmediate: soon = setTimeout } = globalThis as { setImmediate?: (run: () => void) => unknown };
  soon(run);
}

function scheduleNext(): void {
  scheduled = false;
  schedule();
}

/** Work that took less is not followed by a pause. */
const shortMs = 5;
const maxPauseMs = 20;

/**
 * Calls `run` after a pause of a quarter of the time that the work before it took. Node.js accepts one connection per turn of
 * the event loop: if all turns were filled with work, a new client would wait for one slice per connection before its own.
 */
export function pauseAfter(tookMs: number, run: () => void): void {
  if (tookMs < shortMs) run();
  else setTimeout(run, Math.min(tookMs / 4, maxPauseMs));
}

/**
 * Handles every item. Returns undefined if one slice was enough, and a promise if the work continues in later turns. Items
 * are read one by one, so they may still be added and removed. An error of `handle` ends the work.
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
  // Work that is already in slices goes first.
  if (waiting.length === 0 && runSlice()) return undefined;
  return (async () => {
    do await nextSlice();
    while (!runSlice());
  })();
}

/** Runs all steps, as `inSlices` handles items. Returns what they return, or a promise of it. */
export function runInSlices<T>(steps: Generator<void, T>): T | Promise<T> {
  let result!: T;
  const rest = inSlices(
    (function* () {
      result = yield* steps;
    })(),
    () => {},
  );
  return rest === undefined ? result : rest.then(() => result);
}
