// The caller of a request, as upstreams need it to choose a connection and to read lists. What few requests need is computed when
// it is read.

import type { Context, SessionClient } from '../../engine/context.ts';
import type { Caller } from '../../engine/ports.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import { askedSession } from '../relays/asked-session.ts';
import { asksOf } from '../relays/input-request.ts';
import { forwardedHeaders } from '../relays/meta.ts';
import type { Asks, ConnectionCaller, UpstreamSession } from '../upstreams/contract.ts';
import { everyAsk } from '../upstreams/declared-capabilities.ts';
import { callerKeys } from '../upstreams/isolation.ts';

/** A caller without a request: it has no headers, and it is not known what its client can be asked for. */
export function absentCaller(caller: Caller): ConnectionCaller {
  return { ...callerKeys(caller), asks: everyAsk, headers: undefined };
}

export class RequestCaller implements ConnectionCaller {
  readonly #ctx: Context;
  readonly #config: UpstreamConfig;
  readonly #isSingle: boolean;
  readonly principalKey: string;
  readonly sessionKey: string;

  /** `config`: of the upstream. `isSingle`: the client is connected to this upstream only. */
  constructor(ctx: Context, config: UpstreamConfig, isSingle: boolean) {
    this.#ctx = ctx;
    this.#config = config;
    this.#isSingle = isSingle;
    const { principalKey, sessionKey } = callerKeys(ctx);
    this.principalKey = principalKey;
    this.sessionKey = sessionKey;
  }

  get asks(): Asks {
    return asksOf(this.#ctx);
  }

  get headers(): Readonly<Record<string, string>> | undefined {
    return forwardedHeaders(this.#ctx, this.#config.forwardHeaders);
  }

  get sessionClient(): SessionClient | undefined {
    return this.#ctx.sessionClient;
  }

  asSession(client: SessionClient): UpstreamSession {
    return askedSession(client, this.#isSingle ? undefined : this.#config.slug, this.#isSingle);
  }
}
