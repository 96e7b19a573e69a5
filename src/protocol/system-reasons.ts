// Why the operating system refused a file or a folder, in words for people. Who tells whom about it is elsewhere.

type Thing = 'file' | 'folder';

const reasons: Readonly<Record<string, (thing: Thing) => string>> = {
  ENOENT: (thing) => `there is no such ${thing}`,
  ENOTDIR: () => 'a part of its path is no folder',
  EEXIST: () => 'a part of its path is no folder',
  EISDIR: () => 'it is a folder',
  EACCES: () => 'this user may not open it',
  EPERM: () => 'this user may not open it',
  EROFS: () => 'the file system is read-only',
  ENOSPC: () => 'no space is left',
  EDQUOT: () => 'no space is left',
  ELOOP: () => 'its links run in a circle',
  ENAMETOOLONG: () => 'its name is too long',
};

/** The reason behind an error of the file system; undefined for any other error. */
export function systemReason(error: unknown, thing: Thing): string | undefined {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && Object.hasOwn(reasons, code) ? reasons[code]?.(thing) : undefined;
}
