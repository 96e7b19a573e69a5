import { expect, test } from 'vitest';
import { createMemoryExpiringStore } from '../../../engine/expiring-store.ts';
import type { SessionState } from '../../../protocol/exchange.ts';
import type { ExpiringStore } from '../../../protocol/ports.ts';
import { mergeStates, storeState } from './session-state.ts';

test.each<[string, SessionState, SessionState, SessionState, SessionState]>([
  [
    'a subscription is added to those of others',
    { subscriptions: ['b'] },
    {},
    { subscriptions: ['a'] },
    { subscriptions: ['b', 'a'] },
  ],
  [
    'one that was removed is removed',
    { subscriptions: ['a', 'b'] },
    { subscriptions: ['a'] },
    {},
    { subscriptions: ['b'] },
  ],
  [
    'one that another process removed stays removed',
    {},
    { subscriptions: ['a'] },
    { subscriptions: ['a'], level: 'error' },
    { level: 'error' },
  ],
  [
    'a level that was not changed is that of the other process',
    { level: 'debug' },
    {},
    { subscriptions: ['a'] },
    { level: 'debug', subscriptions: ['a'] },
  ],
  ['a session stays initialized', { initialized: true }, {}, { level: 'debug' }, { initialized: true, level: 'debug' }],
])('%s', (_name, current, before, after, expected) => {
  expect(mergeStates(current, before, after)).toEqual(expected);
});

const placeIn = (store: ExpiringStore) => ({ store, key: 'state k', ttlMs: 60_000, owner: '' });

test('changes of several processes at the same time are all stored', async () => {
  const store = createMemoryExpiringStore();
  const uris = Array.from({ length: 10 }, (_, n) => `memo://${n}`);
  await Promise.all(uris.map((uri) => storeState(placeIn(store), {}, { subscriptions: [uri] })));
  const { subscriptions } = (await store.get('state k')) as SessionState;
  expect([...(subscriptions ?? [])].sort()).toEqual(uris);
});

test('a store that never accepts a change is not asked forever', async () => {
  const store: ExpiringStore = { ...createMemoryExpiringStore(), replace: () => false };
  await expect(storeState(placeIn(store), {}, { level: 'debug' })).rejects.toThrow('keep changing');
});
