// Where the credentials that users grant the gateway are stored: a file for each user, and one for the registrations of the
// gateway itself, which all users share.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type CredentialStore, createFileStore, createMemoryStore } from '../../../client/index.ts';

export class UserStores {
  readonly #folder: string;
  readonly #gateway: string;
  readonly #registrations: CredentialStore;

  /** `gateway`: its address. Another gateway has other users, even if they are called the same. */
  constructor(folder: string, gateway: string) {
    this.#folder = folder;
    this.#gateway = gateway;
    this.#registrations = createFileStore(join(folder, `registrations-${sha256(gateway).slice(0, 32)}.json`));
  }

  /** `redirectUri`: a registration is for one, and servers with the same authorization server have different ones. */
  of(principalKey: string, redirectUri = ''): CredentialStore {
    const file = `${sha256(JSON.stringify([this.#gateway, principalKey]))}.json`;
    return this.#withRegistrations(createFileStore(join(this.#folder, file)), redirectUri);
  }

  /** For a sign-in whose tokens are used once: only the registration is kept. */
  forProof(redirectUri: string): CredentialStore {
    return this.#withRegistrations(createMemoryStore(), redirectUri);
  }

  #withRegistrations(own: CredentialStore, redirectUri: string): CredentialStore {
    const shared = this.#registrations;
    const isShared = (key: string): boolean => key.startsWith(registrationKey);
    const sharedKey = (key: string): string => `${key} ${redirectUri}`;
    return {
      get: (key) => (isShared(key) ? shared.get(sharedKey(key)) : own.get(key)),
      set: (key, value) => (isShared(key) ? shared.set(sharedKey(key), value) : own.set(key, value)),
      lock: (key, task, options) => own.lock(key, task, options),
    };
  }
}

/** The key of a registration begins with this. */
const registrationKey = '["client",';

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
