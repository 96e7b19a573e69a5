// Puts a profile together and connects it to a transport, for a process of its own.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../transports/logger.ts';
import { serveStdio } from '../transports/stdio.ts';
import { defaultProfile, profiles } from './profiles/index.ts';
import type { Settings } from './settings.ts';
import { version } from './version.ts';

export interface ServeOptions {
  /** Default: `defaultProfile`. */
  readonly profile?: string;
}

/** A mistake in what was asked for, to be shown as one sentence. */
export class ServeError extends Error {}

/** Serves a profile until the client is gone or the process is told to stop. */
export async function serve(options: ServeOptions): Promise<void> {
  const name = options.profile ?? defaultProfile;
  const row = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (row === undefined) {
    throw new ServeError(`Unknown profile ${JSON.stringify(name)}; one of ${Object.keys(profiles).join(', ')}`);
  }
  const logger = createLogger({ name: 'mooring' });
  const profile = await row.load();
  const settings = settle(name);
  const { server } = await profile.assemble({ logger, version, settings });
  const connection = await serveStdio(server, { logger });
  logger.info('Server running', { profile: profile.name, transport: 'stdio', version });
  await connection.closed;
}

function settle(profile: string): Settings {
  const home = process.env['XDG_DATA_HOME'] ?? join(homedir(), '.local/share');
  return {
    profile,
    dataDir: join(home, 'mooring'),
    roots: [],
    allowedCommands: undefined,
    enable: { commands: false, workers: false },
    audit: undefined,
    packs: {},
    plugins: [],
  };
}
