// SHA-256 for the chain of an audit log.

// Loaded by name: an import of `node:crypto` also loads web crypto, and this file is part of the start of a gateway.
export const { createHash, hash } = process.getBuiltinModule('node:crypto');
