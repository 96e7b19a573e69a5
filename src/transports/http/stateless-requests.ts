// POSTs that are served by themselves: stateless requests, and session requests of clients that have no session where
// sessions are optional. Each gets a channel of its own, which ends with the request.

import { SlotSet } from '../../common/slot-set.ts';
import { wireErrors } from '../../protocol/errors.ts';
import type { Principal, SessionChannel, SessionHost } from '../../protocol/exchange.ts';
import { classifyMessage } from '../../protocol/json-rpc.ts';
import { methods } from '../../protocol/methods.ts';
import { receive } from '../receive.ts';
import type { EndpointState } from './endpoint-state.ts';
import { HttpPeer } from './exchange.ts';
import type { Post } from './post.ts';
import type { ErrorResponses } from './responses.ts';
import { StatelessOutlet } from './stateless-outlet.ts';

export class StatelessRequests {
  readonly #host: SessionHost;
  readonly #state: EndpointState;
  readonly #errors: ErrorResponses;
  /** Channels of requests that are not answered yet. */
  readonly #channels = new SlotSet<SessionChannel>();

  constructor(host: SessionHost, state: EndpointState, errors: ErrorResponses) {
    this.#host = host;
    this.#state = state;
    this.#errors = errors;
  }

  /** Serves a stateless request. */
  serve(post: Post): void {
    this.#receive(post, this.#host.connect(new HttpPeer(post.exchange)));
  }

  /** Serves a session request without a session, under the revision that its header names. */
  serveWithoutSession(post: Post): void {
    const { exchange } = post;
    if (isResponse(post.message)) return this.#errors.responseWithoutSession(exchange);
    const revision = exchange.get('mcp-protocol-version')?.trim() ?? this.#host.assumedVersion ?? '';
    const facts = { key: '', revision, capabilities: {} };
    const channel = this.#host.resume(new HttpPeer(exchange), facts, { initialized: true });
    if (channel === undefined) return this.#errors.unknownVersion(exchange, revision, this.#host.handshakeVersions);
    this.#receive(post, channel);
  }

  #receive(post: Post, channel: SessionChannel): void {
    const { exchange, accepts, message, header, text, route } = post;
    const { heartbeat, requests, logger, limits } = this.#state;
    const listens = isListen(message);
    const wanted = accepts === 'both' || accepts === 'stream' || (accepts === 'any' && listens);
    const allowed = this.#state.mayStream(exchange);
    const outlet = new StatelessOutlet(post, heartbeat, { wanted, allowed, isListen: listens });
    receive(channel, message, logger, { outlet, header, text, route });
    if (outlet.ended) return;
    const { caller } = post;
    requests.charge(caller);
    const slot = this.#channels.add(channel);
    let abandoned: ReturnType<typeof setTimeout> | undefined;
    outlet.onEnd = () => {
      clearTimeout(abandoned);
      requests.release(caller);
      this.#channels.delete(slot, channel);
    };
    outlet.onEnding = (error) => this.#state.logRejection(channel.drain(0, error));
    exchange.onGone(() => {
      outlet.lost();
      // Closing the connection cancels a stateless request. On older revisions the call continues for a while.
      if (route === 'stateless') {
        channel.close();
        return outlet.end(undefined);
      }
      const abort = (): void => this.#state.logRejection(channel.drain(0, wireErrors.abandoned()));
      abandoned = setTimeout(abort, limits.abandonedCallMs);
      (abandoned as { unref?: () => void }).unref?.();
    });
  }

  /** Ends the calls of principals for which `match` is true with that error. */
  revoke(match: (principal: Principal) => boolean, error: Error): void {
    for (const channel of this.#channels.values()) {
      const { principal } = channel.peer;
      if (principal !== undefined && match(principal)) this.#state.logRejection(channel.drain(0, error));
    }
  }

  /** Lets open calls finish within the grace period. */
  async drain(graceMs: number): Promise<void> {
    await Promise.all(this.#channels.values().map((channel) => channel.drain(graceMs)));
  }
}

/** Responses to requests of the server, which it only sends within a session. */
function isResponse(message: unknown): boolean {
  if (Array.isArray(message)) return message.some(isResponse);
  const { method } = (message ?? {}) as { readonly method?: unknown };
  return typeof method !== 'string' && classifyMessage(message).kind === 'response';
}

/** The one request whose response can only be a stream. */
function isListen(message: unknown): boolean {
  return (message as { readonly method?: unknown } | null)?.method === methods.listen.name;
}
