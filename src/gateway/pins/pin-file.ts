// The file of pins: a list of acceptances, each with the hash of the one before it, so that a line that is changed or
// removed is noticed. Beside it, what was seen and is not accepted yet. Only this user can read or write it.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { reasonText } from '../../common/errno-text.ts';
import { pause } from '../../common/wait.ts';
import { sha256 } from '../sha256.ts';
import type { PinnedDefinition } from './fingerprint.ts';
import type { LatestUse } from './latest-use.ts';

/** One acceptance of one definition. */
export interface Acceptance {
  /** The identity of the server, and its slug at that time. */
  readonly server: string;
  readonly slug: string;
  readonly tool: string;
  readonly fingerprint: string;
  /** The fingerprint without the name. */
  readonly content: string;
  readonly at: string;
  /** When it was first seen, or by a user. */
  readonly by: 'first-sight' | 'user';
}

interface ChainedAcceptance extends Acceptance {
  readonly prev: string;
}

/** What was seen of a server and is different from what was accepted. */
export interface SeenTools {
  readonly slug: string;
  readonly tools: Readonly<Record<string, PinnedDefinition>>;
}

export interface PinContent {
  readonly acceptances: readonly Acceptance[];
  /** The accepted definitions, by fingerprint, for comparing. */
  readonly definitions: Readonly<Record<string, PinnedDefinition>>;
  /** By the identity of the server. */
  readonly seen: Readonly<Record<string, SeenTools>>;
  /** By the slug of the server, or by that and a configuration file. */
  readonly used: Readonly<Record<string, LatestUse>>;
}

export const noPins: PinContent = { acceptances: [], definitions: {}, seen: {}, used: {} };

/** A file that was changed by something other than Mooring. */
export class PinFileError extends Error {
  override readonly name = 'PinFileError';
}

const maxFileBytes = 64 * 1024 * 1024;

/** Changes when the file does. Throws a `PinFileError` if it cannot be found out whether there is one: it may have pins. */
export function pinFileVersion(file: string): string {
  try {
    const { mtimeMs, size } = statSync(file);
    return `${mtimeMs} ${size}`;
  } catch (error) {
    // Not with `throwIfNoEntry`: in Node.js 24 it also ignores that a part of the path is not a folder.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'none';
    throw unreadable(file, error);
  }
}

/** Reads the file; one that does not exist has no pins. Throws a `PinFileError` if it is damaged. */
export function readPinFile(file: string): PinContent {
  if (!existsSync(file)) return noPins;
  if (statSync(file).size > maxFileBytes) throw damaged(file, 'it is too large');
  let data: {
    version?: unknown;
    acceptances?: ChainedAcceptance[];
    definitions?: object;
    seen?: object;
    used?: object;
    head?: unknown;
    digest?: unknown;
  };
  try {
    data = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw error instanceof SyntaxError ? damaged(file, error.message) : unreadable(file, error);
  }
  if (data?.version !== 1 || !Array.isArray(data.acceptances)) throw damaged(file, 'it has an unknown format');
  let head = '';
  const acceptances = data.acceptances.map(({ prev, ...each }, index) => {
    if (prev !== head) throw damaged(file, `entry ${index + 1} does not follow the one before it`);
    head = hashOf(each, prev);
    return each;
  });
  if (data.head !== head) throw damaged(file, 'its last entry was changed or removed');
  const definitions = (data.definitions ?? {}) as PinContent['definitions'];
  if (data.digest !== digestOf(definitions)) throw damaged(file, 'an accepted definition was changed');
  const { seen = {}, used = {} } = data;
  return { acceptances, definitions, seen: seen as PinContent['seen'], used: used as PinContent['used'] };
}

// Plain JSON in a fixed order: this runs for every tool at each start.
function hashOf({ server, slug, tool, fingerprint, content, at, by }: Acceptance, prev: string): string {
  return sha256(prev + JSON.stringify([server, slug, tool, fingerprint, content, at, by]));
}

function digestOf(definitions: PinContent['definitions']): string {
  return sha256(JSON.stringify(definitions));
}

function unreadable(file: string, error: unknown): PinFileError {
  const remedy = 'Make it readable, or choose another folder with --data DIR';
  return new PinFileError(`${file} cannot be read: ${reasonText(error, 'file')}. ${remedy}`, { cause: error });
}

function damaged(file: string, why: string): PinFileError {
  return new PinFileError(
    `${file} is damaged: ${why}. Restore it from a backup; without it, the tools of all servers are accepted as they are now`,
  );
}

/** Writes the file, readable by this user only. */
export function writePinFile(file: string, { acceptances, definitions, seen, used }: PinContent): void {
  let prev = '';
  const chained = acceptances.map((each): ChainedAcceptance => {
    const linked = { ...each, prev };
    prev = hashOf(each, prev);
    return linked;
  });
  const digest = digestOf(definitions);
  const data = { version: 1, acceptances: chained, head: prev, definitions, digest, seen, used };
  const text = `${JSON.stringify(data, null, 1)}\n`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, file);
}

/** A lock that is older belongs to a process that ended. */
const staleLockMs = 10_000;
const lockPollMs = 20;

/** Runs `work` while no other process writes the file. */
export async function withPinLock<T>(file: string, work: () => T): Promise<T> {
  const lock = `${file}.lock`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx', mode: 0o600 });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const { mtimeMs } = statSync(lock, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
      if (Date.now() - mtimeMs > staleLockMs) rmSync(lock, { force: true });
      else await pause(lockPollMs);
    }
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}
