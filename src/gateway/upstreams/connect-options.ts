// How the gateway connects to an upstream: the options of the client.

import type { Authorizer, ConnectOptions, EraCache, Target } from '../../client/index.ts';
import type { Logger } from '../../common/logger.ts';
import { appHostCapabilities } from '../../protocol/apps.ts';
import type { Capabilities, Implementation } from '../../protocol/model.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { UpstreamConnection } from './connection.ts';
import type { Asks } from './contract.ts';
import { inputHandlers } from './input-handlers.ts';
import { keepsApart } from './isolation.ts';

/** What connections of all upstreams have in common. */
export interface ConnectSettings {
  /** Name and version that servers see. */
  readonly client: Implementation;
  /** Where connections report to the operator. */
  readonly logger: Logger | undefined;
  /** What was detected about servers. Default: one that all connections of the process share. */
  readonly eraCache?: EraCache | undefined;
  /** How often a server that is down is tried again. Default: every 60 s. */
  readonly retryDownMs?: number | undefined;
  /** Credentials for an upstream, if it needs any; `principalKey`: whose connection it is, empty for a shared one. */
  readonly authorizer?:
    | ((config: UpstreamConfig, principalKey: string) => Authorizer | undefined | Promise<Authorizer | undefined>)
    | undefined;
  /** What to connect to instead of the entry: a transport of the program, a command in a sandbox. */
  readonly target?: ((config: UpstreamConfig) => Target | undefined) | undefined;
  /**
   * The gateway serves one client, as over stdio: requests of servers outside of calls, and changes of roots, are passed on over
   * shared connections too.
   */
  readonly singleClient?: boolean | undefined;
  /** Additional options for the connections of an upstream: a sandbox, a proxy, observers. */
  readonly connectOptions?: ((config: UpstreamConfig) => Partial<ConnectOptions>) | undefined;
}

export interface ConnectEvents {
  listChanged(): void;
  lost(error: Error | undefined): void;
  /** The client has opened it again. */
  restored(): void;
  unexpected(what: string, kind: 'text' | 'message'): void;
}

export async function connectOptions(
  config: UpstreamConfig,
  settings: ConnectSettings,
  connection: UpstreamConnection,
  asks: Asks,
  events: ConnectEvents,
): Promise<ConnectOptions> {
  const isProcess = config.entry.command !== undefined;
  const authorizer = await settings.authorizer?.(config, connection.owner ?? '');
  const { revision, timeoutMs, maxTimeoutMs, maxResultBytes, inheritEnv } = config;
  return {
    client: settings.client,
    // Errors reach callers, and the command line or the URL may contain secrets.
    serverName: config.slug,
    revision,
    handlers: inputHandlers(config, asks, connection),
    capabilities: furtherCapabilities(config, asks, settings.singleClient === true || keepsApart(config)),
    onLog: (message, context) => connection.log(message, context),
    onNotification: (method, params, context) => connection.notified(method, params, context),
    onListChanged: () => events.listChanged(),
    onState: (state, error) => {
      if (state === 'lost') events.lost(error);
      else if (state === 'restored') events.restored();
    },
    onUnexpectedOutput: (what, kind) => events.unexpected(what, kind),
    reportsAllOutput: true,
    ...(settings.logger === undefined ? {} : { logger: settings.logger }),
    ...(settings.eraCache === undefined ? {} : { eraCache: settings.eraCache }),
    ...(authorizer === undefined ? {} : { authorizer }),
    timeoutMs,
    maxTimeoutMs,
    // The largest result with its envelope; a longer line would end the connection.
    maxMessageBytes: maxResultBytes + envelopeBytes,
    // A process that ended is started again by the gateway, with its own pauses.
    reconnect: !isProcess,
    // The client would send a call again over a new connection before its tools are compared with those that were accepted.
    retry: { maxAttempts: isProcess || config.pin === 'block' ? 1 : 2 },
    cache: false,
    validateOutput: false,
    ...(inheritEnv.length === 0 ? {} : { inheritEnv }),
    ...settings.connectOptions?.(config),
  };
}

/** Flags of capabilities; the handlers declare the rest. `isOfOne`: only one user has the connection. */
function furtherCapabilities({ asks: allowed }: UpstreamConfig, asks: Asks, isOfOne: boolean): Capabilities {
  return {
    ...(asks.samplingTools && allowed.includes('sampling') ? { sampling: { tools: {} } } : {}),
    // A server that is notified of changes might cache the folders of one caller and use them for another.
    ...(allowed.includes('roots') && !isOfOne ? { roots: { listChanged: false } } : {}),
    ...(asks.apps ? appHostCapabilities : {}),
  };
}

const envelopeBytes = 64 * 1024;
