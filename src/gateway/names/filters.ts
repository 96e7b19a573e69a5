// Filters of names and URIs: globs that include, and globs that exclude.

import { compileGlobs } from '../../common/glob.ts';
import type { ItemFilter } from '../config/gateway-config.ts';

/** Whether a name or URI is shown. */
export type CompiledFilter = (text: string) => boolean;

/** What is excluded is not shown, even if it is included. Throws a `RangeError` for an invalid pattern. */
export function compileFilter({ include, exclude }: ItemFilter): CompiledFilter {
  const included = include === undefined ? undefined : compileGlobs(include);
  if (exclude.length === 0) return included ?? (() => true);
  const excluded = compileGlobs(exclude);
  return (text) => !excluded(text) && (included === undefined || included(text));
}

/** Whether a name or URI is excluded, even if it is also included. */
export function compileExclusion({ exclude }: ItemFilter): CompiledFilter {
  return exclude.length === 0 ? () => false : compileGlobs(exclude);
}
