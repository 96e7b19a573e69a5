// SHA-256 for digests and fingerprints.

import { hash } from 'node:crypto';

/** The SHA-256 of a text. */
export function sha256(text: string, encoding: 'hex' | 'base64url' = 'hex'): string {
  return hash('sha256', text, encoding);
}
