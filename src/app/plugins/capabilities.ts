// The capabilities that plugins can be granted, and the service behind each one. Services are loaded when granted.

import { join } from 'node:path';
import type { Logger } from '../../common/logger.ts';
import { makeFolder } from '../make-folder.ts';
import type { Settings } from '../settings/settings.ts';
import { ownFilesOf } from '../state/own-files.ts';
import type { PluginHost } from './contract.ts';

/** `network`, `network:api.example.org`, `files`, `data`, `command:git`, `env:API_KEY`. */
const capabilityPattern =
  '^(network(:(\\*\\.)?[A-Za-z0-9.-]+)?|files|data|command:[A-Za-z0-9._+-]+|env:[A-Za-z_][A-Za-z0-9_]*)$';

/** The needs that are not granted. `network` covers all hosts; `network:HOST` covers that host only. */
export function missingGrants(needs: readonly string[], grants: readonly string[]): string[] {
  const granted = new Set(grants);
  return needs.filter((need) => !granted.has(need) && !(need.startsWith('network:') && granted.has('network')));
}

/** How capabilities are written, for messages. */
export const capabilityForms = 'network, network:HOST, files, data, command:PROGRAM, env:NAME';

/** Grants that are not known capabilities, most likely mistyped. */
export function unknownGrants(grants: readonly string[]): string[] {
  const pattern = new RegExp(capabilityPattern);
  return grants.filter((grant) => !pattern.test(grant));
}

/** A host with the granted services, and a function that closes them. */
export async function openHost(
  name: string,
  grants: readonly string[],
  config: unknown,
  settings: Settings,
  logger: Logger,
): Promise<{ readonly host: PluginHost; readonly close: () => Promise<void> }> {
  const ended = new AbortController();
  const named = (kind: string): string[] =>
    grants.filter((grant) => grant.startsWith(`${kind}:`)).map((grant) => grant.slice(kind.length + 1));
  const hosts = named('network');
  const programs = named('command');
  const commands = programs.length === 0 ? undefined : await openSandbox(programs, settings);
  const host: PluginHost = {
    config,
    logger,
    signal: ended.signal,
    env: Object.fromEntries(named('env').flatMap((each) => entry(each, process.env[each]))),
    ...(grants.includes('network') || hosts.length > 0
      ? { fetch: await openFetch(grants.includes('network') ? undefined : hosts, settings) }
      : {}),
    ...(grants.includes('files') ? { files: await openFiles(settings) } : {}),
    ...(grants.includes('data') ? { dataDir: openData(name, settings) } : {}),
    ...(commands === undefined ? {} : { commands }),
  };
  const close = async (): Promise<void> => {
    ended.abort(new Error('the plugin is being unloaded'));
    await commands?.close();
  };
  return { host, close };
}

function entry(name: string, value: string | undefined): [string, string][] {
  return value === undefined ? [] : [[name, value]];
}

async function openFetch(
  hosts: readonly string[] | undefined,
  { network }: Settings,
): Promise<NonNullable<PluginHost['fetch']>> {
  const { createFetcher } = await import('../../security/network/fetcher.ts');
  const { toWebFetch } = await import('../../security/network/web-fetch.ts');
  // If the policy lists hosts, a grant cannot add others.
  const within = hosts?.filter((host) => network?.hosts === undefined || network.hosts.includes(host));
  return toWebFetch(createFetcher({ ...network, ...(within === undefined ? {} : { hosts: within }) }));
}

async function openFiles(settings: Settings): Promise<NonNullable<PluginHost['files']>> {
  const { openRoots } = await import('../../security/files/tree.ts');
  return openRoots(settings.roots, { own: ownFilesOf(settings) });
}

async function openSandbox(
  programs: readonly string[],
  settings: Settings,
): Promise<NonNullable<PluginHost['commands']>> {
  const { createSandbox } = await import('../../security/sandbox/index.ts');
  const own = ownFilesOf(settings);
  return createSandbox({ programs, readOnly: settings.roots, hidden: () => own.paths() });
}

function openData(name: string, { dataDir }: Settings): string {
  const folder = join(dataDir, 'plugins', name.replaceAll('/', '+'));
  makeFolder(folder);
  return folder;
}
