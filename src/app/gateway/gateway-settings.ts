// The configuration of a gateway together with the settings of the server that it is: where each comes from.

import { decodeGateway } from '../../gateway/config/decode-gateway.ts';
import type { ConfigNote } from '../../gateway/config/decode-upstream.ts';
import type { GatewayConfig } from '../../gateway/config/gateway-config.ts';
import { commandName } from '../clients/launch.ts';
import { isMooringConfig, readConfig } from '../clients/server-config.ts';
import { thisPlatform } from '../config/folders.ts';
import { resolveSettings, type SettingsInput } from '../config/resolve.ts';
import { absolutePath } from '../config/values.ts';
import { gatewayProfile } from '../profiles/index.ts';
import type { Settings } from '../settings/settings.ts';
import { UsageError } from '../usage-error.ts';
import { notesOnCallerTokens } from './entries/caller-token-note.ts';
import type { Inputs } from './entries/inputs.ts';
import { readGatewayFiles } from './entries/read-files.ts';
import { notesOnViewAccess } from './entries/view-access-note.ts';

export interface GatewaySources {
  /** `--config FILE`, in this order. */
  readonly files: readonly string[];
  /** One server instead of files: a command line or a URL. */
  readonly target?: string | readonly string[] | undefined;
  readonly flags?: SettingsInput['flags'];
  /** Several clients connect, over a socket. */
  readonly isShared?: boolean;
}

export interface GatewaySettings {
  readonly config: GatewayConfig;
  readonly notes: readonly ConfigNote[];
  readonly settings: Settings;
  /** The files the servers come from. */
  readonly files: readonly string[];
}

/** Which of the files, if any, has settings of Mooring. Throws a `UsageError` if there are two. */
export async function settingsFileOf(files: readonly string[]): Promise<string | undefined> {
  const own: string[] = [];
  for (const file of files) {
    const content = await readConfig(pathOf(file));
    if (content.ok && isMooringConfig(content)) own.push(file);
  }
  if (own.length > 1) {
    throw new UsageError(`Settings can come from one file only, and these have some: ${own.join(', ')}`);
  }
  return own[0];
}

/** Clients start commands without a shell, which would have replaced `~`. */
const pathOf = (file: string): string => absolutePath(file, process.cwd(), thisPlatform().home);

/** Reads settings and servers. Throws a `UsageError` for whatever is wrong. */
export async function settingsOfGateway(input: GatewaySources): Promise<GatewaySettings> {
  const configFile = await settingsFileOf(input.files);
  const { settings } = await resolveSettings({
    profile: gatewayProfile,
    ...(input.flags === undefined ? {} : { flags: input.flags }),
    ...(configFile === undefined ? {} : { configFile }),
  });
  const files = filesOf(input, settings.configFile);
  return { ...(await readGateway(input, files, settings)), settings, files };
}

/** The files to read: those that are named, otherwise the configuration of the user. */
export function filesOf({ files, target }: GatewaySources, configFile: string | undefined): readonly string[] {
  if (target !== undefined) return [];
  if (files.length > 0) return files.map(pathOf);
  if (configFile !== undefined) return [configFile];
  throw new UsageError(
    'There are no servers to serve. Name the file of a client with --config FILE\n' +
      '"mooring list" shows the servers of all clients, and "mooring gateway import" copies them',
  );
}

/** Reads the servers. `inputs`: to serve them; otherwise references to inputs stay. */
export async function readGateway(
  { target }: Pick<GatewaySources, 'target'>,
  files: readonly string[],
  { auth, http }: Pick<Settings, 'auth' | 'http'>,
  inputs?: Inputs,
): Promise<{ readonly config: GatewayConfig; readonly notes: readonly ConfigNote[] }> {
  const authenticated = auth !== undefined && http?.enabled === true;
  if (target === undefined) {
    const { config, notes } = await readGatewayFiles(files, { authenticated, inputs });
    // Whether it is served over HTTP is often decided by the command that starts it.
    const isHttp = inputs === undefined || http?.enabled === true;
    const onViews = isHttp && auth !== undefined ? [] : notesOnViewAccess(config);
    const onTokens = isHttp && auth?.oauth !== undefined ? [] : notesOnCallerTokens(config);
    return { config, notes: [...notes, ...onViews, ...onTokens] };
  }
  return decodeGateway([{ servers: [singleServer(target)] }], { authenticated });
}

/** One server with its own names: a bridge between transports and revisions. */
function singleServer(target: string | readonly string[]): { readonly name: string; readonly written: object } {
  const mooring = { prefix: false };
  if (typeof target === 'string') {
    if (!URL.canParse(target)) throw new UsageError(`${JSON.stringify(target)} is not a valid URL`);
    const { hostname, username, password } = new URL(target);
    if (username !== '' || password !== '') {
      throw new UsageError(
        'The URL has credentials in it. Put them into "headers" of an entry, and name its file with --config',
      );
    }
    return { name: hostname, written: { url: target, mooring } };
  }
  const [command, ...args] = target;
  if (command === '') throw new UsageError('The command after -- is empty');
  return { name: commandName(target), written: { command, args, mooring } };
}
