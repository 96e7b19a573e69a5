// Where the credentials that users grant the gateway are stored: a file for each user, and one for the registrations of the
// gateway itself, which all users share.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type CredentialStore, createFileStore } from '../../../client/index.ts';

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

  get registrations(): CredentialStore {
    return this.#registrations;
  }

  of(principalKey: string): CredentialStore {
    const file = `${sha256(JSON.stringify([this.#gateway, principalKey]))}.json`;
    return withRegistrations(createFileStore(join(this.#folder, file)), this.#registrations);
  }
}

/** The key of a registration begins with this. */
const registrationKey = '["client",';

function withRegistrations(own: CredentialStore, registrations: CredentialStore): CredentialStore {
  const storeOf = (key: string): CredentialStore => (key.startsWith(registrationKey) ? registrations : own);
  return {
    get: (key) => storeOf(key).get(key),
    set: (key, value) => storeOf(key).set(key, value),
    lock: (key, task, options) => storeOf(key).lock(key, task, options),
  };
}

/** For a sign-in whose tokens are used once: only the registration is kept. */
export function registrationsOnly(registrations: CredentialStore, memory: CredentialStore): CredentialStore {
  return withRegistrations(memory, registrations);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
