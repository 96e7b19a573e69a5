// Turns what a caller wrote (a `file:` URI or a path) into plain names, and back. Pure text: nothing here touches
// the disk, nothing is normalised away. A name that two programs could interpret differently is rejected.

import type { FileLimits } from './limits.ts';

/** The names of an absolute path, `C:` first on Windows; `relative` when the caller gave no absolute path. */
export interface Locator {
  readonly segments: readonly string[];
  readonly relative: boolean;
}

type NameLimits = Pick<FileLimits, 'maxNameBytes' | 'maxLocatorChars' | 'maxDepth'>;

const windows = process.platform === 'win32';
const encodedAgain = /%(?:2e|2f|5c|00|25)/i;
const controlOrSurrogate = /[\p{Cc}\p{Cs}]/u;
const windowsTrouble = /[:<>"|?*]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * Whether one name may be used. `..` and `.` are never names here; a backslash is a separator elsewhere; a name that
 * still holds an encoded dot, slash or NUL after one decoding (`%252e`) waits for a second decoder to open it.
 */
export function isPlainName(name: string, limits: Pick<FileLimits, 'maxNameBytes'>): boolean {
  if (name === '' || name === '.' || name === '..') return false;
  if (name.length > limits.maxNameBytes || Buffer.byteLength(name) > limits.maxNameBytes) return false;
  if (name.includes('/') || name.includes('\\')) return false;
  if (controlOrSurrogate.test(name) || encodedAgain.test(name)) return false;
  return !(windows && windowsTrouble.test(name));
}

/** Parses a `file:` URI or a path; `undefined` if it is neither, or not in the one accepted form. */
export function parseLocator(text: string, limits: NameLimits): Locator | undefined {
  if (text === '' || text.length > limits.maxLocatorChars) return undefined;
  // A one-letter scheme is a Windows drive.
  const locator = /^[a-z][a-z0-9+.-]+:/i.test(text) ? parseUri(text) : parsePath(text);
  if (locator === undefined || locator.segments.length > limits.maxDepth * 2) return undefined;
  const names = windows && !locator.relative ? locator.segments.slice(1) : locator.segments;
  return names.every((name) => isPlainName(name, limits)) ? locator : undefined;
}

function parseUri(text: string): Locator | undefined {
  // No host, no user, no port: `file:///` and nothing else. A query or fragment would be a second name for one file.
  if (!/^file:\/\/\//i.test(text) || /[?#]/.test(text)) return undefined;
  const raw = text.slice('file:///'.length).split('/');
  if (raw.at(-1) === '') raw.pop();
  const segments: string[] = [];
  for (const part of raw) {
    const name = decodeOnce(part);
    if (name === undefined) return undefined;
    segments.push(name);
  }
  if (windows && !isDrive(segments[0])) return undefined;
  return { segments: withDrive(segments), relative: false };
}

/** Percent-decodes one segment; `undefined` for a stray `%` and for bytes that are not UTF-8. */
function decodeOnce(part: string): string | undefined {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function parsePath(text: string): Locator | undefined {
  const path = windows ? text.replaceAll('\\', '/') : text;
  // Doubled slashes and `.` are harmless in a path that a person or a model typed; `..` is not (see isPlainName).
  const segments = path.split('/').filter((name) => name !== '' && name !== '.');
  if (!windows) return { segments, relative: !path.startsWith('/') };
  if (path.startsWith('/')) return undefined; // UNC shares and drive-less roots
  return { segments: withDrive(segments), relative: !isDrive(segments[0]) };
}

const isDrive = (name = ''): boolean => /^[a-z]:$/i.test(name);

/** The letter of a drive in upper case, as Windows reports real paths: VS Code writes `file:///c%3A/…`. */
function withDrive(segments: string[]): string[] {
  const [drive, ...names] = segments;
  return windows && isDrive(drive) ? [(drive as string).toUpperCase(), ...names] : segments;
}

/** The names of an absolute path that the platform itself produced (a real path, a link target). */
export function segmentsOf(path: string): string[] {
  return withDrive((windows ? path.replaceAll('\\', '/') : path).split('/').filter((name) => name !== ''));
}

/** The absolute path of those names. */
export const pathOf = (segments: readonly string[]): string =>
  windows ? segments.join('\\') + (segments.length === 1 ? '\\' : '') : `/${segments.join('/')}`;

// Characters that a path segment may contain unencoded (RFC 3986 §3.3): our URIs must equal those that clients make.
const encodeName = (name: string): string =>
  encodeURIComponent(name).replace(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);

/** The one `file:` URI that we write for an absolute path; reading it gives the same path back. */
export const toUri = (path: string): string => `file:///${segmentsOf(path).map(encodeName).join('/')}`;
