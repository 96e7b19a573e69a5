// Diagnoses what the user names: a URL, a command, a configuration file, a client, or every configured server.

import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { extname, resolve } from 'node:path';
import type { ConnectOptions, ServerEntry } from '../../client/index.ts';
import { nearest } from '../../common/nearest.ts';
import { clientAliases, clients } from '../clients/clients.ts';
import { type ClientConfigFile, clientFiles } from '../clients/configured.ts';
import { shortened } from '../config/folders.ts';
import { profiles } from '../profiles/index.ts';
import { isProgram, readServers } from '../targets.ts';
import { UsageError } from '../usage-error.ts';
import { checkCommand } from './check-command.ts';
import { type CheckedServer, checkConfig } from './check-config.ts';
import { checkConnection, type ServerCheckOptions } from './check-server.ts';
import { checkUrl } from './check-url.ts';
import { type DoctorFinding, findingKinds, type Report, toFinding } from './findings.ts';

export interface DiagnoseOptions extends ServerCheckOptions {
  /** `--config`: a file with names of servers. */
  readonly configFile?: string | undefined;
  /** Sent to URLs that were named directly, not to those of a file. */
  readonly headers: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

/** A piece of work that reports about one server or file. */
interface Subject {
  readonly group: string;
  readonly name: string;
  reports(): Promise<readonly Report[]>;
}

/** Servers that are checked at the same time: more would slow each other down and seem slow to start. */
const maxParallel = 4;

/** Servers of a file that are started. A file with thousands, such as a generated one, would take hours if none of them responds. */
const maxStarted = 100;

/** Diagnoses targets. `words`: a URL, a command line, a file, a client, a profile or a name in the configuration. */
export async function* diagnose(words: readonly string[], options: DiagnoseOptions): AsyncGenerator<DoctorFinding> {
  const subjects: Subject[] = [];
  for (const word of words) subjects.push(...(await subjectsOf(word, options)));
  yield* run(subjects);
}

/** Diagnoses a command that is given as separate words. */
export async function* diagnoseCommand(
  argv: readonly string[],
  options: DiagnoseOptions,
): AsyncGenerator<DoctorFinding> {
  const [command = '', ...args] = argv;
  yield* run([commandSubject(argv.join(' '), { command, args, env: options.env }, options)]);
}

/** Diagnoses every server in the configuration files of the clients on this machine. */
export async function* diagnoseAll(options: DiagnoseOptions): AsyncGenerator<DoctorFinding> {
  const subjects: Subject[] = [];
  for (const file of clientFiles()) subjects.push(...(await fileSubjects(file.file, file, options)));
  yield* run(subjects);
}

async function subjectsOf(word: string, options: DiagnoseOptions): Promise<Subject[]> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word) || isHostAndPort(word)) {
    return [urlSubject(word, { url: word, headers: options.headers }, options)];
  }
  if (isConfigFile(word)) return fileSubjects(resolve(word.replace(/^~(?=[/\\])/, homedir())), undefined, options);
  const { file, servers } = await readServers(options.configFile);
  if (file !== undefined && Object.hasOwn(servers, word)) {
    const checked = (await checkConfig(file)).servers.filter(({ name }) => name === word);
    return checked.map((each) => writtenSubject(word, each, options));
  }
  const client = clientAliases[word.toLowerCase()] ?? word.toLowerCase();
  if (Object.hasOwn(clients, client)) {
    const files = clientFiles().filter((each) => each.client === client);
    if (files.length === 0) throw new UsageError(`${clients[client]?.title} has no configuration file on this machine`);
    return (await Promise.all(files.map((file) => fileSubjects(file.file, file, options)))).flat();
  }
  if (Object.hasOwn(profiles, word)) {
    const entry = {
      command: process.execPath,
      args: [resolve(process.argv[1] ?? ''), 'serve', word],
      env: options.env,
    };
    return [commandSubject(word, entry, options, { inheritEnv: true })];
  }
  if (/^[\w-]+$/.test(word) && !isProgram(word)) {
    const meant = nearest(word, [...Object.keys(servers), ...Object.keys(clients), ...Object.keys(profiles)]);
    if (meant !== undefined) {
      throw new UsageError(`Unknown target ${JSON.stringify(word)}; did you mean ${JSON.stringify(meant)}?`);
    }
  }
  const [command = '', ...args] = [...word.matchAll(/"([^"]*)"|'([^']*)'|\S+/g)].map(
    (each) => each[1] ?? each[2] ?? each[0],
  );
  return [commandSubject(word, { command, args, env: options.env }, options)];
}

const isHostAndPort = (word: string): boolean => /^(localhost|[\w-]+(\.[\w-]+)+):\d+(\/\S*)?$/i.test(word);

function isConfigFile(word: string): boolean {
  if (/\s/.test(word) && !existsSync(word)) return false;
  if (!['.json', '.jsonc', '.toml'].includes(extname(word).toLowerCase())) return false;
  return statSync(word, { throwIfNoEntry: false })?.isDirectory() !== true;
}

async function fileSubjects(
  file: string,
  known: ClientConfigFile | undefined,
  options: DiagnoseOptions,
): Promise<Subject[]> {
  const { reports, servers } = await checkConfig(file);
  const group = `${known === undefined ? '' : `${known.title}: `}${shortened(file)}`;
  const startable = servers.filter((server) => server.startable);
  const notStarted = new Set(startable.slice(maxStarted));
  const tooMany: Report = {
    id: 'servers-not-started',
    detail: `Only the first ${maxStarted} of ${startable.length} servers are started; of the others, only the entries are checked`,
    remedy: `Check another one with: mooring doctor NAME --config ${shortened(file)}`,
  };
  return [
    ...[...reports, ...(notStarted.size === 0 ? [] : [tooMany])].map((report) => ({
      group,
      name: 'file',
      reports: async () => [report],
    })),
    ...servers.map((server) =>
      writtenSubject(group, notStarted.has(server) ? { ...server, startable: false } : server, options),
    ),
  ];
}

/** A server of a configuration: what is wrong with its entry, and if it can be started, with the server. */
function writtenSubject(group: string, checked: CheckedServer, options: DiagnoseOptions): Subject {
  const { name, entry, reports: written, startable } = checked;
  if (!startable) return { group, name, reports: async () => written };
  const { reports } = entrySubject(group, name, entry, options);
  return { group, name, reports: async () => [...written, ...(await reports())] };
}

function entrySubject(group: string, name: string, entry: ServerEntry, options: DiagnoseOptions): Subject {
  const { command, url, headers = {} } = entry;
  const subject =
    command === undefined
      ? urlSubject(group, { ...entry, url: url ?? '', headers }, options)
      : commandSubject(group, { ...entry, command }, options, {}, true);
  return { ...subject, name };
}

function urlSubject(group: string, entry: ServerEntry & { readonly url: string }, options: DiagnoseOptions): Subject {
  const { url, headers = {}, type } = entry;
  return { group, name: 'server', reports: () => checkUrl({ url, headers, type }, options) };
}

function commandSubject(
  group: string,
  entry: ServerEntry & { readonly command: string },
  options: DiagnoseOptions,
  further: ConnectOptions = {},
  configured = false,
): Subject {
  const { command, args = [], env = {}, cwd } = entry;
  const reports = async (): Promise<Report[]> => {
    const before = checkCommand({ command, args, env, cwd, configured });
    if (before.some(({ id }) => findingKinds[id].severity === 'error')) return before;
    const target = { command, args, env, ...(cwd === undefined ? {} : { cwd }) };
    return [...before, ...(await checkConnection(target, options, further)).reports];
  };
  return { group, name: 'server', reports };
}

/** Runs in parallel, and yields in order. */
async function* run(subjects: readonly Subject[]): AsyncGenerator<DoctorFinding> {
  const results: Promise<readonly Report[]>[] = [];
  let next = 0;
  const start = (): void => {
    const subject = subjects[next++];
    if (subject === undefined) return;
    const result = subject
      .reports()
      .catch((error: Error): Report[] => [{ id: 'connection-failed', detail: error.message, remedy: '' }]);
    results.push(result);
    void result.then(start);
  };
  for (let i = 0; i < maxParallel; i++) start();
  for (const [i, { group, name }] of subjects.entries()) {
    while (results[i] === undefined) await Promise.race(results);
    for (const report of await (results[i] as Promise<readonly Report[]>)) yield toFinding(group, name, report);
  }
}
