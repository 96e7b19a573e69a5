// Validates seal keys, and defines what a sealer is made from.

import type { SealKey } from './ports.ts';

/** What seals and opens the tokens of one server. */
export interface Sealing {
  readonly key: SealKey;
  /** Earlier keys: tokens they sealed can still be opened, so that a key can be rotated without interruption. */
  readonly previousKeys?: readonly SealKey[];
  /** What the tokens are valid for, such as the name of the server: servers can share a key, but not tokens. */
  readonly boundTo?: string;
}

/** A text that a person makes up is usually shorter, or repeats itself. */
const minTextLength = 32;
const minDifferentCharacters = 12;
/** Only one in 10^10 random 32-byte keys has fewer distinct bytes than this. */
const minDifferentBytes = 16;

const remedy = 'make one with: openssl rand -base64 32';

/** Throws for a key that could be guessed, before anything is sealed. */
export function checkSealKey(key: SealKey): void {
  if (typeof key === 'string') {
    if (key.length >= minTextLength && new Set(key).size >= minDifferentCharacters) return;
    throw new TypeError(
      `A seal key needs at least ${minTextLength} characters, ${minDifferentCharacters} of them different; ${remedy}`,
    );
  }
  if (key.byteLength !== 32) throw new TypeError(`A seal key must have 32 bytes, not ${key.byteLength}; ${remedy}`);
  if (isWeak(key)) throw new TypeError(`This seal key is not random and can be guessed; ${remedy}`);
}

/** The 32 bytes of a key in base64 or base64url, or what is wrong with the text. */
export function decodeSealKey(text: string): Uint8Array | string {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return 'must be 32 bytes in base64';
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const key = Uint8Array.from(binary, (each) => each.charCodeAt(0));
  return isWeak(key) ? 'is not random, so it can be guessed' : key;
}

/** Bytes that repeat, count up, or are readable text. */
function isWeak(key: Uint8Array): boolean {
  const steps = new Set(key.map((byte, at) => byte - (key[at - 1] ?? 0)));
  const isText = key.every((byte) => byte >= 0x20 && byte < 0x7f);
  return isText || new Set(key).size < minDifferentBytes || steps.size < minDifferentBytes;
}
