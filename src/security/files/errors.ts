// The errors of file access, one row each, with string codes for the caller. No wire codes here: the edge that
// knows the protocol turns `FILE_NOT_FOUND` into whatever its revision says.

import { UserError } from '../../common/user-error.ts';

/** Why a file operation was denied or failed, for callers to branch on. */
export type FileErrorCode =
  | 'FILE_NOT_FOUND'
  | 'FILE_TOO_LARGE'
  | 'FILE_SPECIAL'
  | 'FILE_WRONG_KIND'
  | 'FILE_READ_ONLY'
  | 'FILE_EXISTS'
  | 'FILE_NOT_EMPTY'
  | 'FILE_IS_ROOT'
  | 'FILE_CHANGED'
  | 'FILE_BAD_EDIT'
  | 'FILE_BAD_MOVE'
  | 'FILE_BAD_PATTERN'
  | 'FILE_BAD_ROOT'
  | 'FILE_IO';

/** What really happened behind a `FILE_NOT_FOUND`. For the audit log only, never for the caller. */
export type HiddenReason = 'missing' | 'outside' | 'denied' | 'malformed' | 'link' | 'too-deep' | 'moved' | 'own';

/** A denied or failed file operation. */
export class FileError extends UserError {
  override readonly name = 'FileError';
  /** What went wrong. */
  readonly code: FileErrorCode;

  constructor(code: FileErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

// Kept beside the error instead of on it, so that neither JSON.stringify nor a careless logger can tell a
// client whether a path it guessed exists outside the roots.
const hiddenReasons = new WeakMap<FileError, HiddenReason>();

/** The true reason behind a `FILE_NOT_FOUND`, for the audit log. */
export const hiddenReason = (error: unknown): HiddenReason | undefined =>
  error instanceof FileError ? hiddenReasons.get(error) : undefined;

/** The requested name for a message: short, without control characters. */
function quote(requestedPath: string): string {
  const visible = requestedPath.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\uFFFD');
  return visible.length > 200 ? `${visible.slice(0, 200)}…` : visible;
}

/** Every way a file operation ends badly. */
export const fileErrors = {
  /** One error for missing, outside, forbidden and malformed: what a client may not know does not exist. */
  notFound(requestedPath: string, reason: HiddenReason): FileError {
    const error = new FileError('FILE_NOT_FOUND', `File not found: ${quote(requestedPath)}`);
    hiddenReasons.set(error, reason);
    return error;
  },
  tooLarge: (requestedPath: string, maxBytes: number) =>
    new FileError('FILE_TOO_LARGE', `File is larger than the limit of ${maxBytes} bytes: ${quote(requestedPath)}`),
  special: (requestedPath: string, what: string) =>
    new FileError('FILE_SPECIAL', `Not allowed, ${what}: ${quote(requestedPath)}. Only ordinary files can be used.`),
  wrongKind: (requestedPath: string, wanted: 'file' | 'directory') =>
    new FileError('FILE_WRONG_KIND', `Not a ${wanted}: ${quote(requestedPath)}`),
  readOnly: (requestedPath: string) =>
    new FileError(
      'FILE_READ_ONLY',
      `Read-only: ${quote(requestedPath)}. Only folders that were opened as writable can be changed.`,
    ),
  exists: (requestedPath: string) =>
    new FileError('FILE_EXISTS', `Already exists: ${quote(requestedPath)}. Choose another name, or delete it first.`),
  notEmpty: (requestedPath: string) =>
    new FileError('FILE_NOT_EMPTY', `The folder is not empty: ${quote(requestedPath)}. Delete what is in it first.`),
  isRoot: (requestedPath: string) =>
    new FileError(
      'FILE_IS_ROOT',
      `This is one of the configured roots, which cannot be moved or deleted: ${quote(requestedPath)}`,
    ),
  changed: (requestedPath: string) =>
    new FileError(
      'FILE_CHANGED',
      `The file was changed by another program meanwhile: ${quote(requestedPath)}. Read it again.`,
    ),
  badEdit: (requestedPath: string, why: string) => new FileError('FILE_BAD_EDIT', `${why}: ${quote(requestedPath)}`),
  badMove: (requestedPath: string, why: string) => new FileError('FILE_BAD_MOVE', `${why}: ${quote(requestedPath)}`),
  badPattern: (pattern: string, why: string) => new FileError('FILE_BAD_PATTERN', `${why}: ${quote(pattern)}`),
  badRoot: (root: string, why: string, cause?: unknown) =>
    new FileError('FILE_BAD_ROOT', `Cannot use root ${quote(root)}: ${why}`, { cause }),
  ownRoot: (root: string) =>
    new FileError(
      'FILE_BAD_ROOT',
      `Cannot use root ${quote(root)}: it belongs to this server (data, settings, keys or logs), and none of that is served. Choose another folder.`,
    ),
  io: (requestedPath: string, cause: unknown) =>
    new FileError('FILE_IO', `The file system failed (${errnoOf(cause) ?? 'unknown error'}): ${quote(requestedPath)}`, {
      cause,
    }),
};

/** The errno name of a Node system error, such as `ENOENT`. */
export function errnoOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

const hidden: Readonly<Record<string, HiddenReason>> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  EACCES: 'denied',
  EPERM: 'denied',
  ELOOP: 'link',
  EMLINK: 'link',
  ENAMETOOLONG: 'malformed',
  EINVAL: 'malformed',
};

/** Turns a system error into a row of the table; aborts, errors of the table and our own bugs pass unchanged. */
export function fromSystem(error: unknown, requestedPath: string): unknown {
  const errno = errnoOf(error);
  if (error instanceof FileError || errno === undefined || !(error as object & { syscall?: unknown }).syscall)
    return error;
  const reason = Object.hasOwn(hidden, errno) ? hidden[errno] : undefined;
  return reason === undefined ? fileErrors.io(requestedPath, error) : fileErrors.notFound(requestedPath, reason);
}
