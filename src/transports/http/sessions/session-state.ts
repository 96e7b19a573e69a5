// The state of a session that several processes change: each change is merged with those of the others.

import type { SessionState } from '../../../protocol/exchange.ts';
import type { Json } from '../../../protocol/model.ts';
import type { ExpiringStore } from '../../../protocol/ports.ts';

/** Stops a store that always reports a conflict from being asked forever. */
const maxAttempts = 20;

/** Where a state is stored. */
export interface StatePlace {
  readonly store: ExpiringStore;
  readonly key: string;
  readonly ttlMs: number;
  readonly owner: string;
}

/** Stores the change from `before` to `after`. Returns what is stored then: the changes of other processes included. */
export async function storeState(place: StatePlace, before: SessionState, after: SessionState): Promise<SessionState> {
  const { store, key, ttlMs, owner } = place;
  if (store.replace === undefined) {
    await store.set(key, after as unknown as Json, ttlMs, owner);
    return after;
  }
  let expected: Json | undefined = isEmpty(before) ? undefined : (before as unknown as Json);
  let next = after;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (await store.replace(key, expected, next as unknown as Json, ttlMs, owner)) return next;
    expected = await store.get(key);
    next = mergeStates((expected ?? {}) as SessionState, before, after);
  }
  throw new Error('Other processes keep changing the state of this session');
}

/** Applies the difference between `before` and `after` to `current`. */
export function mergeStates(current: SessionState, before: SessionState, after: SessionState): SessionState {
  const subscriptions = new Set(current.subscriptions);
  for (const uri of before.subscriptions ?? []) if (!after.subscriptions?.includes(uri)) subscriptions.delete(uri);
  for (const uri of after.subscriptions ?? []) if (!before.subscriptions?.includes(uri)) subscriptions.add(uri);
  const level = after.level === before.level ? current.level : after.level;
  return {
    ...(current.initialized === true || after.initialized === true ? { initialized: true } : {}),
    ...(level === undefined ? {} : { level }),
    ...(subscriptions.size === 0 ? {} : { subscriptions: [...subscriptions] }),
  };
}

/** Two small states whose difference is that between `before` and `after`: a session may have thousands of subscriptions. */
export function differenceOf(
  before: SessionState,
  after: SessionState,
): { readonly before: SessionState; readonly after: SessionState } {
  const [old, now] = [new Set(before.subscriptions), new Set(after.subscriptions)];
  const levelOf = ({ level }: SessionState): SessionState => (level === undefined ? {} : { level });
  return {
    before: { ...levelOf(before), subscriptions: [...old].filter((uri) => !now.has(uri)) },
    after: {
      ...levelOf(after),
      ...(after.initialized === true ? { initialized: true } : {}),
      subscriptions: [...now].filter((uri) => !old.has(uri)),
    },
  };
}

export function isEmpty(state: SessionState): boolean {
  return Object.keys(state).length === 0;
}
