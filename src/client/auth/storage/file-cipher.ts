// Encrypts the credential file, if the user has set a key for it.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isWeak } from '../../../protocol/seal-key.ts';
import { authErrors } from '../errors.ts';

/** The environment variable of the key: 32 random bytes in base64. */
export const keyVariable = 'MOORING_CREDENTIALS_KEY';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** The bytes of a key. */
export function readFileKey(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  // The decoder skips what is not base64, so the text is checked, too.
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text) || bytes.length !== 32 || isWeak(bytes)) {
    throw authErrors.storeKeyInvalid(keyVariable);
  }
  return bytes;
}

export function encryptText(text: string, key: Uint8Array): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

/** Undefined: it was encrypted with another key, or changed since. */
export function decryptText(encrypted: string, key: Uint8Array): string | undefined {
  const bytes = Buffer.from(encrypted, 'base64');
  if (bytes.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  try {
    const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
