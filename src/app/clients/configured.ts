// The servers that are configured in the clients on this machine, and in which files.

import { existsSync } from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import { thisPlatform, userConfigFile } from '../config/folders.ts';
import { type ClientRow, clientFile, clients, type Scope } from './clients.ts';
import { isDisabled, readConfig, serversIn, type WrittenServer } from './server-config.ts';

/** A configuration file of a client. */
export interface ClientConfigFile {
  /** The name in `clients`; `mooring` for our own user configuration. */
  readonly client: string;
  readonly title: string;
  readonly scope: Scope;
  readonly file: string;
}

/** A server in one of those files. */
export interface ConfiguredServer extends ClientConfigFile, WrittenServer {
  readonly disabled: boolean;
}

/** The files that exist. */
export function clientFiles(): ClientConfigFile[] {
  const at = thisPlatform();
  const found: ClientConfigFile[] = [];
  for (const [client, row] of Object.entries(clients)) {
    for (const scope of ['user', 'project'] as const) {
      const file = clientFile(row, scope, at, process.cwd());
      if (file !== undefined && existsSync(file) && !found.some((each) => each.file === file)) {
        found.push({ client, title: row.title, scope, file });
      }
    }
  }
  const own = userConfigFile(at);
  if (existsSync(own)) found.push({ client: 'mooring', title: 'Mooring', scope: 'user', file: own });
  return found;
}

/** The servers in these files, and the files that cannot be read. */
export async function configuredServers(files: readonly ClientConfigFile[]): Promise<{
  readonly servers: readonly ConfiguredServer[];
  readonly unreadable: readonly { readonly file: ClientConfigFile; readonly reason: string }[];
}> {
  const servers: ConfiguredServer[] = [];
  const unreadable: { file: ClientConfigFile; reason: string }[] = [];
  for (const file of files) {
    const content = await readConfig(file.file);
    if (!content.ok) {
      const where = content.line === undefined ? '' : `${content.line}:${content.column}: `;
      unreadable.push({ file, reason: `${where}${content.message}` });
      continue;
    }
    for (const server of serversIn(content.data)) {
      servers.push({ ...file, ...server, disabled: isDisabled(server.written) });
    }
  }
  return { servers, unreadable };
}

/** The client that reads a file of this name; undefined if it could be any. */
export function clientOfFile(file: string): [string, ClientRow] | undefined {
  const at = thisPlatform();
  const [name, folder] = [basename(file), basename(dirname(file))];
  const isNamedAlike = (path: string): boolean => basename(path) === name && basename(dirname(path)) === folder;
  return Object.entries(clients).find(([, row]) => {
    const user = [row.file('user', at, ''), row.otherFile?.('user', at, '')];
    const project = [row.file('project', at, ''), row.otherFile?.('project', at, '')];
    return (
      user.some((each) => each !== undefined && (each === file || isNamedAlike(each))) ||
      project.some((each) => each !== undefined && file.endsWith(`${sep}${each}`))
    );
  });
}
