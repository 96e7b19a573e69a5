// The data folder for profiles: opened on first use, closed with the server, and part of its health.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../common/logger.ts';
import type { Server } from '../../engine/server.ts';
import type { DataFolder, SqliteNotesOptions } from '../../stores/sqlite/index.ts';
import { makeDataFolder } from '../make-folder.ts';
import type { HealthRegistry } from '../serving/health.ts';

export interface Data {
  /** Opens the folder. After a failure the next call tries again. */
  open(): Promise<DataFolder>;
  /** Whether the database already exists. */
  exists(): boolean;
}

export interface DataOptions {
  readonly logger: Logger;
  readonly health?: HealthRegistry | undefined;
  /** Size limits of notes. */
  readonly limits?: SqliteNotesOptions;
}

/** Adds the data folder to a server. SQLite is loaded when `open` is called. */
export async function useData(server: Server, folder: string, { logger, health, limits }: DataOptions): Promise<Data> {
  let opening: Promise<DataFolder> | undefined;
  const open = (): Promise<DataFolder> => {
    opening ??= import('../../stores/sqlite/index.ts')
      .then(({ openDataFolder }) => {
        makeDataFolder(folder);
        return openDataFolder(folder, { logger, ...limits });
      })
      .catch((error: unknown) => {
        opening = undefined;
        logger.error('the data folder cannot be opened', { error });
        throw error;
      });
    return opening;
  };
  health?.add('data', async () => {
    await open();
    return { status: 'ok' };
  });
  await server.use({
    name: 'data',
    install() {},
    close: async () => (await opening?.catch(() => undefined))?.close(),
  });
  return { open, exists: () => existsSync(join(folder, 'mooring.db')) };
}
