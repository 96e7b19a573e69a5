// The slug of a server: a short form of its name for tool names, URIs and addresses. A pure function of the name.

import { sha256 } from '../sha256.ts';

/** Leaves space for the tool's own name in the 64 characters that clients accept. */
export const maxSlugChars = 24;
const hashChars = 6;
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * Lower case, `[a-z0-9-]`, begins with a letter, at most 24 characters. It has neither `_` nor `--` and does not end with
 * `-`, so it can be separated from what follows: `<slug>__name`, `ui://<slug>--host`.
 */
export function slugOf(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, '-')
    .replace(/-+/g, '-')
    .replace(/^-|-$/g, '');
  // A name without any usable character still needs a slug of its own.
  const usable = plain === '' ? `s-${shortHash(name)}` : plain;
  const slug = /^[a-z]/.test(usable) ? usable : `s-${usable}`;
  if (slug.length <= maxSlugChars) return slug;
  return `${slug.slice(0, maxSlugChars - hashChars - 1).replace(/-$/, '')}-${shortHash(name)}`;
}

/** Six characters (30 bits, base32) of the SHA-256 of a text. */
export function shortHash(text: string): string {
  let bits = Number.parseInt(sha256(text).slice(0, 8), 16) >>> 2;
  let short = '';
  for (let at = 0; at < hashChars; at++) {
    short = (alphabet[bits & 31] as string) + short;
    bits >>>= 5;
  }
  return short;
}
