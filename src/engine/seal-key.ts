// Which keys may seal; said when a server is made, long before anything is sealed.

import type { SealKey } from './ports.ts';

/** Throws for a key that would not keep anything secret. */
export function checkSealKey(key: SealKey): void {
  if (typeof key === 'string') {
    if (key.length < 16) throw new TypeError('A seal key needs at least 16 characters; use a long random text');
  } else if (key.byteLength !== 32) throw new TypeError(`A seal key has 32 bytes, not ${key.byteLength}`);
}
