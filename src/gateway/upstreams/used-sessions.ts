// The sessions of clients that have used a connection of one user, for requests of the upstream outside of calls.

import type { SessionClient } from '../../engine/context.ts';
import type { UpstreamCall, UpstreamSession } from './contract.ts';

/** Beyond it, those that cannot be reached any more are forgotten. */
const maxForgotten = 16;

export class UsedSessions {
  readonly #sessions = new Map<SessionClient, UpstreamSession>();

  used(call: UpstreamCall): void {
    const client = call.sessionClient;
    if (client === undefined || this.#sessions.has(client)) return;
    if (this.#sessions.size >= maxForgotten) {
      for (const each of this.#sessions.keys()) if (!each.isReachable) this.#sessions.delete(each);
    }
    const { passesExtensions } = call;
    const ask: UpstreamSession['ask'] = (request, signal) => call.askSession(client, request, signal);
    this.#sessions.set(client, { client, passesExtensions, ask });
  }

  /** The only one that can be reached now. It is never guessed between two. */
  get only(): UpstreamSession | 'ambiguous' | undefined {
    const reachable = [...this.#sessions.values()].filter(({ client }) => client.isReachable);
    return reachable.length > 1 ? 'ambiguous' : reachable[0];
  }
}
