// What outlives a restart where a key is configured: whatever is sealed under it, and in the data folder what is
// remembered of it, so that a session that was ended stays ended and one that subscribed stays subscribed.

import { createHmac } from 'node:crypto';
import type { Pack } from '../engine/ports.ts';
import type { Server } from '../engine/server.ts';
import type { Logger } from '../protocol/log.ts';
import { isWeak } from '../protocol/seal-key.ts';
import { openDataFolder } from '../stores/sqlite/index.ts';
import { makeFolder } from './make-folder.ts';
import { Mistake } from './mistake.ts';
import type { Lasting } from './profiles/index.ts';

/** As a pack, so that the data folder is let go of when the server closes. */
export interface LastingPack extends Pack<Server> {
  /** For createServer. */
  readonly lasting: Lasting;
  close(): Promise<void>;
}

/** What is sealed, and for which profile: a session of one is not good at another that has the same key. */
export interface LastingOptions {
  readonly key: string;
  readonly previousKeys: readonly string[];
  readonly profile: string;
  readonly folder: string;
}

/** Opens the store; the keys are those of the configuration. */
export async function openLasting(options: LastingOptions, logger: Logger): Promise<LastingPack> {
  const { key, previousKeys, profile, folder } = options;
  const bytes = boundKey(readKey(key, 'http.key (MOORING_KEY)'), profile);
  const earlier = previousKeys.map((each) =>
    boundKey(readKey(each, 'http.previousKeys (MOORING_KEY_PREVIOUS)'), profile),
  );
  // Nothing listens for changes here, and what keeps notes in the same folder sees to its copy.
  makeFolder(folder);
  const data = await openDataFolder(folder, { logger, pollMs: 0, copyAfterMs: 0 });
  return {
    name: 'lasting',
    lasting: { key: bytes, previousKeys: earlier, store: data.expiring },
    install() {},
    close: () => data.close(),
  };
}

const remedy = 'make one with: openssl rand -base64 32';

/** The 32 bytes of a key. Node's decoder skips what is not base64, so the text is checked first. */
function readKey(text: string, where: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text) || bytes.length !== 32) {
    throw new Mistake(`${where} must be 32 bytes in base64; ${remedy}`);
  }
  if (isWeak(bytes)) throw new Mistake(`${where} can be guessed: it is not random; ${remedy}`);
  return bytes;
}

function boundKey(key: Uint8Array, profile: string): Uint8Array {
  return createHmac('sha256', key).update(`mooring profile\u0000${profile}`).digest();
}
