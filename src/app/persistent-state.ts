// State that survives a restart: tasks, and with a key everything that is sealed with it. Records are in the data folder, so
// that an ended session stays ended and a subscription stays active.

import { createHmac } from 'node:crypto';
import type { Logger } from '../protocol/logger.ts';
import type { Bus } from '../protocol/ports.ts';
import { isWeak } from '../protocol/seal-key.ts';
import { openDataFolder } from '../stores/sqlite/index.ts';
import { makeFolder } from './make-folder.ts';
import type { PersistentStatePack } from './task-store.ts';
import { UsageError } from './usage-error.ts';

/** The keys and the profile: a session of one profile is not valid in another profile with the same key. */
export interface LastingOptions {
  readonly key: string;
  readonly previousKeys: readonly string[];
  readonly profile: string;
  readonly folder: string;
  /** Connects workers with each other. */
  readonly bus?: Bus | undefined;
}

/** Opens the store with the keys of the configuration. */
export async function openPersistentState(options: LastingOptions, logger: Logger): Promise<PersistentStatePack> {
  const { key, previousKeys, profile, folder, bus } = options;
  const bytes = boundKey(readKey(key, 'http.key (MOORING_KEY)'), profile);
  const earlier = previousKeys.map((each) =>
    boundKey(readKey(each, 'http.previousKeys (MOORING_KEY_PREVIOUS)'), profile),
  );
  // No backup copy here: the store of notes in the same folder makes one.
  makeFolder(folder);
  const data = await openDataFolder(folder, { logger, backupAfterMs: 0 });
  return {
    name: 'persistent-state',
    persistentState: {
      key: bytes,
      previousKeys: earlier,
      store: data.expiring,
      tasks: { store: data.tasks },
      ...(bus && { bus }),
    },
    install() {},
    close: () => data.close(),
  };
}

const remedy = 'create one with: openssl rand -base64 32';

/** The 32 bytes of a key. Node's decoder skips what is not base64, so the text is checked first. */
function readKey(text: string, where: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text) || bytes.length !== 32) {
    throw new UsageError(`${where} must be 32 bytes in base64. You can ${remedy}`);
  }
  if (isWeak(bytes)) throw new UsageError(`${where} is not random, so it can be guessed. You can ${remedy}`);
  return bytes;
}

function boundKey(key: Uint8Array, profile: string): Uint8Array {
  return createHmac('sha256', key).update(`mooring profile\u0000${profile}`).digest();
}
