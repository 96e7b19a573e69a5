// What works on this machine, by trying it. One row per check; the sandbox reports its own layers.

import { accessSync, constants, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { auditLocation } from '../config/folders.ts';
import { ownershipProblem } from '../config/ownership.ts';
import type { ResolvedSettings } from '../config/resolve.ts';
import type { HttpSettings } from '../settings/settings.ts';
import { keepsTasks } from '../state/task-store.ts';
import { checkConfiguredRedis } from './check-redis.ts';
import type { DoctorFinding, FindingId } from './findings.ts';

type CheckOutcome = Pick<DoctorFinding, 'severity' | 'detail' | 'remedy'>;

interface DoctorCheck {
  readonly id: FindingId;
  readonly group: string;
  readonly name: string;
  /** `failed`: the checks before it that found an error. */
  run(resolved: ResolvedSettings, failed: ReadonlySet<FindingId>): Promise<CheckOutcome>;
}

const ok = (detail: string): CheckOutcome => ({ severity: 'ok', detail, remedy: '' });
/** The server works, but some features are not offered. */
const missing = (detail: string, remedy: string): CheckOutcome => ({ severity: 'warning', detail, remedy });
const broken = (detail: string, remedy: string): CheckOutcome => ({ severity: 'error', detail, remedy });

const doctorChecks: readonly DoctorCheck[] = [
  { id: 'node-version', group: 'Program', name: 'Node.js', run: async () => checkNode() },
  { id: 'settings', group: 'Program', name: 'settings', run: async (resolved) => checkSettings(resolved) },
  { id: 'plugins', group: 'Program', name: 'plugins', run: checkPlugins },
  {
    id: 'data-folder',
    group: 'Data',
    name: 'data folder',
    run: async ({ settings }) => checkFolder(settings.dataDir),
  },
  { id: 'temporary-folder', group: 'Data', name: 'temporary folder', run: async () => checkTemporaryFolder() },
  { id: 'sqlite', group: 'Data', name: 'SQLite', run: async (_resolved, failed) => checkSqlite(failed) },
  { id: 'redis', group: 'Data', name: 'Redis', run: checkConfiguredRedis },
  { id: 'tasks', group: 'Data', name: 'tasks', run: async (...given) => checkTasks(...given) },
  { id: 'audit-log', group: 'Data', name: 'audit log', run: checkAudit },
  { id: 'clipboard', group: 'Machine', name: 'clipboard', run: async () => checkClipboard() },
  { id: 'session-bus', group: 'Machine', name: 'session bus', run: async () => checkBus('session') },
  { id: 'system-bus', group: 'Machine', name: 'system bus', run: async () => checkBus('system') },
  { id: 'http-port', group: 'Machine', name: 'HTTP port', run: checkPort },
];

/** Runs all checks in order. A check that throws is reported as broken. */
export async function* checkMachine(resolved: ResolvedSettings, withSandbox = true): AsyncGenerator<DoctorFinding> {
  const failed = new Set<FindingId>();
  for (const { id, group, name, run } of doctorChecks) {
    const outcome = await run(resolved, failed).catch((error: unknown) => broken((error as Error).message, ''));
    if (outcome.severity === 'error') failed.add(id);
    yield { id, group, name, ...outcome };
  }
  if (withSandbox) yield* checkSandbox(failed);
}

/** For a check that creates files there. */
const noTemporaryFolder = missing(
  'not checked: it needs the folder for temporary files',
  'Fix what is reported for that folder first.',
);

async function* checkSandbox(failed: ReadonlySet<FindingId>): AsyncGenerator<DoctorFinding> {
  const group = 'Sandbox';
  if (process.platform !== 'linux') {
    const remedy = 'Commands and workers need Linux. Everything else works here.';
    yield { id: 'sandbox', group, name: 'kernel level', ...missing('only on Linux', remedy) };
    return;
  }
  if (failed.has('temporary-folder')) {
    yield { id: 'sandbox', group, name: 'kernel level', ...noTemporaryFolder };
    return;
  }
  const { probeSandbox } = await import('../../security/sandbox/index.ts');
  for (const { layer, holds, detail, remedy } of await probeSandbox()) {
    yield {
      id: 'sandbox',
      group,
      name: layer,
      ...(holds ? ok(detail) : missing(detail, remedy)),
    };
  }
}

function checkNode(): CheckOutcome {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const detail = `${process.version}, ${process.platform} ${process.arch}`;
  return major > 20 || (major === 20 && minor >= 19) ? ok(detail) : broken(detail, 'Install Node.js 20.19 or newer.');
}

function checkSettings({ file, notes }: ResolvedSettings): CheckOutcome {
  if (file !== undefined) return ok(file);
  return ok(notes[0] ?? 'defaults; no configuration file');
}

async function checkPlugins({ settings, file }: ResolvedSettings): Promise<CheckOutcome> {
  if (settings.plugins.length === 0) return ok('none');
  const { findPlugin, readManifest } = await import('../plugins/manifest.ts');
  const { missingGrants } = await import('../plugins/capabilities.ts');
  const from = [...(file === undefined ? [] : [dirname(file)]), import.meta.dirname];
  const wrong: string[] = [];
  const names: string[] = [];
  for (const { source, grant = [] } of settings.plugins) {
    try {
      const { name, version, needs } = await readManifest(findPlugin(source, from));
      const lacking = missingGrants(needs, grant);
      if (lacking.length > 0) wrong.push(`${name} needs a grant for ${lacking.join(', ')}`);
      else names.push(`${name} ${version}`);
    } catch (error) {
      wrong.push(`${source}: ${(error as Error).message}`);
    }
  }
  return wrong.length === 0
    ? ok(names.join(', '))
    : broken(wrong.join('; '), 'Correct "plugins" in the configuration.');
}

function checkFolder(folder: string): CheckOutcome {
  if (!existsSync(folder)) {
    let above = dirname(folder);
    while (!existsSync(above)) above = dirname(above);
    return statSync(above).isDirectory() && writable(above)
      ? ok(`${folder} (created on first use)`)
      : broken(`${folder} cannot be created`, 'Choose another folder with --data DIR.');
  }
  if (!statSync(folder).isDirectory())
    return broken(`${folder} is not a folder`, 'Choose another folder with --data DIR.');
  const problem = ownershipProblem(folder);
  if (problem !== undefined) return broken(`${folder}: ${problem}`, '');
  return writable(folder) ? ok(folder) : broken(`${folder} is not writable`, 'Choose another folder with --data DIR.');
}

function writable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function checkTemporaryFolder(): CheckOutcome {
  const folder = tmpdir();
  try {
    rmSync(mkdtempSync(join(folder, 'mooring-doctor-')), { recursive: true });
    return ok(folder);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    return broken(`${folder}: ${code}`, 'Set TMPDIR to a folder that exists and that you may write.');
  }
}

async function checkSqlite(failed: ReadonlySet<FindingId>): Promise<CheckOutcome> {
  if (failed.has('temporary-folder')) return noTemporaryFolder;
  const { openDataFolder } = await import('../../stores/sqlite/index.ts');
  const folder = mkdtempSync(join(tmpdir(), 'mooring-doctor-'));
  try {
    const store = await openDataFolder(folder);
    await store.close();
    return ok(process.getBuiltinModule?.('node:sqlite') === undefined ? '@photostructure/sqlite' : 'node:sqlite');
  } catch (error) {
    return broken((error as Error).message, 'Notes and counters need SQLite. Node.js 22.13 or newer has it built in.');
  } finally {
    removeIfPossible(folder);
  }
}

function removeIfPossible(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // Windows removes no open file, and the SQLite for Node.js 20 keeps that of a closed database open.
  }
}

function checkTasks(resolved: ResolvedSettings, failed: ReadonlySet<FindingId>): CheckOutcome {
  const { dataDir, http, redis } = resolved.settings;
  if (redis !== undefined && failed.has('redis')) {
    return missing('not checked: they are in Redis, which cannot be used', 'Fix what is reported for Redis first.');
  }
  if (redis !== undefined) return ok('in Redis, encrypted');
  if (!keepsTasks(resolved)) return ok('only in memory: they end with the server. --data DIR keeps them');
  return ok(http?.key === undefined ? `in ${dataDir}` : `in ${dataDir}, encrypted`);
}

async function checkAudit({ settings }: ResolvedSettings): Promise<CheckOutcome> {
  if (settings.audit === undefined) return ok('disabled');
  const { directory, name } = auditLocation(settings.audit.file);
  if (!existsSync(directory)) return ok('empty');
  const { verifyAudit } = await import('../../security/audit/index.ts');
  const verifications = await verifyAudit(directory, name);
  const wrong = verifications.find((each) => !each.ok);
  if (wrong?.broken !== undefined) {
    const { file, line, why } = wrong.broken;
    return broken(`${file}:${line}: ${why}`, 'The file was changed after it was written. Keep it as evidence.');
  }
  const lines = verifications.reduce((sum, each) => sum + each.lines, 0);
  return ok(lines === 0 ? 'empty' : `${lines} lines, chain intact`);
}

async function checkClipboard(): Promise<CheckOutcome> {
  const { ClipboardError, pickBackend } = await import('../../packs/clipboard/index.ts');
  try {
    const backend = await pickBackend('auto');
    await backend.read(AbortSignal.timeout(3_000), 64 * 1024 * 1024);
    return ok(backend.name);
  } catch (error) {
    if (error instanceof ClipboardError) return missing(error.reason, error.remedy ?? '');
    return broken((error as Error).message, '');
  }
}

async function checkBus(bus: 'session' | 'system'): Promise<CheckOutcome> {
  if (process.platform !== 'linux') return missing('only on Linux', '');
  const { busAddress, socketPaths } = await import('../../packs/dbus/address.ts');
  const { BusConnection } = await import('../../packs/dbus/connection.ts');
  const address = busAddress(bus);
  for (const path of socketPaths(address)) {
    try {
      const connection = await BusConnection.open(path, { timeoutMs: 2_000 });
      connection.close();
      return ok(path.replace('\0', '@'));
    } catch {
      // The next address may work; if none does, the bus is reported as missing.
    }
  }
  return missing(`no response at ${address}`, 'Start dbus-daemon to get dbus:// resources.');
}

async function checkPort({ settings, values }: ResolvedSettings): Promise<CheckOutcome> {
  const { host, port, path, enabled } = settings.http as HttpSettings;
  const problem = await listenProblem(host, port);
  if (problem === undefined) return ok(`http://${host}:${port}${path} is free`);
  // The default port matters only if HTTP is used.
  const wanted = enabled || values.get('http.port')?.origin.from !== 'default';
  return (wanted ? broken : missing)(problem, 'Choose another with --port N, or stop the process that uses it.');
}

function listenProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'EADDRINUSE' ? `${host}:${port} is in use` : `${host}:${port}: ${error.message}`),
    );
    probe.listen(port, host, () => probe.close(() => resolve(undefined)));
  });
}
