// Sealing by node:crypto: the tokens of engine/sealer.ts, byte for byte, but made and opened without a promise. A
// server that checks a session on each request can not afford one.

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';
import type { Json } from '../protocol/model.ts';
import type { Sealer, SealKey } from '../protocol/ports.ts';

const cipherName = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** A `Sealer` that never makes its caller wait. */
export interface SyncSealer extends Sealer {
  seal(purpose: string, value: Json, context?: string): string;
  open(purpose: string, token: string, context?: string): Json | undefined;
}

/** Seals with AES-256-GCM under the same key, and in the same form, as every other sealer of this package. */
export function createNodeSealer(sealKey: SealKey): SyncSealer {
  const key = secretOf(sealKey);
  return {
    seal(purpose, value, context = '') {
      const iv = randomFillSync(Buffer.allocUnsafe(ivBytes));
      const cipher = createCipheriv(cipherName, key, iv).setAAD(boundTo(purpose, context));
      const parts = [iv, cipher.update(JSON.stringify(value), 'utf8'), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat(parts).toString('base64url');
    },
    open(purpose, token, context = '') {
      const bytes = Buffer.from(token, 'base64url');
      // The decoder forgives padding, stray bits and other alphabets; a token has exactly one spelling.
      if (bytes.length <= ivBytes + tagBytes || bytes.toString('base64url') !== token) return undefined;
      const decipher = createDecipheriv(cipherName, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
      decipher.setAAD(boundTo(purpose, context)).setAuthTag(bytes.subarray(bytes.length - tagBytes));
      try {
        const text = decipher.update(bytes.subarray(ivBytes, bytes.length - tagBytes), undefined, 'utf8');
        return JSON.parse(text + decipher.final('utf8')) as Json;
      } catch {
        // Forged, foreign or for another purpose: all the same to the caller.
        return undefined;
      }
    },
  };
}

function boundTo(purpose: string, context: string): Buffer {
  return Buffer.from(`mooring\u0000${purpose}\u0000${context}`);
}

function secretOf(key: SealKey): KeyObject {
  if (typeof key !== 'string') {
    if (key.byteLength !== 32) throw new TypeError(`A seal key has 32 bytes, not ${key.byteLength}`);
    return createSecretKey(key);
  }
  if (key.length < 16) throw new TypeError('A seal key needs at least 16 characters; use a long random text');
  return createSecretKey(createHash('sha256').update(`mooring seal key\u0000${key}`).digest());
}
