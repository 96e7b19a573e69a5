// How long to wait between two requests for the state of a task.

/** Stops a server from making clients poll without a pause. */
const minPollMs = 100;
/** Also the interval while notifications arrive, in case one is missed. */
export const maxPollMs = 30_000;
/** Where the server does not say. */
const defaultPollMs = 1_000;
/** So that many clients that started together do not poll together. */
const jitter = 0.1;

/** The interval that a server wants, within limits and with a random part, never shorter than wanted. */
export function pollPauseMs(wantedMs: number | undefined, random: () => number = Math.random): number {
  const wanted = wantedMs === undefined || Number.isNaN(wantedMs) ? defaultPollMs : wantedMs;
  const limited = Math.min(Math.max(wanted, minPollMs), maxPollMs);
  return limited * (1 + random() * jitter);
}
