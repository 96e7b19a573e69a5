// The servers that a user has signed in to: what a page shows to the user, and where the user signs out.

import { type CredentialStore, type SignOutOptions, signOut } from '../../../client/index.ts';

/** By the URL of the server. */
type SignedInServers = Readonly<Record<string, { readonly slug: string; readonly at: string }>>;

const key = 'servers that the user is signed in to';

async function read(store: CredentialStore): Promise<SignedInServers> {
  return ((await store.get(key)) ?? {}) as SignedInServers;
}

export function addServer(store: CredentialStore, server: string, slug: string): Promise<void> {
  return store.lock(key, async () => {
    await store.set(key, { ...(await read(store)), [server]: { slug, at: new Date().toISOString() } });
  });
}

/** Their names at the gateway. */
export async function serversOf(store: CredentialStore): Promise<readonly string[]> {
  return Object.values(await read(store)).map(({ slug }) => slug);
}

/** Deletes what is stored, and has it revoked where the authorization servers can do that. Returns the names of the servers. */
export function signOutOfAll(
  store: CredentialStore,
  optionsOf: (server: string) => Partial<SignOutOptions>,
): Promise<readonly string[]> {
  return store.lock(key, async () => {
    const servers = await read(store);
    await Promise.all(Object.keys(servers).map((server) => signOut({ server, store, ...optionsOf(server) })));
    await store.set(key, undefined);
    return Object.values(servers).map(({ slug }) => slug);
  });
}
