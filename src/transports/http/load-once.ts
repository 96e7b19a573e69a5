// Handlers that are loaded with their first request, so that a server on stdio does not load them.

import type { SessionHost } from '../../protocol/exchange.ts';
import type { FetchHandler } from './fetch/to-fetch.ts';

type Ends = Pick<FetchHandler, 'close' | 'revoke'>;

/** A handler that is loaded with the first request. */
export function loadOnce<Handler extends Ends>(
  host: SessionHost,
  load: () => Promise<Handler>,
): Ends & { handler(): Promise<Handler> } {
  let made: Promise<Handler> | undefined;
  const handler = (): Promise<Handler> => {
    if (made !== undefined) return made;
    const making = Promise.all([load(), host.prepare?.()]).then(([loaded]) => loaded);
    made = making;
    // If loading fails, the next request tries again.
    making.catch(() => {
      made = undefined;
    });
    return making;
  };
  /** A handler that was never created has nothing to close. */
  const open = (): Promise<Handler | undefined> => made?.catch(() => undefined) ?? Promise.resolve(undefined);
  return {
    handler,
    close: async (graceMs) => (await open())?.close(graceMs),
    revoke: async (match) => (await open())?.revoke(match),
  };
}
