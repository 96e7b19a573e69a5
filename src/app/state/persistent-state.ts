// State that survives a restart: tasks, and with a key everything that is sealed with it. Records are in the data folder, so
// that an ended session stays ended and a subscription stays active.

import type { Logger } from '../../common/logger.ts';
import type { Bus } from '../../protocol/ports.ts';
import { openDataFolder } from '../../stores/sqlite/index.ts';
import { makeDataFolder } from '../make-folder.ts';
import { type ConfiguredKeys, sealKeys } from '../settings/seal-keys.ts';
import type { PersistentStatePack } from './task-store.ts';

export interface PersistentStateOptions extends ConfiguredKeys {
  readonly folder: string;
  /** Connects workers with each other. */
  readonly bus?: Bus | undefined;
}

/** Opens the store with the keys of the configuration. */
export async function openPersistentState(
  options: PersistentStateOptions,
  logger: Logger,
): Promise<PersistentStatePack> {
  const { folder, bus } = options;
  const keys = sealKeys(options);
  // No backup copy here: the store of notes in the same folder makes one.
  makeDataFolder(folder);
  const data = await openDataFolder(folder, { logger, backupAfterMs: 0 });
  return {
    name: 'persistent-state',
    persistentState: {
      ...keys,
      store: data.expiring,
      tasks: { store: data.tasks },
      ...(bus && { bus }),
    },
    install() {},
    close: () => data.close(),
  };
}
