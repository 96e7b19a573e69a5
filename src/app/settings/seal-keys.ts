// Derives the keys of a profile from the configured keys: a session of one profile is not valid in another with the same key.

import { createHmac } from 'node:crypto';
import { decodeSealKey } from '../../protocol/seal-key.ts';
import { UsageError } from '../usage-error.ts';

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

function readKey(text: string, where: string): Uint8Array {
  const key = decodeSealKey(text);
  if (typeof key === 'string') throw new UsageError(`${where} ${key}. You can ${remedy}`);
  return key;
}

function boundKey(key: Uint8Array, profile: string): Uint8Array {
  return createHmac('sha256', key).update(`mooring profile\u0000${profile}`).digest();
}
