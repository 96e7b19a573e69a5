// Assembles a profile and serves it over stdio or HTTP in this process.

import { dirname, isAbsolute } from 'node:path';
import type { Logger } from '../../common/logger.ts';
import { version } from '../../common/version.ts';
import { createLogger, type StreamLogger } from '../../logging/logger.ts';
import type { Principal } from '../../protocol/callers/principal.ts';
import type { AuditLog } from '../../security/audit/index.ts';
import { serveStdio } from '../../transports/stdio.ts';
import { guardStdout } from '../../transports/stdout-guard.ts';
import type { Authentication } from '../auth/authentication.ts';
import type { LiveAuthentication } from '../auth/live-authentication.ts';
import { options as settingOptions } from '../config/options.ts';
import type { ResolvedSettings, SettingsInput } from '../config/resolve.ts';
import type { GatewaySources } from '../gateway/gateway-settings.ts';
import type { HostOptions } from '../gateway/host.ts';
import type { GatewayHost } from '../gateway/host-contract.ts';
import type { SocketOptions } from '../gateway/shared/serve-socket.ts';
import { type AssembledServer, gatewayProfile, type Profile, type ProfileRow, profiles } from '../profiles/index.ts';
import { checkFolders } from '../settings/check-folders.ts';
import type { PolicyGuard } from '../settings/policy.ts';
import { type ReadSettings, readSettings } from '../settings/read-settings.ts';
import type { Settings } from '../settings/settings.ts';
import { openState } from '../state/open-state.ts';
import { hasTasks, type PersistentStatePack, taskFields, taskHealth } from '../state/task-store.ts';
import { UsageError } from '../usage-error.ts';
import type { WorkerProcess } from '../workers/worker.ts';
import { addPacks } from './add-packs.ts';
import { auditHealth, openAudit } from './audit.ts';
import { HealthRegistry } from './health.ts';
import { loadTelemetry } from './load-telemetry.ts';

export interface ServeOptions extends SettingsInput {
  /** Prints how to connect clients once the server listens on HTTP. */
  readonly showSetup?: boolean;
  /** Servers to offer besides those of the profile; the profile `gateway` offers nothing else. */
  readonly gateway?: GatewaySources & { readonly view?: string };
  /** Serves the clients that connect to a socket; for gateways. */
  readonly socket?: SocketOptions;
}

/** Serves a profile until the client disconnects (stdio) or the process is stopped. */
export async function serve(options: ServeOptions = {}): Promise<void> {
  const started = await readSettings(options);
  const { resolved } = started;
  const { settings } = resolved;
  const row = await rowOf(settings, options);
  if (row === undefined) {
    const { nearest } = await import('../../common/nearest.ts');
    const names = Object.keys(profiles);
    const meant = nearest(settings.profile, names);
    const hint = meant === undefined ? `choose one of ${names.join(', ')}` : `did you mean ${JSON.stringify(meant)}?`;
    const { offerFolder } = await import('./offer-folder.ts');
    const isFile = /\.[cm]?[jt]s$/.test(settings.profile);
    const own = isFile
      ? `\nTo run a server of your own, use "mooring dev ${settings.profile}" or "node ${settings.profile}"`
      : '';
    throw new UsageError(
      `Unknown profile ${JSON.stringify(settings.profile)}; ${hint}${own}${offerFolder(settings.profile)}`,
    );
  }
  checkFolders(resolved);
  const processLogger = createLogger({ name: 'mooring', ...logOptions(resolved) });
  const workers = settings.http?.enabled === true ? settings.http.workers : undefined;
  const worker =
    workers === undefined ? undefined : await (await import('../workers/worker.ts')).joinWorkers(processLogger);
  const logger = worker?.logger ?? processLogger;
  // Only once, not in every worker.
  if (worker === undefined) for (const note of [...resolved.notes, ...unusedFlags(resolved)]) logger.notice(note);
  if (workers !== undefined && worker === undefined) {
    const { serveWithWorkers } = await import('../workers/serve-workers.ts');
    const showSetup = options.showSetup === true;
    const { oneProcess } = row;
    const rejection = options.gateway === undefined ? { oneProcess } : gatewayInOneProcess;
    return serveWithWorkers({ ...rejection, workers, resolved, showSetup, logger });
  }
  const profile = await row.load();
  // The process of a connected worker would not end.
  await closeOnFailure(worker, () => serveProfile({ options, started, profile, worker, logger }));
}

const gatewayInOneProcess = {
  oneProcess: 'the servers behind the gateway belong to one process, so that each worker would start them again',
  instead:
    'Leave --workers out; to use several processes, start several gateways behind a load balancer, with the same MOORING_KEY ' +
    'and the same --store redis://…',
} as const;

/** The profile to serve; undefined if there is none of that name. */
async function rowOf(settings: Settings, { gateway }: ServeOptions): Promise<ProfileRow | undefined> {
  if (gateway === undefined || settings.profile !== gatewayProfile) {
    return Object.hasOwn(profiles, settings.profile) ? profiles[settings.profile] : undefined;
  }
  const { gatewayRow } = await import('../gateway/gateway-profile.ts');
  return gatewayRow(gateway, settings);
}

interface ProfileRun {
  readonly options: ServeOptions;
  readonly started: ReadSettings;
  readonly profile: Profile;
  readonly worker: WorkerProcess | undefined;
  readonly logger: StreamLogger;
}

async function serveProfile({ options, started, profile, worker, logger }: ProfileRun): Promise<void> {
  const { resolved } = started;
  const { settings } = resolved;
  const health = new HealthRegistry(knownFolders(resolved));
  const audit = await openAudit(resolved, logger);
  if (audit !== undefined) health.add('audit', () => auditHealth(audit));
  const { ready, pack } = await closeOnFailure(audit, async () => {
    const pack = await openState(resolved, worker, logger);
    return closeOnFailure(pack, async () => {
      const assembled = await profile.assemble({
        logger,
        version,
        settings,
        health,
        audit,
        persistentState: pack?.persistentState,
      });
      if (pack !== undefined) await assembled.server.use(pack);
      const ready = await closeOnFailure(assembled.server, () =>
        withGateway(assembled, options, { settings, audit, health, logger, persistentState: pack?.persistentState }),
      );
      return { ready, pack };
    });
  });
  if (hasTasks(ready.server)) health.add('tasks', () => taskHealth(ready.server));
  // On a failure from here on, packs must be closed, or the process would not end.
  await closeOnFailure(ready.server, async () => {
    if (ready.gateway === undefined) {
      if (settings.telemetry !== undefined) await ready.server.use(await telemetryOf(settings.telemetry));
      if (audit !== undefined) await ready.server.use(audit);
    }
    const authentication = await authenticationOf(settings, logger);
    if (authentication !== undefined) await warnOfUnreachableData(ready, authentication, logger);
    const policyGuard =
      ready.gateway === undefined
        ? await enforce(ready, started, authentication, pack)
        : await protectGateway(ready.gateway, started, authentication, audit);
    // Plugins may print while they load, and stdout belongs to the protocol on stdio.
    const unguard = settings.plugins.length === 0 ? undefined : guardStdout(printed(logger));
    await addPacks(ready, resolved, logger);
    const guard = await addPlugins(ready, resolved, health, logger);
    if (settings.http?.enabled !== true) {
      const principal = await principalOf(settings);
      await openConsoleBesideStdio(ready, resolved, audit, logger);
      if (options.socket !== undefined && ready.gateway !== undefined) {
        const { serveOverSocket } = await import('../gateway/shared/serve-socket.ts');
        return serveOverSocket({ ...options.socket, gateway: ready.gateway, principal, logger });
      }
      await ready.gateway?.control({ transport: 'stdio' });
      return serveOverStdio(resolved, ready, principal, logger, guard, unguard);
    }
    const { serveOverHttp } = await import('./serve-http.ts');
    const showSetup = options.showSetup === true;
    const { reload } = await import('../settings/reload.ts');
    const served = await serveOverHttp({
      ...{ profile: profile.name, ready, resolved, authentication, audit, logger, showSetup, worker },
      shared: pack?.http,
      async reload(served) {
        await ready.gateway?.reload();
        await reload({ asked: options, started, authentication, policyGuard, logger }, served);
      },
    });
    await ready.gateway?.control({ transport: 'http', url: served.url });
    guard();
  });
}

/** Adds the servers of `--gateway` to a profile. */
async function withGateway(
  assembled: AssembledServer,
  { gateway: input }: ServeOptions,
  options: Pick<HostOptions, 'settings' | 'audit' | 'health' | 'logger' | 'persistentState'>,
): Promise<AssembledServer> {
  if (input === undefined || assembled.gateway !== undefined) return assembled;
  const { filesOf, openGatewayHost } = await import('../gateway/gateway-profile.ts');
  const { server } = assembled;
  const gateway = await openGatewayHost({
    ...options,
    input,
    files: filesOf(input, options.settings.configFile),
    base: server,
  });
  await server.use({ name: 'gateway', install() {}, close: () => gateway.close() });
  return { ...assembled, gateway };
}

/** The same telemetry, audit log and policy for all servers of a gateway. */
async function protectGateway(
  gateway: GatewayHost,
  { resolved, policy }: ReadSettings,
  authentication: Authentication | undefined,
  audit: AuditLog | undefined,
): Promise<Pick<PolicyGuard, 'replace'> | undefined> {
  const { protection } = await import('../gateway/gateway-profile.ts');
  const { telemetry } = resolved.settings;
  const challenge = authentication?.oauth === undefined ? undefined : authentication.challenge;
  const { protect, policyGuard } = await protection({
    ...{ policy, audit, challenge },
    telemetry: telemetry === undefined ? undefined : () => telemetryOf(telemetry),
  });
  gateway.protect(protect);
  if (audit !== undefined) await gateway.server.use({ name: 'audit', install() {}, close: () => audit.close() });
  return policyGuard;
}

/** Nothing of the console is loaded without the setting. */
async function openConsoleBesideStdio(
  { server, gateway }: AssembledServer,
  resolved: ResolvedSettings,
  audit: AuditLog | undefined,
  logger: StreamLogger,
): Promise<void> {
  if (resolved.settings.console === undefined) return;
  const { consoleBesideStdio } = await import('../console/console.ts');
  await consoleBesideStdio(server, resolved, audit, logger, gateway?.upstreams);
}

/** Folders that error messages may contain; they are hidden from callers of health_check. */
function knownFolders({ settings, file }: ResolvedSettings): string[] {
  const { dataDir, roots, plugins } = settings;
  const sources = plugins.map(({ source }) => source).filter(isAbsolute);
  return [dataDir, ...roots, ...[...sources, ...(file === undefined ? [] : [file])].map((path) => dirname(path))];
}

async function telemetryOf(options: { readonly contents: boolean }) {
  const { telemetry } = await loadTelemetry();
  return telemetry(options);
}

/** Flags that have no effect because HTTP or the console is off. */
function unusedFlags({ settings, values }: ResolvedSettings): string[] {
  const flagsOf = (options: typeof settingOptions): string[] =>
    options
      .map(({ key }) => values.get(key)?.origin)
      .flatMap((origin) => (origin?.from === 'flag' ? (origin.where ?? []) : []));
  const http = settingOptions
    .filter(({ section, onStdio }) => (section === 'http' || section === 'auth') && onStdio !== true)
    // Gateways on a socket turn it off.
    .filter(({ key }) => key !== 'http.enabled');
  const idle: readonly (readonly [string, readonly string[]])[] = [
    ['--http', settings.http?.enabled === true ? [] : flagsOf(http)],
    [
      '--console',
      settings.console !== undefined ? [] : flagsOf(settingOptions.filter(({ section }) => section === 'console')),
    ],
  ];
  return idle.flatMap(([flag, flags]) =>
    flags.length === 0 ? [] : [`${flags.join(', ')}: no effect without ${flag}`],
  );
}

async function authenticationOf({ auth, http }: Settings, logger: Logger): Promise<LiveAuthentication | undefined> {
  if (auth === undefined || http?.enabled !== true) return undefined;
  const { createAuthentication } = await import('../auth/authentication.ts');
  const { LiveAuthentication } = await import('../auth/live-authentication.ts');
  const first = createAuthentication(auth, http, logger);
  if (first !== undefined) return new LiveAuthentication(first);
  throw new UsageError(`${auth.tokenFile}: the file has no tokens. "mooring token add NAME" creates one`);
}

/** Enforces the policy, if there is one. */
async function enforce(
  { server }: AssembledServer,
  { policy }: ReadSettings,
  authentication: Authentication | undefined,
  shared: PersistentStatePack | undefined,
): Promise<PolicyGuard | undefined> {
  if (policy === undefined) return undefined;
  const { enforcePolicy } = await import('../settings/policy.ts');
  const challenge = authentication?.oauth === undefined ? undefined : authentication.challenge;
  const guard = enforcePolicy(policy, {
    ...(challenge === undefined ? {} : { challenge }),
    ...(shared?.buckets === undefined ? {} : { buckets: shared.buckets }),
  });
  await server.use(guard);
  return guard;
}

/** Warns once at start-up about data that no token can access any more. */
async function warnOfUnreachableData(
  { data }: AssembledServer,
  { tokens }: Authentication,
  logger: StreamLogger,
): Promise<void> {
  if (data === undefined || tokens.length === 0) return;
  const { warnAboutPositions } = await import('../auth/literal-tokens.ts');
  // A data folder that cannot be opened is reported by the feature that needs it.
  await warnAboutPositions(data, tokens, logger).catch(() => {});
}

async function principalOf({ auth }: Settings): Promise<Principal | undefined> {
  if (auth?.tokenFile === undefined) return undefined;
  const { principalOfStdio } = await import('../auth/authentication.ts');
  return principalOfStdio(auth.tokenFile, process.env);
}

/** Runs `work`; if it fails, closes `held` before the error is passed on. */
async function closeOnFailure<T>(held: { close(): Promise<void> } | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The first error is the one to report.
    await held?.close().catch(() => {});
    throw error;
  }
}

/** Installs the plugins of the settings. The returned function keeps their uncaught errors from ending the process. */
async function addPlugins(
  { server }: AssembledServer,
  { settings, file }: ResolvedSettings,
  health: HealthRegistry,
  logger: StreamLogger,
): Promise<() => void> {
  if (settings.plugins.length === 0) return () => {};
  const { plugins } = await import('../plugins/plugins.ts');
  const from = [...(file === undefined ? [] : [dirname(file)]), import.meta.dirname];
  const pack = plugins({ settings, logger, health, from });
  await server.use(pack);
  return pack.guard;
}

/** Text that plugins print to stdout goes to the log. */
const printed =
  (logger: StreamLogger) =>
  (line: string): void =>
    logger.info(line, { printedTo: 'stdout' });

function logOptions({ logLevel, logJson }: ResolvedSettings): object {
  // An unknown level in the environment is left to the logger, which warns about it.
  return {
    ...(logLevel === undefined ? {} : { env: { ...process.env, MCP_LOG_LEVEL: logLevel } }),
    ...(logJson === undefined ? {} : { json: logJson }),
  };
}

async function serveOverStdio(
  resolved: ResolvedSettings,
  { server, stdio, gateway }: AssembledServer,
  principal: Principal | undefined,
  logger: StreamLogger,
  guard: () => void,
  unguard: (() => void) | undefined,
): Promise<void> {
  // The stdio transport installs its own guard of stdout.
  unguard?.();
  const connection = await serveStdio(server, {
    ...stdio,
    logger,
    ...(principal === undefined ? {} : { principal }),
    ...(gateway === undefined ? {} : { reload: () => void gateway.reload() }),
  });
  guard();
  let said = false;
  const say = (): void => {
    if (said) return;
    said = true;
    const { profile } = resolved.settings;
    logger.info('Server running', { profile, transport: 'stdio', version, ...taskFields(server, resolved) });
    if (process.stdin.isTTY === true) {
      logger.notice(
        'waiting for MCP messages on stdin. To try the server from a terminal, use --http, or: mooring tools <server>',
      );
    }
  };
  // Logged after the first requests are handled: the client waits for its first response, not for this line.
  setImmediate(say);
  await connection.closed;
  say();
}
