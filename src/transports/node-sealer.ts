// A sealer based on node:crypto: the same tokens as engine/sealer.ts, byte for byte, but created and opened
// synchronously, since session ids are opened on the path of every request.

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';
import type { Json } from '../protocol/model.ts';
import type { Sealer, SealKey } from '../protocol/ports.ts';
import { checkSealKey, type Sealing } from '../protocol/seal-key.ts';

const cipherName = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** A synchronous `Sealer`. */
export interface SyncSealer extends Sealer {
  seal(purpose: string, value: Json, context?: string): string;
  open(purpose: string, token: string, context?: string): Json | undefined;
}

/** Seals with AES-256-GCM under the same key, and in the same form, as every other sealer of this package. */
export function createNodeSealer(given: Sealing | SealKey): SyncSealer {
  const { key: current, previousKeys = [], boundTo = '' } = isKey(given) ? { key: given } : given;
  const key = secretOf(current, boundTo);
  const keys = [key, ...previousKeys.map((each) => secretOf(each, boundTo))];
  return {
    seal(purpose, value, context = '') {
      const iv = randomFillSync(Buffer.allocUnsafe(ivBytes));
      const cipher = createCipheriv(cipherName, key, iv).setAAD(boundData(purpose, context));
      const parts = [iv, cipher.update(JSON.stringify(value), 'utf8'), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat(parts).toString('base64url');
    },
    open(purpose, token, context = '') {
      const bytes = Buffer.from(token, 'base64url');
      // The decoder tolerates padding, unused bits and other alphabets; a token has exactly one valid encoding.
      if (bytes.length <= ivBytes + tagBytes || bytes.toString('base64url') !== token) return undefined;
      const data = boundData(purpose, context);
      for (const each of keys) {
        const opened = openWith(each, bytes, data);
        if (opened !== undefined) return opened.value;
      }
      return undefined;
    },
  };
}

/** Undefined when it was forged, or sealed with another key or for another purpose; the caller cannot tell which. */
function openWith(key: KeyObject, bytes: Buffer, data: Buffer): { readonly value: Json } | undefined {
  const decipher = createDecipheriv(cipherName, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
  decipher.setAAD(data).setAuthTag(bytes.subarray(bytes.length - tagBytes));
  try {
    const text = decipher.update(bytes.subarray(ivBytes, bytes.length - tagBytes), undefined, 'utf8');
    return { value: JSON.parse(text + decipher.final('utf8')) as Json };
  } catch {
    return undefined;
  }
}

function boundData(purpose: string, context: string): Buffer {
  return Buffer.from(`mooring\u0000${purpose}\u0000${context}`);
}

function isKey(given: Sealing | SealKey): given is SealKey {
  return typeof given === 'string' || given instanceof Uint8Array;
}

function secretOf(key: SealKey, boundTo: string): KeyObject {
  checkSealKey(key);
  const bytes = typeof key === 'string' ? createHash('sha256').update(`mooring seal key\u0000${key}`).digest() : key;
  return createSecretKey(createHmac('sha256', bytes).update(`mooring seal\u0000${boundTo}`).digest());
}
