// What can go wrong with the data folder, as messages a person can act on. SQLite's numeric codes are translated here.

import { reasonText } from '../../common/errno-text.ts';

/** Why an operation of the store failed. */
export type StoreErrorCode =
  | 'busy'
  | 'damaged'
  | 'full'
  | 'denied'
  | 'newer'
  | 'replaced'
  | 'closed'
  | 'failed'
  | 'limit';

/** A failure of the store. Its message names the file and what to do next. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StoreError';
    this.code = code;
  }
}

/** Primary result codes of SQLite, https://sqlite.org/rescode.html. */
const results = {
  5: 'busy',
  6: 'busy',
  8: 'denied',
  10: 'failed',
  11: 'damaged',
  13: 'full',
  14: 'denied',
  23: 'denied',
  26: 'damaged',
} as const satisfies Record<number, StoreErrorCode>;

/** The part of a driver error both drivers share. */
interface DriverError extends Error {
  readonly code?: string;
  readonly errcode?: number;
}

function codeOf(error: unknown): StoreErrorCode {
  const { code, errcode } = error as DriverError;
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'full';
  if (
    code === 'EACCES' ||
    code === 'EPERM' ||
    code === 'EROFS' ||
    code === 'ENOTDIR' ||
    code === 'ENOENT' ||
    code === 'EEXIST'
  )
    return 'denied';
  if (typeof errcode !== 'number') return 'failed';
  return results[(errcode & 0xff) as keyof typeof results] ?? 'failed';
}

/** Whether another connection holds the lock right now, so that trying again helps. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === 'busy' && typeof (error as DriverError).errcode === 'number';
}

/** Turns an error of the driver or the file system into a message about `file`. */
export function toStoreError(error: unknown, file: string, copy?: string): StoreError {
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  const why = reasonText(error, 'folder');
  return new StoreError(code, messages[code](file, why, copy), error);
}

type ErrorText = (file: string, why: string, copy: string | undefined) => string;

const messages: Record<StoreErrorCode, ErrorText> = {
  busy: (file) => `${file} is locked by another process. Nothing was stored; try again, or stop the other process`,
  damaged: (file, why, copy) =>
    `${file} is damaged (${why}). It was left as it is. Move it away together with ${file}-wal and ${file}-shm, then ${
      copy === undefined
        ? 'start again with an empty store; there is no copy'
        : `put the last good copy, ${copy}, in its place`
    }`,
  full: (file) => `No space is left to write ${file}. Nothing was stored; free some space and try again`,
  denied: (file, why) =>
    `${file} cannot be opened for reading and writing (${why}). Check its permissions or choose another folder with --data`,
  newer: (file) => `${file} was written by a newer version. Update, or choose another folder with --data`,
  replaced: (file) =>
    `${file} or its write-ahead log was deleted or replaced while this server had it open. The last change was not stored. ` +
    'Restart the server',
  closed: (file) => `${file} is closed`,
  failed: (file, why) => `${file} failed: ${why}`,
  limit: (_file, why) => why,
};

/** One note does not match its checksum; the others are good, and it can be deleted. */
export function damagedNoteError(file: string, what: string, copy: string | undefined): StoreError {
  const restore = copy === undefined ? '' : `, or stop the server and put the last good copy, ${copy}, in its place`;
  return new StoreError(
    'damaged',
    `${file} is damaged: ${what} does not match its checksum and is not shown. ` +
      `Delete the note with delete_note or "mooring notes delete"${restore}`,
  );
}

/** The files behind an open store are no longer the ones in its folder. */
export const replacedError = (file: string): StoreError =>
  new StoreError('replaced', messages.replaced(file, '', undefined));

/** The store is not whole. */
export const damagedError = (file: string, why: string, copy: string | undefined): StoreError =>
  new StoreError('damaged', messages.damaged(file, why, copy));

/** The store has been closed. */
export const closedError = (file: string): StoreError => new StoreError('closed', messages.closed(file, '', undefined));

/** The store was written by a later version of this program. */
export const newerError = (file: string): StoreError => new StoreError('newer', messages.newer(file, '', undefined));
