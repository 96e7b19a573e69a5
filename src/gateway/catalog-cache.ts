// The last known lists of servers on disk, so the next start can show them before any server has started. One file for
// each digest of an entry: a changed entry has no lists until the gateway has connected to its server. A file is two lines
// of JSON. The first has the digest of the second, so one hash is enough to check what was computed from the lists.

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../common/logger.ts';
import { version as programVersion } from '../common/version.ts';
import type { CachedLists, CatalogCache, PreparedLists, UpstreamLists } from './contract.ts';
import { sha256 } from './sha256.ts';

/** Stops a server with an endless list from filling the disk. */
const maxFileBytes = 16 * 1024 * 1024;
/** Lists of entries that no longer exist are deleted after this time. */
const maxAgeMs = 30 * 24 * 60 * 60 * 1_000;

interface Head {
  readonly version: 2;
  readonly atMs: number;
  /** The version that computed what is stored besides the lists; another may compute something else. Empty: only lists. */
  readonly by: string;
  /** Of the second line. */
  readonly sha256: string;
}

interface Body {
  readonly lists: UpstreamLists;
  readonly fingerprints?: readonly string[] | undefined;
  /** Absent if the lists themselves are clean. */
  readonly cleaned?: UpstreamLists | undefined;
}

/** A cache in a folder of this user. It is created when the first lists are written. */
export function createCatalogCache(folder: string, logger?: Logger): CatalogCache {
  const fileOf = (digest: string): string => join(folder, `${sha256(digest)}.json`);
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
    write(digest, lists, prepared) {
      const text = encode(lists, prepared);
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

function encode(lists: UpstreamLists, prepared: PreparedLists | undefined): string {
  const [text, cleaned] = [JSON.stringify(lists), JSON.stringify(prepared?.cleaned)];
  const fields = [
    `"lists":${text}`,
    ...(prepared?.fingerprints === undefined ? [] : [`"fingerprints":${JSON.stringify(prepared.fingerprints)}`]),
    ...(cleaned === undefined || cleaned === text ? [] : [`"cleaned":${cleaned}`]),
  ];
  const body = `{${fields.join(',')}}`;
  const by = prepared === undefined ? '' : programVersion;
  const head: Head = { version: 2, atMs: Date.now(), by, sha256: sha256(body) };
  return `${JSON.stringify(head)}\n${body}`;
}

/** Throws for content that this file did not write. */
function decode(text: string): CachedLists {
  const end = text.indexOf('\n');
  const { version, atMs, by, sha256: digest } = JSON.parse(text.slice(0, Math.max(end, 0))) as Partial<Head>;
  const body = text.slice(end + 1);
  if (version !== 2 || typeof atMs !== 'number') throw new Error('unknown format');
  if (digest !== sha256(body)) throw new Error('it was changed by something else');
  const { lists, fingerprints, cleaned = lists } = JSON.parse(body) as Body;
  return { atMs, lists, ...(by === programVersion ? { prepared: { cleaned, fingerprints } } : {}) };
}

function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (Date.now() - statSync(file).mtimeMs > maxAgeMs) rmSync(file, { force: true });
  }
}
