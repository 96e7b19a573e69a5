// SHA-256 for digests and fingerprints.

// Loaded by name: an import of `node:crypto` also loads web crypto, which the start of a gateway does not need.
const { hash } = process.getBuiltinModule('node:crypto');

/** The SHA-256 of a text. */
export function sha256(text: string, encoding: 'hex' | 'base64url' = 'hex'): string {
  return hash('sha256', text, encoding);
}
