// Credentials on disk, for the command line and for long-lived clients: one JSON file that only its owner can read,
// replaced atomically, shared safely by several processes, and encrypted if there is a key. A file that other users could
// have read or written is rejected.

import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { hasModes } from '../../../common/file-modes.ts';
import { assertKnownOptions } from '../../../common/known-options.ts';
import type { Json, JsonObject } from '../../../protocol/model.ts';
import { decodeSealKey } from '../../../protocol/seal-key.ts';
import { withLockFile } from '../../../transports/lock-file.ts';
import { createNodeSealer, type SyncSealer } from '../../../transports/node-sealer.ts';
import { KeyedMutex } from '../../keyed-mutex.ts';
import { AuthError, authErrors } from '../errors.ts';
import type { CredentialStore } from './credential-store.ts';

/** The environment variable of the key. */
const keyVariable = 'MOORING_CREDENTIALS_KEY';
/** What is sealed with the key. */
const purpose = 'credentials';

/** How the file is protected. */
export interface FileStoreOptions {
  /**
   * Encrypts the file: 32 random bytes in base64. Default: the environment variable `MOORING_CREDENTIALS_KEY`; without it
   * the file is plain text. One that was plain is encrypted when something is stored.
   */
  readonly key?: string;
}

const known: Record<keyof FileStoreOptions, true> = { key: true };

/** Opens (and on first use creates) a credential file. */
export function createFileStore(
  path: string = defaultCredentialFile(),
  options: FileStoreOptions = {},
): CredentialStore {
  assertKnownOptions('createFileStore', options, known);
  const file = resolve(path);
  const sealer = sealerOf(options.key ?? process.env[keyVariable] ?? '');
  const folder = dirname(file);
  const mutex = new KeyedMutex();

  const locked = <T>(name: string, timeoutMs: number, signal: AbortSignal | undefined, task: () => Promise<T>) =>
    // The lock file keeps other processes out, the mutex spares this one the polling.
    mutex.run(
      name,
      async () => {
        await prepareFolder(folder);
        const lock = join(folder, `${basename(file)}.${name}.lock`);
        return withLockFile(lock, { signal, timeoutMs, busy: authErrors.storeBusy }, task);
      },
      signal,
    );

  return {
    async get(name) {
      await checkFolder(folder);
      return (await readRecords(file, sealer))[name];
    },
    async set(name, value) {
      await locked('write', 10_000, undefined, async () => {
        const records = await readRecords(file, sealer);
        if (value === undefined) delete records[name];
        else records[name] = value;
        await replaceFile(file, `${JSON.stringify(contentOf(records, sealer), undefined, 2)}\n`);
      });
    },
    lock(name, task, limits = {}) {
      // Names hold URLs, which are no file names.
      const digest = createHash('sha256').update(name).digest('hex').slice(0, 24);
      return locked(digest, limits.timeoutMs ?? 600_000, limits.signal, task);
    },
  };
}

/** Where credentials are stored by default. */
export function defaultCredentialFile(env: NodeJS.ProcessEnv = process.env, platform = process.platform): string {
  // With an empty `HOME` the first is empty, and the file would be in the working folder.
  const home = homedir() || userInfo().homedir;
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'mooring', name);
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'mooring', name);
  return join(env['XDG_STATE_HOME'] || join(home, '.local', 'state'), 'mooring', name);
}
const name = 'credentials.json';

async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw authErrors.storeUnsafe(folder, `the folder cannot be created (${error.code ?? error.message})`);
  });
  await checkFolder(folder);
}

async function checkFolder(folder: string): Promise<void> {
  if (!hasModes) return;
  const stats = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (stats === undefined) return;
  const { mode, uid } = stats;
  // A user who can write to the folder can replace the file.
  if (uid !== ownUid()) throw authErrors.storeUnsafe(folder, 'the folder belongs to another user');
  if ((mode & 0o022) !== 0)
    throw authErrors.storeUnsafe(folder, 'other users can write to the folder; change its mode to 700');
}

type Records = Record<string, unknown>;

/** Undefined: the file is plain text. */
function sealerOf(keyText: string): SyncSealer | undefined {
  if (keyText === '') return undefined;
  const key = decodeSealKey(keyText);
  if (typeof key === 'string') throw authErrors.storeKeyInvalid(keyVariable);
  return createNodeSealer(key);
}

/** What the file contains. */
function contentOf(records: Records, sealer: SyncSealer | undefined): object {
  return sealer === undefined
    ? { version: 1, records }
    : { version: 2, encrypted: sealer.seal(purpose, records as Json) };
}

async function readRecords(file: string, sealer: SyncSealer | undefined): Promise<Records> {
  const text = await readOwnFile(file);
  if (text === undefined) return Object.create(null);
  try {
    const { version, encrypted, ...content } = JSON.parse(text) as JsonObject;
    const isEncrypted = version === 2 && typeof encrypted === 'string';
    const records = isEncrypted ? sealer?.open(purpose, encrypted) : content['records'];
    if (isEncrypted && records === undefined) {
      throw authErrors.storeEncrypted(file, keyVariable, sealer !== undefined);
    }
    if (!(isEncrypted || version === 1) || typeof records !== 'object' || records === null) {
      throw new Error('unknown layout');
    }
    // A null prototype, because names hold untrusted text.
    return Object.assign(Object.create(null), records);
  } catch (cause) {
    if (cause instanceof AuthError) throw cause;
    const kept = `${file}.damaged-${Date.now()}`;
    await rename(file, kept).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error; // Gone: another reader found the same damage and saved the file.
    });
    throw authErrors.storeCorrupt(file, kept, cause);
  }
}

async function readOwnFile(file: string): Promise<string | undefined> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    // The checks below look at what was opened, so the file cannot be replaced between check and use.
    handle = await open(file, constants.O_RDONLY | (hasModes ? constants.O_NOFOLLOW | constants.O_NONBLOCK : 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP') throw authErrors.storeUnsafe(file, 'it is a symbolic link');
    throw error;
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw authErrors.storeUnsafe(file, 'it is not a regular file');
    if (hasModes && stats.uid !== ownUid()) throw authErrors.storeUnsafe(file, 'it belongs to another user');
    if (hasModes && (stats.mode & 0o077) !== 0) {
      throw authErrors.storeUnsafe(
        file,
        'other users can read it. Treat its tokens as leaked: delete it, or change its mode to 600',
      );
    }
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

async function replaceFile(file: string, text: string): Promise<void> {
  const fresh = `${file}.${randomUUID()}.new`;
  try {
    const handle = await open(fresh, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
  if (!hasModes) return;
  const folder = await open(dirname(file), constants.O_RDONLY);
  try {
    await folder.sync(); // Makes the rename itself durable.
  } finally {
    await folder.close();
  }
}

function ownUid(): number {
  return process.getuid?.() ?? -1;
}
