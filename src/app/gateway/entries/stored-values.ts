// Inputs and secrets that "mooring gateway login" has stored for gateways without a terminal. They are in the file of the
// user's credentials, which only the user can read.

import type { CredentialStore } from '../../../client/index.ts';

/** Texts by key. */
export interface StoredValues {
  get(key: string): Promise<string | undefined>;
  /** Undefined: it is deleted. */
  set(key: string, value: string | undefined): Promise<void>;
}

/** The values of this user. The file is opened when the first one is needed: most gateways need none. */
export function openStoredValues(): StoredValues {
  let opened: Promise<CredentialStore> | undefined;
  const open = (): Promise<CredentialStore> =>
    (opened ??= import('../../../client/index.ts').then(({ createFileStore }) => createFileStore()));
  return {
    async get(key) {
      const value = await (await open()).get(storeKey(key));
      return typeof value === 'string' ? value : undefined;
    },
    async set(key, value) {
      await (await open()).set(storeKey(key), value);
    },
  };
}

/** The file has the tokens of servers, too. */
const storeKey = (key: string): string => `gateway value ${key}`;
