// Checks before an entry is written that the client will be able to start the server.

import { resolve } from 'node:path';
import { checkCommand } from '../doctor/check-command.ts';
import { checkConnection } from '../doctor/check-server.ts';
import { findingKinds, type Report } from '../doctor/findings.ts';
import type { ClientConfigEntry } from './clients.ts';

/** Enough for npx to download a package. */
const timeoutMs = 60_000;

export interface LaunchProblems {
  readonly errors: readonly Report[];
  readonly warnings: readonly Report[];
}

/**
 * Starts the command and connects to it. `own`: the arguments of `mooring` in the entry; this copy is started with them,
 * since npx would download the package first. A URL is not checked: its server may be started later.
 */
export async function checkLaunch(
  server: ClientConfigEntry,
  own: readonly string[] | undefined,
): Promise<LaunchProblems> {
  if ('url' in server) return { errors: [], warnings: [] };
  const { command, args, env } = server;
  const reports = checkCommand({ command, args, env, cwd: undefined, configured: true });
  if (!reports.some(isError)) {
    const target =
      own === undefined
        ? { command, args, env }
        : { command: process.execPath, args: [resolve(process.argv[1] ?? ''), ...own], env };
    reports.push(...(await checkConnection(target, { timeoutMs })).reports);
  }
  const isMissing = reports.some(({ id }) => id === 'script-not-found');
  return {
    errors: reports.filter(isError),
    // Paths of files that exist are written in full; for one that does not exist, the error is enough.
    warnings: reports.filter(
      ({ id }) => findingKinds[id].severity === 'warning' && !(isMissing && id === 'relative-path'),
    ),
  };
}

const isError = ({ id }: Report): boolean => findingKinds[id].severity === 'error';
