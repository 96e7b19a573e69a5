// The reason why the operating system denied access to a file or a folder, as text for people.

type Thing = 'file' | 'folder';

const reasons: Readonly<Record<string, (thing: Thing) => string>> = {
  ENOENT: (thing) => `there is no such ${thing}`,
  ENOTDIR: () => 'a part of its path is not a folder',
  EEXIST: () => 'a part of its path is not a folder',
  EISDIR: () => 'it is a folder',
  EACCES: () => 'permission is denied',
  EPERM: () => 'permission is denied',
  EROFS: () => 'the file system is read-only',
  ENOSPC: () => 'no space is left on the device',
  EDQUOT: () => 'the disk quota is used up',
  ELOOP: () => 'its symbolic links form a loop',
  ENAMETOOLONG: () => 'its name is too long',
};

/** The reason of a file system error; undefined for any other error. */
export function errnoText(error: unknown, thing: Thing): string | undefined {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && Object.hasOwn(reasons, code) ? reasons[code]?.(thing) : undefined;
}

/** The same, and the message of any other error. */
export function reasonText(error: unknown, thing: Thing): string {
  return errnoText(error, thing) ?? (error instanceof Error ? error.message : String(error));
}
