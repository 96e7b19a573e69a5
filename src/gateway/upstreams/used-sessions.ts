// The sessions of clients that have used a connection of one user, for requests of the upstream outside of calls.

import type { SessionClient } from '../../engine/context.ts';
import type { UpstreamCall, UpstreamSession } from './contract.ts';

/** From this number on, sessions that can no longer be reached are removed before one is added. */
const cleanUpSize = 16;

export class UsedSessions {
  readonly #sessions = new Map<SessionClient, UpstreamSession>();

  used(call: UpstreamCall): void {
    const client = call.sessionClient;
    if (client === undefined || this.#sessions.has(client)) return;
    if (this.#sessions.size >= cleanUpSize) {
      for (const each of this.#sessions.keys()) if (!each.isReachable) this.#sessions.delete(each);
    }
    const { passesExtensions } = call;
    const ask: UpstreamSession['ask'] = (request, signal) => call.askSession(client, request, signal);
    this.#sessions.set(client, { client, passesExtensions, ask });
  }

  /** The only session that can be reached now; `ambiguous` if there are several. */
  get only(): UpstreamSession | 'ambiguous' | undefined {
    const reachable = [...this.#sessions.values()].filter(({ client }) => client.isReachable);
    return reachable.length > 1 ? 'ambiguous' : reachable[0];
  }
}
