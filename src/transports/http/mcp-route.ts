// Streamable HTTP of one server at one path: its sessions, and the route that serves them.

import type { WireError } from '../../protocol/errors.ts';
import type { Drain, Principal, SessionControl, SessionHost } from '../../protocol/exchange.ts';
import type { Sealer } from '../../protocol/ports.ts';
import type { EndpointState } from './endpoint-state.ts';
import type { Route } from './exchange.ts';
import type { EndpointOptions } from './options.ts';
import { ErrorResponses } from './responses.ts';
import { SessionIds } from './sessions/session-ids.ts';
import { Sessions } from './sessions/sessions.ts';
import { Streamable } from './streamable.ts';

export class McpRoute {
  readonly host: SessionHost;
  readonly errors: ErrorResponses;
  readonly sessions: Sessions;
  readonly streamable: Streamable;
  readonly route: Route;
  /** Lets operators end sessions. */
  readonly #control: SessionControl = {
    streams: ({ key }) => (key === undefined ? undefined : (this.sessions.active.get(key)?.streams ?? 0)),
    end: async ({ key }) => {
      if (key !== undefined) await this.sessions.end(key);
      return key !== undefined;
    },
  };

  readonly #end: Drain = async (graceMs) => {
    await this.drain(graceMs);
    this.stop();
  };
  /** It ends already: what is open may finish. */
  isDraining = false;

  constructor(host: SessionHost, options: EndpointOptions, state: EndpointState, sealer: Sealer) {
    this.host = host;
    const { compat, sessions = 'required', store = host.store } = options;
    this.errors = new ErrorResponses(host, state.logger, compat?.sessionHeaders);
    const ids = new SessionIds(sealer, store, state.limits, host.bus);
    this.sessions = new Sessions(host, state, this.errors, ids, store, compat?.sessionHeaders ?? []);
    const streamable = new Streamable(host, state, this.sessions, this.errors, sessions);
    this.streamable = streamable;
    this.route = {
      methods: {
        POST: (exchange) => streamable.post(exchange),
        GET: (exchange) => streamable.get(exchange),
        DELETE: (exchange) => streamable.delete(exchange),
      },
      allow: streamable.allow,
    };
    host.sessionControls.add(this.#control);
    host.drains.add(this.#end);
  }

  revoke(match: (principal: Principal) => boolean, error: WireError): void {
    this.streamable.revoke(match, error);
  }

  async drain(graceMs: number): Promise<void> {
    this.isDraining = true;
    this.#release();
    await this.streamable.drain(graceMs);
  }

  /** Forgets the sessions that are in memory. */
  stop(): void {
    this.#release();
    this.sessions.active.stop();
  }

  #release(): void {
    this.host.sessionControls.delete(this.#control);
    this.host.drains.delete(this.#end);
  }
}
