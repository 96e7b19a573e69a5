// The lists of the server, as the chosen revision gets them. Loaded again when the server announces a change.

import { computed, effect, signal } from '@preact/signals';
import type { Lists } from '../api.ts';
import { connection, feedStatus, listsVersion, state } from './feed.ts';
import { get } from './server.ts';

/** The chosen revision; undefined: the newest of a server that runs here, the negotiated one of a server that is inspected. */
export const chosenRevision = signal<string | undefined>(undefined);
export const revisions = computed(() => [...(state.value?.revisions ?? [])].sort().reverse());
/** Whether requests without a revision use the connection that was negotiated. */
export const isNegotiated = computed(() => state.value?.mode === 'inspect');
export const revision = computed(() => chosenRevision.value ?? (isNegotiated.value ? undefined : revisions.value[0]));
export const lists = signal<Lists | undefined>(undefined);
export const listsProblem = signal<string | undefined>(undefined);

let newest = 0;

async function load(of: string | undefined): Promise<void> {
  newest += 1;
  const own = newest;
  try {
    const loaded = await get<Lists>(of === undefined ? 'lists' : `lists?revision=${encodeURIComponent(of)}`);
    if (own !== newest) return;
    lists.value = loaded;
    listsProblem.value = undefined;
  } catch (error) {
    if (own === newest) listsProblem.value = (error as Error).message;
  }
}

export function startLists(): void {
  effect(() => {
    listsVersion.value;
    // After a reconnect the server may offer other items.
    connection.value?.status;
    if (feedStatus.value === 'connected') void load(revision.value);
  });
}
