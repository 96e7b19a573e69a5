// The messages between the supervisor and its workers, besides those of the bus.

import type { FromRelay, ToRelay } from './bus-messages.ts';

/** From the supervisor to a worker. */
export type ToWorker =
  | { readonly bus: FromRelay }
  /** `portIsShared`: other workers continue to serve. */
  | { readonly type: 'drain'; readonly portIsShared: boolean }
  /** Sent with a connection. */
  | { readonly type: 'connection'; readonly number: number }
  | { readonly type: 'reload' };

/** From a worker to the supervisor. */
export type FromWorker =
  | { readonly bus: ToRelay }
  | { readonly type: 'listening'; readonly url: string }
  /** Whether it has accepted the connection of this number. */
  | { readonly type: 'connection'; readonly number: number; readonly accepted: boolean }
  /** It accepts no more connections. */
  | { readonly type: 'closing' }
  /** It was asked to end, and does so once another worker listens in its place. */
  | { readonly type: 'leaving' };

/** Requests to the process of the relay. */
export const relayTopics = { key: 'key', port: 'port', store: 'store' } as const;

/** What a worker learns about the port. `reusePort`: it opens the port itself. */
export type OpenedPort =
  | { readonly port: number; readonly reusePort: boolean }
  /** The error of listening. */
  | { readonly code: string; readonly message: string };
