// Puts a profile together and connects it to a transport, for a process of its own.

import type { Principal } from '../protocol/principal.ts';
import { createLogger, type StreamLogger } from '../transports/logger.ts';
import { serveStdio } from '../transports/stdio.ts';
import { guardStdout } from '../transports/stdout-guard.ts';
import type { Authentication } from './authentication.ts';
import type { Asked, Settled } from './config/settle.ts';
import { openAudit } from './guard.ts';
import { HealthRegistry } from './health.ts';
import type { LiveAuthentication } from './live-authentication.ts';
import { Mistake } from './mistake.ts';
import { dirname, isAbsolute } from './node-modules.ts';
import { checkPlaces } from './places.ts';
import type { PolicyGuard } from './policy.ts';
import { profiles, type Ready } from './profiles/index.ts';
import { type ReadSettings, readSettings } from './read-settings.ts';
import type { Settings } from './settings.ts';
import { version } from './version.ts';

export interface ServeOptions extends Omit<Asked, 'defaultProfile'> {
  /** Prints what to paste into clients once HTTP is served. */
  readonly showSetup?: boolean;
}

/** Serves a profile until the client is gone or the process is told to stop. */
export async function serve(options: ServeOptions = {}): Promise<void> {
  const started = await readSettings(options);
  const { settled } = started;
  const { settings } = settled;
  const row = Object.hasOwn(profiles, settings.profile) ? profiles[settings.profile] : undefined;
  if (row === undefined) {
    const { nearest } = await import('./text/nearest.ts');
    const names = Object.keys(profiles);
    const meant = nearest(settings.profile, names);
    const hint = meant === undefined ? `one of ${names.join(', ')}` : `did you mean ${JSON.stringify(meant)}?`;
    throw new Mistake(`Unknown profile ${JSON.stringify(settings.profile)}; ${hint}`);
  }
  checkPlaces(settled);
  const logger = createLogger({ name: 'mooring', ...logOptions(settled) });
  for (const note of [...settled.notes, ...idleFlags(settled)]) logger.notice(note);
  const profile = await row.load();
  const health = new HealthRegistry(knownFolders(settled));
  const audit = await openAudit(settled, logger);
  const ready = await letGo(audit, async () => {
    const pack = await lastingOf(settings, logger);
    return letGo(pack, async () => {
      const assembled = await profile.assemble({ logger, version, settings, health, audit, lasting: pack?.lasting });
      if (pack !== undefined) await assembled.server.use(pack);
      return assembled;
    });
  });
  // What fails from here on must not leave packs running, or the process would not end.
  await letGo(ready.server, async () => {
    if (audit !== undefined) await ready.server.use(audit);
    const authentication = await authenticationOf(settings);
    if (authentication !== undefined) await tellOfData(ready, authentication, logger);
    const policyGuard = await enforce(ready, started, authentication);
    // Stdout may be the protocol's, and plugins print while they load. Over HTTP nothing else ever writes there.
    const unguard = settings.plugins.length === 0 ? undefined : guardStdout(printed(logger));
    const guard = await addPlugins(ready, settled, health, logger);
    if (settings.http?.enabled !== true) {
      const principal = await principalOf(settings);
      return serveOverStdio(profile.name, ready, principal, logger, guard, unguard);
    }
    const { serveOverHttp } = await import('./serve-http.ts');
    const showSetup = options.showSetup === true;
    const { reload } = await import('./reload.ts');
    await serveOverHttp({
      ...{ profile: profile.name, ready, settled, authentication, audit, logger, showSetup },
      reload: (revoke) => reload({ asked: options, started, authentication, policyGuard, logger }, revoke),
    });
    guard();
  });
}

/** Places that error messages may name; callers of health_check do not see them. */
function knownFolders({ settings, file }: Settled): string[] {
  const { dataDir, roots, plugins } = settings;
  const sources = plugins.map(({ source }) => source).filter(isAbsolute);
  return [dataDir, ...roots, ...[...sources, ...(file === undefined ? [] : [file])].map((path) => dirname(path))];
}

/** Flags that are for HTTP, given where it is not served: they would be missed later. A token file is for pipes too. */
function idleFlags({ settings, values }: Settled): string[] {
  if (settings.http?.enabled === true) return [];
  const idle = [...values].flatMap(([key, { origin }]) =>
    origin.from === 'flag' && /^(http|auth)\./.test(key) && key !== 'auth.tokenFile' ? (origin.where ?? []) : [],
  );
  return idle.length === 0 ? [] : [`${idle.join(', ')}: of no effect without --http`];
}

async function lastingOf({ http, dataDir, profile }: Settings, logger: StreamLogger) {
  const { key, previousKeys = [] } = http ?? {};
  if (key === undefined) {
    if (previousKeys.length === 0) return undefined;
    throw new Mistake('http.previousKeys (MOORING_KEY_PREVIOUS) needs a key that took their place: set MOORING_KEY');
  }
  const { openLasting } = await import('./lasting.ts');
  return openLasting({ key, previousKeys, profile, folder: dataDir }, logger);
}

async function authenticationOf({ auth, http }: Settings): Promise<LiveAuthentication | undefined> {
  if (auth === undefined || http?.enabled !== true) return undefined;
  const { createAuthentication } = await import('./authentication.ts');
  const { LiveAuthentication } = await import('./live-authentication.ts');
  const first = createAuthentication(auth, http);
  if (first !== undefined) return new LiveAuthentication(first);
  throw new Mistake(`${auth.tokenFile}: there are no tokens in it; "mooring token add NAME" makes one`);
}

/** Puts the policy in force, where there is one. */
async function enforce(
  { server }: Ready,
  { policy }: ReadSettings,
  authentication: Authentication | undefined,
): Promise<PolicyGuard | undefined> {
  if (policy === undefined) return undefined;
  const { enforcePolicy } = await import('./policy.ts');
  const challenge = authentication?.oauth === undefined ? undefined : authentication.challenge;
  const guard = enforcePolicy(policy, challenge === undefined ? {} : { challenge });
  await server.use(guard);
  return guard;
}

/** Data that no token opens any more is told once, at the start. */
async function tellOfData({ data }: Ready, { tokens }: Authentication, logger: StreamLogger): Promise<void> {
  if (data === undefined || tokens.length === 0) return;
  const { tellOfPositions } = await import('./literal-tokens.ts');
  // A data folder that can not be opened is told by whatever needs it.
  await tellOfPositions(data, tokens, logger).catch(() => {});
}

async function principalOf({ auth }: Settings): Promise<Principal | undefined> {
  if (auth?.tokenFile === undefined) return undefined;
  const { principalOfPipe } = await import('./authentication.ts');
  return principalOfPipe(auth.tokenFile, process.env);
}

/** Does the work; when it fails, what is held is closed before the failure is passed on. */
async function letGo<T>(held: { close(): Promise<void> } | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The first failure is the one to tell.
    await held?.close().catch(() => {});
    throw error;
  }
}

/** Installs the plugins of the configuration; the result keeps their stray errors from ending the process. */
async function addPlugins(
  { server }: Ready,
  { settings, file }: Settled,
  health: HealthRegistry,
  logger: StreamLogger,
): Promise<() => void> {
  if (settings.plugins.length === 0) return () => {};
  const { plugins } = await import('./plugins/plugins.ts');
  const from = [...(file === undefined ? [] : [dirname(file)]), import.meta.dirname];
  const pack = plugins({ settings, logger, health, from });
  await server.use(pack);
  return pack.guard;
}

/** What other code prints is logged, as the transport on stdio does it. */
const printed =
  (logger: StreamLogger) =>
  (line: string): void =>
    logger.info(line, { printedTo: 'stdout' });

function logOptions({ logLevel, logJson }: Settled): object {
  // An unknown level of the environment is left to the logger, which says so and goes on.
  return {
    ...(logLevel === undefined ? {} : { env: { ...process.env, MCP_LOG_LEVEL: logLevel } }),
    ...(logJson === undefined ? {} : { json: logJson }),
  };
}

async function serveOverStdio(
  profile: string,
  { server, stdio }: Ready,
  principal: Principal | undefined,
  logger: StreamLogger,
  guard: () => void,
  unguard: (() => void) | undefined,
): Promise<void> {
  // The transport takes hold of stdout and puts up a guard of its own before it returns.
  unguard?.();
  const connection = await serveStdio(server, { ...stdio, logger, ...(principal === undefined ? {} : { principal }) });
  guard();
  let said = false;
  const say = (): void => {
    if (said) return;
    said = true;
    logger.info('Server running', { profile, transport: 'stdio', version });
    if (process.stdin.isTTY === true) {
      logger.notice('this speaks MCP on stdin and stdout, for programs; people use --http, or: mooring tools <server>');
    }
  };
  // A client waits for its first answer, nobody for this line: what is in the pipe already goes first.
  setImmediate(say);
  await connection.closed;
  say();
}
