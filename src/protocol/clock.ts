// Time that never runs backwards, in ms on the scale of `performance.now()`. Guards read it twice in every call, and on
// Node asking `performance` takes longer than the reading itself (it first looks whose method was called), so that the
// clock behind it is asked where there is one.

type Hrtime = () => readonly [seconds: number, nanoseconds: number];

let read: (() => number) | undefined;

export function monotonicMs(): number {
  read ??= findClock();
  return read();
}

function findClock(): () => number {
  const { process } = globalThis as { readonly process?: { readonly hrtime?: Hrtime } };
  const hrtime = process?.hrtime;
  if (typeof hrtime !== 'function') return () => performance.now();
  const since = hrtime();
  const offsetMs = performance.now() - msOf(since);
  return () => msOf(hrtime()) + offsetMs;
}

const msOf = (time: ReturnType<Hrtime>): number => time[0] * 1e3 + time[1] / 1e6;
