// Tokens that only this server can open: AES-256-GCM with Web Crypto. Without a configured key, a random one is created, so
// tokens end with the process; replicas share a key.

import { fromBase64Url, toBase64Url } from '../common/base64url.ts';
import type { Json } from '../protocol/model.ts';
import { checkSealKey, type Sealing } from '../protocol/seal-key.ts';
import type { Sealer, SealKey } from './ports.ts';

const ivBytes = 12;

/** Seals with AES-GCM and a key derived from the given one; a function is called when something is first sealed. */
export function createSealer(sealing: Sealing | SealKey | (() => Sealing)): Sealer {
  let imported: Promise<[CryptoKey, ...CryptoKey[]]> | undefined;
  const keys = (): Promise<[CryptoKey, ...CryptoKey[]]> =>
    (imported ??= importKeys(typeof sealing === 'function' ? sealing() : sealing));
  return {
    async seal(purpose, value, context = '') {
      const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
      const data = new TextEncoder().encode(JSON.stringify(value));
      const [key] = await keys();
      const sealed = await crypto.subtle.encrypt(algorithm(iv, purpose, context), key, data);
      const token = new Uint8Array(ivBytes + sealed.byteLength);
      token.set(iv);
      token.set(new Uint8Array(sealed), ivBytes);
      return toBase64Url(token);
    },
    async open(purpose, token, context = '') {
      const bytes = fromBase64Url(token);
      if (bytes === undefined || bytes.length <= ivBytes) return undefined;
      const parameters = algorithm(bytes.subarray(0, ivBytes), purpose, context);
      for (const key of await keys()) {
        try {
          const opened = await crypto.subtle.decrypt(parameters, key, bytes.subarray(ivBytes));
          return JSON.parse(new TextDecoder().decode(opened)) as Json;
        } catch {
          // Sealed with another key, forged, or for another purpose: the caller need not know which.
        }
      }
      return undefined;
    },
  };
}

function algorithm(iv: Uint8Array<ArrayBuffer>, purpose: string, context: string): AesGcmParams {
  return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(`mooring\u0000${purpose}\u0000${context}`) };
}

async function importKeys(given: Sealing | SealKey): Promise<[CryptoKey, ...CryptoKey[]]> {
  const { key, previousKeys = [], boundTo = '' } = isKey(given) ? { key: given } : given;
  const [first, ...others] = await Promise.all([key, ...previousKeys].map((each) => importKey(each, boundTo)));
  return [first as CryptoKey, ...others];
}

function isKey(given: Sealing | SealKey): given is SealKey {
  return typeof given === 'string' || given instanceof Uint8Array;
}

async function importKey(key: SealKey, boundTo: string): Promise<CryptoKey> {
  const master = await crypto.subtle.importKey('raw', await keyBytes(key), hmac, false, ['sign']);
  const derived = await crypto.subtle.sign('HMAC', master, new TextEncoder().encode(`mooring seal\u0000${boundTo}`));
  return crypto.subtle.importKey('raw', derived, 'AES-GCM', false, ['encrypt', 'decrypt']);
}

const hmac = { name: 'HMAC', hash: 'SHA-256' } as const;

/** The 32 bytes of a configured key; the same for every sealer, whichever crypto library it uses. */
async function keyBytes(key: SealKey): Promise<Uint8Array<ArrayBuffer>> {
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
