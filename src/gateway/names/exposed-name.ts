// Names of tools and prompts at the gateway: `<slug>__<name>`. A slug has no `_`, so the first `__` ends it, whatever the
// name contains. Pure functions: the same on every replica, and independent of other servers.

import { shortHash } from './slug.ts';

export const separator = '__';

/** Longer names are rejected by clients that pass them on to a model. */
export const maxNameChars = 64;

const hashChars = 6;

/** The name of a server's tool or prompt at the gateway. */
export function exposedName(slug: string, name: string): string {
  return fitted(`${slug}${separator}`, name);
}

/** The name of an item of a server without prefix. */
export function bareName(name: string): string {
  return fitted('', name);
}

/** A name that is too long or has other characters gets a short form, which only the server's list can resolve. */
function fitted(prefix: string, name: string): string {
  const full = prefix + name;
  if (name !== '' && full.length <= maxNameChars && /^[A-Za-z0-9_.-]+$/.test(name)) return full;
  const maxOwnChars = maxNameChars - prefix.length - hashChars - 1;
  return `${prefix}${name.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, maxOwnChars)}-${shortHash(name)}`;
}

/** The two parts of a prefixed name. The second is the server's own name, unless that had to be shortened. */
export function splitExposedName(exposed: string): { readonly slug: string; readonly name: string } | undefined {
  const end = exposed.indexOf(separator);
  if (end <= 0) return undefined;
  return { slug: exposed.slice(0, end), name: exposed.slice(end + separator.length) };
}
