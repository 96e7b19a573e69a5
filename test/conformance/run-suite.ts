// Runs the official conformance package in a process of its own and reads its outcomes from the checks.json files it writes.
// What counts as passing is decided in outcome.ts; starting the server under test is the caller's business.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suiteProgram } from './suite-program.ts';

export type SpecVersion = '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28';

/** One check of the suite; several checks of a scenario may share an id. */
export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly description?: string;
  readonly errorMessage?: string;
  readonly details?: unknown;
}

/** Every scenario that was started, with its checks; one that crashed carries a FAILURE that says so. */
export interface SuiteRun {
  readonly scenarios: ReadonlyMap<string, readonly Check[]>;
  /** What the suite printed, for a human who must find out more. */
  readonly output: string;
}

interface RunOptions {
  /** Selects scenarios and the schema that validates every message. */
  readonly specVersion?: SpecVersion;
  /** Runs scenarios that the suite has for no version of the specification: those of extensions. */
  readonly force?: boolean;
  /** Runs these scenarios only, each in its own process; otherwise the suite runs as one process. */
  readonly scenarios?: readonly string[];
  /** How many of those processes run side by side. Default: one, so that nothing disturbs it. */
  readonly atOnce?: number;
  /** A scenario that takes longer fails; the suite itself enforces it. */
  readonly scenarioTimeoutMs?: number;
  /** The whole process is ended after this long, so that a hanging suite cannot hang the tests. */
  readonly timeLimitMs?: number;
}

export interface ServerSuiteOptions extends RunOptions {
  readonly url: string;
  readonly suite?: 'active' | 'all' | 'draft' | 'pending';
}

export interface ClientSuiteOptions extends RunOptions {
  /** Split on single spaces and run through a shell; the URL of the mock server is appended. */
  readonly command: string;
  readonly suite?: 'all' | 'core' | 'extensions' | 'backcompat' | 'auth' | 'metadata' | 'draft';
}

/** Checks the server behind a Streamable HTTP URL. */
export function runServerSuite(options: ServerSuiteOptions): Promise<SuiteRun> {
  return runSuite('server', ['--url', options.url], options.suite ?? 'all', options);
}

/** Checks a client program; the suite starts it once per scenario, with the scenario's name in the environment. */
export function runClientSuite(options: ClientSuiteOptions): Promise<SuiteRun> {
  return runSuite('client', ['--command', options.command], options.suite ?? 'all', options);
}

async function runSuite(side: Side, target: string[], suite: string, options: RunOptions): Promise<SuiteRun> {
  const shared = [...target];
  if (options.specVersion) shared.push('--spec-version', options.specVersion);
  if (options.force) shared.push('--force');
  if (options.scenarioTimeoutMs) shared.push('--timeout', String(options.scenarioTimeoutMs));
  const timeLimitMs = options.timeLimitMs ?? 280_000;

  if (!options.scenarios) return runProcess(side, [...shared, '--suite', suite], timeLimitMs);

  const runs: SuiteRun[] = [];
  const waiting = [...options.scenarios];
  const work = async (): Promise<void> => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
      runs.push(await runProcess(side, [...shared, '--scenario', scenario], timeLimitMs, scenario));
    }
  };
  await Promise.all(Array.from({ length: options.atOnce ?? 1 }, work));
  return {
    scenarios: new Map(runs.flatMap((run) => [...run.scenarios])),
    output: runs.map((run) => run.output).join('\n'),
  };
}

type Side = 'server' | 'client';

async function runProcess(side: Side, args: string[], timeLimitMs: number, only?: string): Promise<SuiteRun> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const child = spawn(process.execPath, [await suiteProgram(), side, ...args, '-o', folder], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { output, ended } = await collect(child, timeLimitMs);
    const scenarios = await readChecks(folder, side);
    for (const name of only ? [only] : startedScenarios(output)) {
      if (!scenarios.has(name)) scenarios.set(name, [crashed(name, output, ended)]);
    }
    if (scenarios.size === 0) throw new Error(`The conformance suite ran no scenario (${ended}):\n${output}`);
    return { scenarios, output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function collect(child: ChildProcess, timeLimitMs: number): Promise<{ output: string; ended: string }> {
  let output = '';
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, timeLimitMs);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const code = await new Promise<number | null>((done, failed) => child.once('close', done).once('error', failed));
  clearTimeout(timer);
  return { output, ended: timedOut ? `ended after ${timeLimitMs} ms` : `exit code ${code}` };
}

// A folder is named [server-]<scenario>-<time>; client scenarios may contain a slash and so lie one level deeper.
async function readChecks(folder: string, side: Side): Promise<Map<string, readonly Check[]>> {
  const scenarios = new Map<string, readonly Check[]>();
  for (const file of await readdir(folder, { recursive: true })) {
    if (!file.endsWith('checks.json')) continue;
    const name = dirname(file).replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
    const checks = JSON.parse(await readFile(join(folder, file), 'utf8')) as Check[];
    scenarios.set(side === 'server' ? name.replace(/^server-/, '') : name, checks);
  }
  return scenarios;
}

// A scenario that throws leaves no file, so the names come from what the suite announced.
function startedScenarios(output: string): string[] {
  return [...output.matchAll(/^(?:=== Running scenario: (\S+) ===|Starting scenario: (\S+))$/gm)].map(
    (match) => (match[1] ?? match[2]) as string,
  );
}

function crashed(scenario: string, output: string, ended: string): Check {
  const said = output.indexOf(`Failed to run scenario ${scenario}:`);
  const reason = said >= 0 ? output.slice(said, said + 2000) : output.slice(-2000);
  return { id: 'scenario-crashed', status: 'FAILURE', errorMessage: `left no result (${ended}): ${reason.trim()}` };
}
