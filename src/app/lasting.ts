// What outlives a restart where a key is configured: whatever is sealed under it, and in the data folder what is
// remembered of it, so that a session that was ended stays ended and one that subscribed stays subscribed.

import type { Pack } from '../engine/ports.ts';
import type { Server } from '../engine/server.ts';
import type { Logger } from '../protocol/log.ts';
import { openDataFolder } from '../stores/sqlite/index.ts';
import { Mistake } from './mistake.ts';
import type { Lasting } from './profiles/index.ts';

/** As a pack, so that the data folder is let go of when the server closes. */
export interface LastingPack extends Pack<Server> {
  /** For createServer. */
  readonly lasting: Lasting;
  close(): Promise<void>;
}

/** Opens the store; `key` is that of the configuration. */
export async function openLasting(key: string, folder: string, logger: Logger): Promise<LastingPack> {
  const bytes = sealKey(key);
  // Nobody listens for changes here, and whoever keeps notes in the same folder sees to its copy.
  const data = await openDataFolder(folder, { logger, pollMs: 0, copyAfterMs: 0 });
  return { name: 'lasting', lasting: { key: bytes, store: data.expiring }, install() {}, close: () => data.close() };
}

function sealKey(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 32) return bytes;
  throw new Mistake('http.key (MOORING_KEY) must be 32 bytes in base64; make one with: openssl rand -base64 32');
}
