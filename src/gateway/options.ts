// The options of a gateway besides its configuration: what the program around it provides.

import { assertKnownOptions } from '../common/known-options.ts';
import type { Logger } from '../common/logger.ts';
import type { Server } from '../engine/server.ts';
import type { ServerOptions } from '../engine/server-options.ts';
import type { GatewayConfig } from './config/gateway-config.ts';
import type { HeldCallLimits } from './relays/held-calls.ts';
import type { UpstreamStatus } from './upstreams/contract.ts';
import type { UpstreamSettings } from './upstreams/upstream.ts';

/** Which server of the gateway: a view (empty: the default view), or a single upstream. */
export type ServedAs = { readonly view: string } | { readonly upstream: string };

/** What the program around a gateway provides. */
export interface GatewayOptions extends Omit<UpstreamSettings, 'client' | 'logger'> {
  /** Name and version of the gateway, and other options of its servers. Default: `mooring`. */
  readonly server?: Partial<ServerOptions>;
  /** Where the gateway reports to its operator. Default: warnings and errors on the console; `false`: nowhere. */
  readonly logger?: Logger | false;
  /** Called for every server of the gateway before it is used: to add middleware, policies, observers. */
  readonly prepareServer?: (server: Server, as: ServedAs) => void;
  /** Limits of calls that wait for input of a client; see `HeldCallLimits` for their defaults. */
  readonly heldCalls?: Partial<HeldCallLimits>;
  /** Called when the state of a server behind the gateway changes. */
  readonly onState?: (status: UpstreamStatus) => void;
}

const known: Record<keyof GatewayOptions, true> = {
  server: true,
  logger: true,
  prepareServer: true,
  heldCalls: true,
  onState: true,
  eraCache: true,
  retryDownMs: true,
  authorizer: true,
  target: true,
  singleClient: true,
  connectOptions: true,
  cache: true,
  pins: true,
  cleanLists: true,
};

/** Throws for a configuration that was not decoded, and for options that do not exist: pins would not be checked, for example. */
export function checkGateway(config: GatewayConfig, options: GatewayOptions): void {
  if (!Array.isArray(config?.servers)) {
    throw new TypeError(
      'createGateway needs a decoded configuration: createGateway(await gatewayConfig({ mcpServers }))',
    );
  }
  assertKnownOptions('createGateway', options, known);
}
