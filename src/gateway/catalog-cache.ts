// The last known lists of servers on disk, so that the next start shows them before any server was started. One file for
// each digest of an entry: a changed entry has no lists until its server was connected to.

import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../protocol/logger.ts';
import type { CachedLists, CatalogCache, UpstreamLists } from './contract.ts';

/** Stops a server with an endless list from filling the disk. */
const maxFileBytes = 16 * 1024 * 1024;
/** Lists of entries that are gone are deleted after this time. */
const maxAgeMs = 30 * 24 * 60 * 60 * 1_000;

interface StoredLists {
  readonly version: 1;
  readonly atMs: number;
  readonly lists: UpstreamLists;
}

/** A cache in a folder of this user. It is created when the first lists are written. */
export function createCatalogCache(folder: string, logger?: Logger): CatalogCache {
  const fileOf = (digest: string): string => join(folder, `${hash('sha256', digest, 'hex')}.json`);
  let swept = false;
  return {
    read(digest) {
      try {
        return decode(readFileSync(fileOf(digest), 'utf8'));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
          logger?.debug('the stored lists of a server cannot be read', { error: (error as Error).message });
        }
        return undefined;
      }
    },
    write(digest, lists) {
      const text = JSON.stringify({ version: 1, atMs: Date.now(), lists } satisfies StoredLists);
      if (Buffer.byteLength(text) > maxFileBytes) {
        logger?.warn('the lists of a server are too long to be stored', { maxBytes: maxFileBytes });
        return;
      }
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        const file = fileOf(digest);
        const fresh = `${file}.${process.pid}`;
        writeFileSync(fresh, text, { mode: 0o600 });
        renameSync(fresh, file);
        if (!swept) removeOld(folder);
        swept = true;
      } catch (error) {
        logger?.warn(`the lists of a server cannot be stored: ${(error as Error).message}`);
      }
    },
  };
}

/** Throws for anything that is not what we wrote. */
function decode(text: string): CachedLists {
  const { version, atMs, lists } = JSON.parse(text) as Partial<StoredLists>;
  const arrays = [lists?.tools, lists?.prompts, lists?.resources, lists?.resourceTemplates];
  if (version !== 1 || typeof atMs !== 'number' || !arrays.every(Array.isArray)) throw new Error('unknown format');
  return { atMs, lists: lists as UpstreamLists };
}

function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (Date.now() - statSync(file).mtimeMs > maxAgeMs) rmSync(file, { force: true });
  }
}
