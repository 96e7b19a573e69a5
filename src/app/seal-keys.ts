// Derives the keys of a profile from the configured keys: a session of one profile is not valid in another with the same key.

import { createHmac } from 'node:crypto';
import { isWeak } from '../protocol/seal-key.ts';
import { UsageError } from './usage-error.ts';

export interface ConfiguredKeys {
  readonly key: string;
  readonly previousKeys: readonly string[];
  readonly profile: string;
}

export interface SealKeys {
  readonly key: Uint8Array;
  readonly previousKeys: readonly Uint8Array[];
}

/** Throws a `UsageError` for a key that is not 32 random bytes. */
export function sealKeys({ key, previousKeys, profile }: ConfiguredKeys): SealKeys {
  return {
    key: boundKey(readKey(key, 'http.key (MOORING_KEY)'), profile),
    previousKeys: previousKeys.map((each) =>
      boundKey(readKey(each, 'http.previousKeys (MOORING_KEY_PREVIOUS)'), profile),
    ),
  };
}

const remedy = 'create one with: openssl rand -base64 32';

/** The 32 bytes of a key. Node's decoder skips what is not base64, so the text is checked first. */
function readKey(text: string, where: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text) || bytes.length !== 32) {
    throw new UsageError(`${where} must be 32 bytes in base64. You can ${remedy}`);
  }
  if (isWeak(bytes)) throw new UsageError(`${where} is not random, so it can be guessed. You can ${remedy}`);
  return bytes;
}

function boundKey(key: Uint8Array, profile: string): Uint8Array {
  return createHmac('sha256', key).update(`mooring profile\u0000${profile}`).digest();
}
