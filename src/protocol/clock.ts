// Time that never runs backwards, in ms since some moment. On Node the global `performance` is a getter: to ask for it
// takes longer than to read it, and guards read the clock at every call. So it is asked for once.

let clock: { now(): number } | undefined;

export function monotonicMs(): number {
  clock ??= performance;
  return clock.now();
}
