// Whether a path is in a folder, by the text of both.

import { isAbsolute, relative, sep } from 'node:path';

/** True for `folder` itself and everything below it. Both must be absolute and normalized. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
