// Which keys may seal, and what a sealer is made from.

import type { SealKey } from './ports.ts';

/** What seals and opens the tokens of one server. */
export interface Sealing {
  readonly key: SealKey;
  /** Earlier keys: what they sealed is still opened, for a change of the key without a gap. */
  readonly previousKeys?: readonly SealKey[];
  /** What the tokens are good for, such as the name of the server: one key may serve several that do not mix. */
  readonly boundTo?: string;
}

/** A text that people think up is shorter, or repeats itself. */
const minTextLength = 32;
const minDifferentCharacters = 12;
/** 32 random bytes have fewer different ones than this once in 10^10 keys. */
const minDifferentBytes = 16;

const remedy = 'make one with: openssl rand -base64 32';

/** Throws for a key that could be guessed, long before anything is sealed. */
export function checkSealKey(key: SealKey): void {
  if (typeof key === 'string') {
    if (key.length >= minTextLength && new Set(key).size >= minDifferentCharacters) return;
    throw new TypeError(
      `A seal key needs at least ${minTextLength} characters, ${minDifferentCharacters} of them different; ${remedy}`,
    );
  }
  if (key.byteLength !== 32) throw new TypeError(`A seal key has 32 bytes, not ${key.byteLength}; ${remedy}`);
  if (isWeak(key)) throw new TypeError(`This seal key can be guessed: it is not random; ${remedy}`);
}

/** Bytes that repeat, count up, or spell a text. */
export function isWeak(key: Uint8Array): boolean {
  const steps = new Set(key.map((byte, at) => byte - (key[at - 1] ?? 0)));
  const spells = key.every((byte) => byte >= 0x20 && byte < 0x7f);
  return spells || new Set(key).size < minDifferentBytes || steps.size < minDifferentBytes;
}
