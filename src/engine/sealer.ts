// Tokens only this server can open: AES-256-GCM by the web's crypto. Without a configured key one is made at start,
// so tokens end with the process; replicas share a key.

import { fromBase64Url, toBase64Url } from '../protocol/base64url.ts';
import type { Json } from '../protocol/model.ts';
import type { Sealer, SealKey } from './ports.ts';
import { checkSealKey } from './seal-key.ts';

const ivBytes = 12;

/** Seals with AES-GCM under a key derived from `key`; a function is asked for it when something is first sealed. */
export function createSealer(key: SealKey | (() => SealKey)): Sealer {
  let imported: Promise<CryptoKey> | undefined;
  const cryptoKey = (): Promise<CryptoKey> => (imported ??= importKey(typeof key === 'function' ? key() : key));
  return {
    async seal(purpose, value, context = '') {
      const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
      const data = new TextEncoder().encode(JSON.stringify(value));
      const sealed = await crypto.subtle.encrypt(algorithm(iv, purpose, context), await cryptoKey(), data);
      const token = new Uint8Array(ivBytes + sealed.byteLength);
      token.set(iv);
      token.set(new Uint8Array(sealed), ivBytes);
      return toBase64Url(token);
    },
    async open(purpose, token, context = '') {
      const bytes = fromBase64Url(token);
      if (bytes === undefined || bytes.length <= ivBytes) return undefined;
      const iv = bytes.subarray(0, ivBytes);
      try {
        const data = bytes.subarray(ivBytes);
        const opened = await crypto.subtle.decrypt(algorithm(iv, purpose, context), await cryptoKey(), data);
        return JSON.parse(new TextDecoder().decode(opened)) as Json;
      } catch {
        // Forged, foreign or for another purpose: all the same to the caller.
        return undefined;
      }
    },
  };
}

function algorithm(iv: Uint8Array<ArrayBuffer>, purpose: string, context: string): AesGcmParams {
  return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(`mooring\u0000${purpose}\u0000${context}`) };
}

async function importKey(key: SealKey): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', await keyBytes(key), 'AES-GCM', false, ['encrypt', 'decrypt']);
}

/** The 32 bytes behind a configured key; the same for every sealer, whatever crypto it is built on. */
export async function keyBytes(key: SealKey): Promise<Uint8Array<ArrayBuffer>> {
  checkSealKey(key);
  if (typeof key !== 'string') return new Uint8Array(key);
  return new Uint8Array(
    await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`mooring seal key\u0000${key}`)),
  );
}

/** SHA-256 of a text, base64url. */
export async function digestOf(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}
