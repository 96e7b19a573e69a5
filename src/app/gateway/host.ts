// A gateway as part of this program: its servers, credentials, pins and stored lists, its control socket, and changes of
// its files while it runs.

import type { PreRegisteredClient } from '../../client/index.ts';
import type { Logger } from '../../common/logger.ts';
import { version } from '../../common/version.ts';
import type { Server } from '../../engine/server.ts';
import { createCatalogCache } from '../../gateway/catalog-cache.ts';
import type { ConfigNote } from '../../gateway/config/decode-upstream.ts';
import { defaultViewName, findView } from '../../gateway/config/defaults.ts';
import type { GatewayConfig, ViewConfig } from '../../gateway/config/gateway-config.ts';
import { createGateway, type Gateway, type ServedAs } from '../../gateway/index.ts';
import type { ExposedView } from '../../gateway/names/index.ts';
import { PinFileError, Pins } from '../../gateway/pins/index.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { PartStatus } from '../../protocol/monitor.ts';
import type { AuditLog } from '../../security/audit/index.ts';
import type { PersistentState } from '../profiles/index.ts';
import type { HealthRegistry } from '../serving/health.ts';
import type { Settings } from '../settings/settings.ts';
import { UsageError } from '../usage-error.ts';
import { CallerTokens } from './caller-tokens.ts';
import { consoleGateway, GatewayServers, UpstreamMessages } from './console-gateway.ts';
import type { ControlSocket } from './control-socket.ts';
import { catalogFolder, pinFile, userFolder } from './data-files.ts';
import { terminalOf } from './entries/ask-input.ts';
import { Inputs } from './entries/inputs.ts';
import { openStoredValues } from './entries/stored-values.ts';
import { type GatewaySources, readGateway } from './gateway-settings.ts';
import type { GatewayHost, GatewayServing, Protect } from './host-contract.ts';
import { unknownView } from './known-tools.ts';
import { OuterGateways } from './outer-gateways.ts';
import type { Above, GatewayInfo, ListedTool } from './running.ts';
import { sandboxedTarget } from './sandbox-transport.ts';
import { SignInAccess } from './sign-in/sign-in-access.ts';
import { upstreamNames } from './upstream-names.ts';
import { upstreamTelemetry } from './upstream-telemetry.ts';
import { type ConfigWatch, watchConfig } from './watch-config.ts';

export interface HostOptions {
  readonly input: GatewaySources;
  readonly files: readonly string[];
  /** The view that is served at the endpoint. */
  readonly view?: string | undefined;
  readonly settings: Settings;
  readonly audit: AuditLog | undefined;
  readonly health?: HealthRegistry | undefined;
  readonly persistentState?: PersistentState | undefined;
  readonly logger: Logger;
  /** A server that gets the tools of the default view besides its own. */
  readonly base?: Server | undefined;
}

/** How long after the start a gateway on stdio can be reached by the commands about it. */
const controlDelayMs = 500;

/** Reads the files and creates the gateway. Nothing is started yet. Throws a `UsageError` for what is wrong. */
export async function openGatewayHost(options: HostOptions): Promise<GatewayHost> {
  const { input, files, settings, audit, logger, base, persistentState } = options;
  const inputs = new Inputs({ env: process.env, stored: openStoredValues(), ask: terminalOf(process) });
  const reported = new Set<string>();
  const read = async (): Promise<GatewayConfig> => {
    const { config, notes } = await readGateway(input, files, settings, inputs);
    // Also when the files are read again: the endpoint would keep showing a view that was removed.
    requireView(options.view, config);
    // Once each: some clients write their file every few seconds.
    for (const note of notes) {
      if (!reported.has(note.text)) report(note, logger);
      reported.add(note.text);
    }
    return config;
  };
  const config = await read();
  const outer = new OuterGateways(files, options.view);
  inputs.stopAsking();
  let protect: Protect | undefined;
  const pins = openPinFile(settings.dataDir, files, audit, logger);
  const record = audit === undefined ? undefined : audit.sandbox;
  const messages = new UpstreamMessages();
  const servers = new GatewayServers();
  const telemetry = await upstreamTelemetry(settings);
  let authorizers: ReturnType<typeof loadAuthorizers> | undefined;
  let current = config;
  const callerTokens = new CallerTokens(() => current.servers.some(({ auth }) => auth.kind === 'token-exchange'));
  const signIns = new SignInAccess({
    folder: userFolder(settings.dataDir),
    logger,
    client: clientOfGateway(settings),
    isOffered: (url) => current.servers.some(({ disabled, entry }) => !disabled && entry.url === url),
    changed(event, principalKey, servers) {
      const [issuer, user] = principalKey.split('\0');
      audit?.record({ event, details: { issuer, user, servers } });
    },
  });
  const gateway = createGateway(config, {
    server: { name: 'mooring-gateway', version, ...persistentState },
    logger,
    pins,
    ...(config.catalog ? { cache: createCatalogCache(catalogFolder(settings.dataDir), logger) } : {}),
    authorizer: async (server, principalKey) =>
      (await (authorizers ??= loadAuthorizers(settings, callerTokens, signIns)))(server, principalKey),
    target: (server) => sandboxedTarget(server, (sandbox) => record?.(sandbox) ?? sandbox),
    singleClient: settings.http?.enabled !== true && input.isShared !== true,
    connectOptions: (server) => ({
      telemetry: telemetry.of(server.slug),
      env: outer.env,
      ...(input.target === undefined ? {} : { inheritEnv: ownVariables() }),
      // Without a console nothing listens, so messages cost nothing more.
      ...(settings.console === undefined ? {} : { onMessage: messages.of(server.slug) }),
    }),
    prepareServer(server, as) {
      protect?.(server, upstreamNames(gateway, as), addressBelow(as));
      servers.add(server);
    },
  });
  if (base !== undefined) gateway.attach(base);
  const main = mainOf(options, config);
  const server = serverOf(gateway, main);
  const apply = (next: GatewayConfig): Promise<void> => {
    current = next;
    return gateway.reload(next);
  };
  const watch = watchConfig({ files, current: config, read, apply, logger });
  options.health?.add('upstreams', () => healthOf(gateway));
  let socket: ControlSocket | undefined;
  let opening: NodeJS.Timeout | undefined;
  let isClosed = false;
  const host: GatewayHost = {
    gateway,
    server,
    callerTokens,
    signIns,
    outer,
    serverAt: (path) => gateway.serverAt(path),
    protect(install) {
      protect = install;
      install(server, upstreamNames(gateway, main), '');
    },
    monitor: () => ({ ...monitorOf(gateway), clientDurations: telemetry.durations() }),
    reload: () => watch.reload(),
    upstreams: consoleGateway({ gateway, config: () => watch.config, pins, as: main, messages, servers }),
    async control(serving) {
      const info = { startedAt: new Date().toISOString(), files };
      const open = async (): Promise<void> => {
        try {
          const { openControlSocket } = await import('./control-socket.ts');
          socket = await openControlSocket(controlHandlers({ gateway, main, watch, outer }, serving, info));
        } catch (error) {
          logger.warn(`"mooring gateway status" cannot reach this gateway: ${(error as Error).message}`);
        }
        if (isClosed) socket?.close();
      };
      if (serving.transport !== 'stdio') await open();
      // Clients wait for the first answers on stdio, and Node loads its modules for processes and clusters for this socket.
      else opening = setTimeout(open, controlDelayMs).unref();
    },
    async close() {
      isClosed = true;
      watch.close();
      clearTimeout(opening);
      socket?.close();
      await gateway.close();
      await pins.saved();
    },
  };
  return host;
}

/** A command from the command line gets the user's variables, except for ours, which may be secrets. */
function ownVariables(): string[] {
  return Object.keys(process.env).filter((name) => !name.startsWith('MOORING_'));
}

/** Loaded with the first connection: the start does not need them. */
async function loadAuthorizers(settings: Settings, callerTokens: CallerTokens, signIns: SignInAccess) {
  const { upstreamAuthorizers } = await import('./authorizers.ts');
  return upstreamAuthorizers({
    isInteractive: canSignIn(settings),
    hasUsers: settings.auth !== undefined && settings.http?.enabled === true,
    signIns,
    tokenOf: (principalKey) => callerTokens.of(principalKey),
  });
}

/** The gateway at its own authorization server, if it is registered there. */
function clientOfGateway({ auth }: Settings): PreRegisteredClient | undefined {
  const { issuer, clientId, clientSecret } = auth?.oauth ?? {};
  if (issuer === undefined || clientId === undefined) return undefined;
  return { issuer, clientId, ...(clientSecret === undefined ? {} : { clientSecret }) };
}

/** A user can sign in where the gateway runs on their own machine, for them only. */
function canSignIn({ http, auth }: Settings): boolean {
  return http?.enabled !== true || (auth === undefined && http.host === '127.0.0.1');
}

function report({ level, text }: ConfigNote, logger: Logger): void {
  if (level === 'warning') logger.warn(text);
  else logger.info(text);
}

function openPinFile(
  dataDir: string,
  configFiles: readonly string[],
  audit: AuditLog | undefined,
  logger: Logger,
): Pins {
  try {
    return new Pins({
      file: pinFile(dataDir),
      configFiles,
      logger,
      onChange: ({ slug }, { tool, kind, formerName, withheld }) =>
        audit?.record({ event: 'pin', details: { upstream: slug, tool, kind, formerName, withheld } }),
    });
  } catch (error) {
    if (error instanceof PinFileError) throw new UsageError(error.message);
    throw error;
  }
}

/** What is served at the endpoint: a single server, or a view. */
function mainOf({ input, view }: HostOptions, config: GatewayConfig): ServedAs {
  const [only] = config.servers;
  if (input.target !== undefined && only !== undefined) return { upstream: only.slug };
  return { view: requireView(view, config).name };
}

/** The address of a server below the endpoint. */
function addressBelow(as: ServedAs): string {
  if ('upstream' in as) return `/s/${as.upstream}`;
  return as.view === '' ? '' : `/v/${as.view}`;
}

function serverOf(gateway: Gateway, as: ServedAs): Server {
  return ('view' in as ? gateway.view(as.view) : gateway.single(as.upstream)) as Server;
}

function requireView(given: string | undefined, config: GatewayConfig): ViewConfig {
  const name = given ?? defaultViewName;
  // An empty variable in a command line must not show everything.
  const view = name === '' ? undefined : findView(config, name);
  if (view !== undefined) return view;
  const viewNames = config.views.map((each) => each.name);
  throw new UsageError(unknownView(name, viewNames));
}

function healthOf(gateway: Gateway): { readonly status: 'ok' | 'degraded' | 'failed'; readonly detail?: string } {
  const failing = gateway
    .status()
    .filter(({ state }) => state === 'down' || state === 'degraded' || state === 'needs-login');
  if (failing.length === 0) return { status: 'ok' };
  const detail = failing.map(({ slug, state }) => `${slug}: ${state}`).join(', ');
  return { status: gateway.isReady ? 'degraded' : 'failed', detail };
}

/** The gateway is ready while a server is down, unless that server is required. */
function monitorOf(gateway: Gateway): PartStatus {
  const states = gateway.status().map(({ state }) => state);
  const count = (...of: readonly string[]): number => states.filter((state) => of.includes(state)).length;
  const gauge = (name: string, help: string, value: number) => ({ name, type: 'gauge' as const, help, value });
  return {
    status: gateway.isReady ? 'healthy' : 'unavailable',
    metrics: [
      gauge('mooring_gateway_servers', 'Servers behind the gateway.', states.length - count('disabled')),
      gauge('mooring_gateway_servers_ready', 'Servers that are connected.', count('ready', 'degraded')),
      gauge('mooring_gateway_servers_down', 'Servers that cannot be used.', count('down', 'needs-login')),
    ],
  };
}

function controlHandlers(
  {
    gateway,
    main,
    watch,
    outer,
  }: {
    readonly gateway: Gateway;
    readonly main: ServedAs;
    readonly watch: ConfigWatch;
    readonly outer: OuterGateways;
  },
  { clients, ...serving }: GatewayServing,
  info: Pick<GatewayInfo, 'startedAt' | 'files'>,
) {
  const nameOf = ({ server }: JsonObject): string => {
    if (typeof server !== 'string') throw new Error('a server is missing');
    return server;
  };
  return {
    info: (): GatewayInfo => ({
      ...{ pid: process.pid, version, ...serving, ...info },
      clients: clients?.(),
      problem: watch.problem,
    }),
    status: () => gateway.status(),
    tools: ({ view }: JsonObject) => toolsOf(gateway, typeof view !== 'string' || view === '' ? main : { view }),
    restart: (params: JsonObject) => gateway.restart(nameOf(params)),
    above: (): Above => ({ ids: outer.ids, above: outer.above, accepted: outer.accepted }),
    identities: () => watch.config.servers.map(({ identity }) => identity),
    recheck: (params: JsonObject) => gateway.recheckPins(nameOf(params)),
    reload: () => watch.reload(),
    // As if the user had sent it: open calls finish. After the response to this request. On Windows, a signal that is really sent
    // ends a process at once.
    stop: () => void setImmediate(() => process.emit('SIGTERM', 'SIGTERM')),
  };
}

async function toolsOf(gateway: Gateway, as: ServedAs): Promise<readonly ListedTool[]> {
  const requireExposed = (): ExposedView => {
    const exposed = gateway.exposed(as);
    if (exposed === undefined) throw new UsageError(unknownView('view' in as ? as.view : '', gateway.viewNames));
    return exposed;
  };
  // Before anything is waited for.
  requireExposed();
  await gateway.readLists();
  return requireExposed().tools.map(({ slug, original, exposed: name, item }) => ({
    ...{ name, server: slug, original, title: item.title, description: item.description },
  }));
}
