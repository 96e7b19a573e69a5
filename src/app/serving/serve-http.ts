// Serves a profile over HTTP: turns the settings into transport options and prints the address.

import { version } from '../../common/version.ts';
import type { Console } from '../../console/index.ts';
import type { StreamLogger } from '../../logging/logger.ts';
import type { AuditLog } from '../../security/audit/index.ts';
import { isLoopback } from '../../transports/http/access.ts';
import { endpointUrl } from '../../transports/http/endpoint-url.ts';
import type { HttpOptions, HttpServer, MountedRoute, ServerCardOptions } from '../../transports/http.ts';
import type { Authentication } from '../auth/authentication.ts';
import type { ResolvedSettings } from '../config/resolve.ts';
import type { GatewayHost } from '../gateway/host-contract.ts';
import type { AssembledServer } from '../profiles/index.ts';
import type { HttpSettings } from '../settings/settings.ts';
import { oneAtATime } from '../state/one-at-a-time.ts';
import { taskFields } from '../state/task-store.ts';
import { UsageError } from '../usage-error.ts';
import type { WorkerProcess } from '../workers/worker.ts';
import { announce, printSetup } from './announce.ts';

export interface HttpRun {
  readonly profile: string;
  readonly ready: AssembledServer;
  readonly resolved: ResolvedSettings;
  readonly authentication: Authentication | undefined;
  readonly audit: AuditLog | undefined;
  readonly logger: StreamLogger;
  /** This process as one of several that share the port. */
  readonly worker?: WorkerProcess | undefined;
  /** Options for the state that replicas share. */
  readonly shared?: HttpOptions | undefined;
  /** Prints how to connect clients even without a terminal. */
  readonly showSetup: boolean;
  /** Reloads the settings and applies them to the server. */
  readonly reload: (served: HttpServer) => Promise<void>;
}

/** Serves until the process is stopped. Resolves when the server listens. */
export async function serveOverHttp(run: HttpRun): Promise<HttpServer> {
  const { profile, ready, resolved, authentication, logger, showSetup, worker } = run;
  const http = resolved.settings.http as HttpSettings;
  // A profile may have its own address and path.
  const place: HttpOptions = { ...defaults(http), ...ready.http, ...chosen(resolved) };
  let listening: string | undefined;
  const address = (): string | undefined => listening;
  const console = await consoleFor(run, place, address);
  const reload = oneAtATime(async () => run.reload(served));
  const options: HttpOptions = {
    ...place,
    ...run.shared,
    ...limitsOf(run),
    ...accessOptions(run),
    ...(await tlsOptions(http)),
    ...hostsOf(ready.gateway, place.path ?? '/mcp'),
    mounts: [
      ...(ready.http?.mounts ?? []),
      ...(console === undefined ? [] : [console.mount]),
      ...metadataMounts(run),
      ...signInMounts(run, place.path ?? '/mcp'),
    ],
    optionNames: {
      allowedHosts: '--allow-host NAME',
      allowedOrigins: '--allow-origin ORIGIN',
      publicUrl: '--public-url URL',
      trustedProxies: '--trust-proxy ADDRESS',
    },
    logger,
    ...(worker === undefined ? { ownProcess: true, reload } : {}),
  };
  requireAuthentication(options);
  await checkServerCard(ready.server, options);
  const { serveHttp } = await import('../../transports/http/node/serve.ts');
  const served: HttpServer = await serveHttp(ready.server, options, worker?.listener).catch((cause: unknown) => {
    throw explainListenError(cause, options);
  });
  openSignIns(run, served.url, options);
  if (worker === undefined) {
    const fields = { profile, transport: 'http', version, ...taskFields(ready.server, resolved) };
    announce(`listening on ${served.url}`, fields, logger);
    if (console !== undefined) {
      const { addressForClients } = await import('./setup-text.ts');
      listening = addressForClients(served.url, options.publicUrl, options.path ?? '/mcp');
      const { announceConsole } = await import('../console/console.ts');
      await announceConsole(console, ready.server.name, listening, logger);
    }
    await printSetup(served.url, resolved, authentication !== undefined, showSetup, logger);
    return served;
  }
  worker.own(async (portIsShared) => {
    await served.close({ portIsShared });
    await ready.server.close();
  }, reload);
  worker.listening(served.url);
  return served;
}

/** Nothing of the console is loaded without the setting. */
async function consoleFor(
  { ready, resolved, authentication, audit }: HttpRun,
  { host = '127.0.0.1', path = '/mcp' }: HttpOptions,
  address: () => string | undefined,
): Promise<Console | undefined> {
  if (resolved.settings.console === undefined) return undefined;
  const { mountedConsole } = await import('../console/console.ts');
  const gateway = ready.gateway?.upstreams;
  return mountedConsole(ready.server, { resolved, authentication, audit, host, path, address, gateway });
}

/** The views and servers of a gateway, below the path of the endpoint. */
function hostsOf(gateway: GatewayHost | undefined, path: string): Pick<HttpOptions, 'hosts'> {
  if (gateway === undefined) return {};
  return { hosts: (each) => (each.startsWith(`${path}/`) ? gateway.serverAt(each.slice(path.length)) : undefined) };
}

/** The metadata of each view and server of a gateway, which are protected resources of their own (RFC 9728). */
function metadataMounts({ ready: { gateway }, authentication }: HttpRun): readonly MountedRoute[] {
  const own = authentication?.routes[0];
  if (gateway === undefined || own === undefined) return [];
  return [
    {
      path: own.path,
      handle(exchange) {
        const below = exchange.path.slice(own.path.length);
        const found = gateway.serverAt(below) === undefined ? undefined : authentication?.metadataOf?.(below);
        if (found === undefined) exchange.respond(404, [], '');
        else exchange.respond(200, Object.entries(own.answer().headers).flat(), JSON.stringify(found));
      },
    },
  ];
}

/** The pages where callers of a gateway sign in to its servers. */
function signInMounts({ ready: { gateway }, authentication }: HttpRun, endpoint: string): readonly MountedRoute[] {
  if (gateway === undefined || authentication === undefined) return [];
  const path = `${endpoint === '/' ? '' : endpoint}/login`;
  return [{ path, handle: (exchange) => gateway.signIns.handle(exchange, exchange.path.slice(path.length + 1)) }];
}

/** Authorization servers send browsers back to addresses with https, and to this machine. */
function openSignIns(
  { ready: { gateway }, authentication, audit }: HttpRun,
  url: string,
  { publicUrl, host = '127.0.0.1', path = '/mcp' }: HttpOptions,
): void {
  const address = publicUrl !== undefined ? endpointUrl(publicUrl, path) : isLoopback(host) ? url : undefined;
  if (gateway === undefined || authentication === undefined || address === undefined) return;
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'https:' && !isLoopback(hostname)) return;
  const { routes } = authentication;
  const authenticate = recordedBy(audit, authentication);
  // Tokens are added and removed while it runs.
  const hasTokens = (): boolean => authentication.tokens.length > 0;
  gateway.signIns.open({ address, authentication: { routes, authenticate, hasTokens } });
}

function defaults({ host, port, path }: HttpSettings): HttpOptions {
  return { host, port, path };
}

/** Explicit settings override those of the profile, which override the defaults. */
function chosen({ settings, values }: ResolvedSettings): HttpOptions {
  const http = settings.http as HttpSettings;
  const explicit = <K extends keyof HttpSettings>(key: K): Partial<Pick<HttpSettings, K>> =>
    (values.get(`http.${key}`)?.origin.from ?? 'default') === 'default'
      ? {}
      : ({ [key]: http[key] } as Pick<HttpSettings, K>);
  return {
    ...explicit('host'),
    ...explicit('port'),
    ...explicit('path'),
    ...explicit('allowedHosts'),
    ...explicit('allowedOrigins'),
    ...explicit('publicUrl'),
    ...explicit('trustedProxies'),
    ...explicit('metricsPath'),
    ...explicit('drainDelayMs'),
    ...(http.unsafeNoAuth ? { allowUnauthenticated: true } : {}),
    // The transport leaves out fields that are undefined.
    ...(http.serverCard === undefined ? {} : { serverCard: http.serverCard as ServerCardOptions }),
  };
}

async function tlsOptions({ tls }: HttpSettings): Promise<HttpOptions> {
  if (tls === undefined) return {};
  const { readTlsFiles } = await import('../settings/tls-files.ts');
  return { tls: readTlsFiles(tls) };
}

function limitsOf({ ready, shared }: HttpRun): HttpOptions {
  return shared === undefined ? {} : { limits: { ...ready.http?.limits, ...shared.limits } };
}

/** Authentication; failures are recorded in the audit log, and health probes report whether it can be written. */
function accessOptions({ authentication, audit, ready, shared }: HttpRun): HttpOptions {
  const own = [audit?.monitor, ready.gateway?.monitor].filter((each) => each !== undefined);
  const parts = [...(shared?.monitors ?? []), ...own];
  const monitors = parts.length === 0 ? {} : { monitors: parts };
  if (authentication === undefined) return monitors;
  const { routes } = authentication;
  const authenticate =
    ready.gateway?.callerTokens.remembering(authentication.authenticate) ?? authentication.authenticate;
  return {
    ...monitors,
    authenticate: recordedBy(audit, { authenticate }),
    routes: [...(ready.http?.routes ?? []), ...routes],
  };
}

/** Failures are recorded in the audit log. */
function recordedBy(
  audit: AuditLog | undefined,
  { authenticate }: Pick<Authentication, 'authenticate'>,
): Authentication['authenticate'] {
  return audit === undefined ? authenticate : audit.authentication(authenticate);
}

/** The transport checks this too; this error names the flags to use. */
function requireAuthentication({ host = '127.0.0.1', authenticate, allowUnauthenticated }: HttpOptions): void {
  if (isLoopback(host) || authenticate !== undefined || allowUnauthenticated === true) return;
  throw new UsageError(
    `Cannot listen on ${host} without authentication: anyone who can reach this address could use the server.\n` +
      'Set MOORING_TOKEN, --token-file FILE or --auth-issuer URL, or listen on 127.0.0.1 (the default) to serve only ' +
      'this machine.\nBehind a proxy that authenticates clients, use --unsafe-no-auth.',
  );
}

/** The transport checks this too; here it is a usage error, before the port is opened. */
async function checkServerCard(server: AssembledServer['server'], options: HttpOptions): Promise<void> {
  if (options.serverCard === undefined) return;
  const { createCardDocuments } = await import('../../transports/http/server-card/server-card.ts');
  const { host = '127.0.0.1', port = 0 } = options;
  try {
    createCardDocuments(server, options, { host, port, scheme: 'http' });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/** Explains an error of listening, with what to do. */
export function explainListenError(cause: unknown, { host, port }: Pick<HttpOptions, 'host' | 'port'>): unknown {
  switch ((cause as NodeJS.ErrnoException | undefined)?.code) {
    case 'EADDRINUSE':
      return new Error(
        `Port ${port} on ${host} is already in use. Choose another with --port N (0 picks a free one), or stop the process that uses it`,
        {
          cause,
        },
      );
    case 'EACCES':
      return new Error(`You are not allowed to listen on port ${port}. Choose a port of 1024 or above with --port N`, {
        cause,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`${host} is not an address of this machine. Choose another with --host H, such as 127.0.0.1`, {
        cause,
      });
    default:
      return cause;
  }
}
