// The sessions of clients that use a connection of one user, for requests of the upstream outside of calls.

import type { SessionClient } from '../../engine/context.ts';
import type { SessionCaller, UpstreamSession } from './contract.ts';

/** From this number on, sessions that can no longer be reached are removed before one is added. */
const cleanUpSize = 16;

export class UsedSessions {
  readonly #sessions = new Map<SessionClient, UpstreamSession>();

  /** True for a session that has not used the connection before. */
  used(caller: SessionCaller): boolean {
    const client = caller.sessionClient;
    const session = client === undefined || this.#sessions.has(client) ? undefined : caller.asSession?.(client);
    if (client === undefined || session === undefined) return false;
    if (this.#sessions.size >= cleanUpSize) {
      for (const each of this.#sessions.keys()) if (!each.isReachable) this.#sessions.delete(each);
    }
    this.#sessions.set(client, session);
    return true;
  }

  /** The only session that can be reached now; `ambiguous` if there are several. */
  get only(): UpstreamSession | 'ambiguous' | undefined {
    const reachable = [...this.#sessions.values()].filter(({ client }) => client.isReachable);
    return reachable.length > 1 ? 'ambiguous' : reachable[0];
  }
}
