// The gateway that several clients share: which of them do, and where its socket and its log are.

import { hash } from 'node:crypto';
import { join } from 'node:path';
import { version } from '../../../common/version.ts';
import { dataFolder, thisPlatform } from '../../config/folders.ts';
import { controlFolder } from '../control-socket.ts';
import { outerGatewaysVariable } from '../outer-gateways.ts';

/** What clients must have in common to share a gateway. */
export interface SharedGateway {
  /** The working folder of the gateway and of the servers that it starts. */
  readonly folder: string;
  /** The options of "mooring gateway". */
  readonly args: readonly string[];
}

export interface SharedGatewayFiles {
  /** A Unix socket, or a named pipe of Windows. */
  readonly socket: string;
  /** Exists while the gateway is being started. */
  readonly lock: string;
  readonly log: string;
}

/** Variables that decide which files and settings a gateway uses. */
const deciding = /^(MOORING_.+|XDG_(CONFIG|DATA|STATE)_HOME|HOME|USERPROFILE|APPDATA|LOCALAPPDATA)$/;

/** The files of a gateway. Another version of the program has another gateway. */
export function filesOfShared(
  { folder, args }: SharedGateway,
  env: Readonly<Record<string, string | undefined>> = process.env,
): SharedGatewayFiles {
  const variables = Object.entries(env)
    .filter(([name]) => deciding.test(name) && name !== outerGatewaysVariable)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const name = `shared-${hash('sha256', JSON.stringify([version, folder, args, variables])).slice(0, 16)}`;
  return {
    socket: process.platform === 'win32' ? `\\\\.\\pipe\\mooring-${name}` : join(controlFolder(), `${name}.sock`),
    lock: join(controlFolder(), `${name}.lock`),
    log: join(dataFolder(thisPlatform(env)), 'gateway', `${name}.log`),
  };
}
