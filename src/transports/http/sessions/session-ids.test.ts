import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createMemoryExpiringStore } from '../../../engine/expiring-store.ts';
import type { ExpiringStore } from '../../../protocol/ports.ts';
import { createNodeSealer } from '../../node-sealer.ts';
import { defaultHttpLimits } from '../limits.ts';
import { OpenedSession, SessionIds } from './session-ids.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const facts = {
  key: 'a-random-key',
  revision: 'r',
  clientInfo: { name: 'client', version: '1' },
  capabilities: { roots: {} },
};

const anonymous = { principal: undefined, address: '127.0.0.1' };

function make(key = 'a key for this test, long enough', store = createMemoryExpiringStore()) {
  const sealer = createNodeSealer(key);
  return { ids: new SessionIds(sealer, store, defaultHttpLimits), store, sealer };
}

test('an id restores what was negotiated, in every process with the key', () => {
  const id = make().ids.create(facts, 'ada') as string;
  expect(id).toMatch(/^[\x21-\x7e]+$/);
  expect((make().ids.open(id, 'ada') as OpenedSession).facts).toEqual(facts);
  expect(make('another key for this test, long enough').ids.open(id, 'ada')).toBeUndefined();
});

test('an id is bound to its principal, also when it is cached', () => {
  const { ids } = make();
  const id = ids.create(facts, 'ada') as string;
  for (let n = 0; n < 2; n++) {
    expect(ids.open(id, 'bob')).toBeUndefined();
    expect(ids.open(id, 'ada')).toBeDefined();
    expect(ids.open(id, '')).toBeUndefined();
  }
});

test('an id expires, also when it is cached', () => {
  const { ids } = make();
  const id = ids.create(facts, '') as string;
  const lifeMs = defaultHttpLimits.sessionTtlMs;
  vi.advanceTimersByTime(lifeMs - 1);
  expect(ids.open(id, '', lifeMs - 1)).toBeDefined();
  vi.advanceTimersByTime(1);
  expect(ids.open(id, '', lifeMs)).toBeUndefined();
  expect(ids.open(id, '', lifeMs)).toBeUndefined();
});

test('an id expires by the time of day, also when the monotonic clock stopped meanwhile', () => {
  const { ids } = make();
  const id = ids.create(facts, '') as string;
  expect(ids.open(id, '', 5)).toBeDefined();
  vi.advanceTimersByTime(defaultHttpLimits.sessionTtlMs);
  expect(ids.open(id, '', 1_005)).toBeUndefined();
});

test('a session that is used often is looked up once a second, and one that was revoked elsewhere ends within it', () => {
  const { ids, store } = make();
  const id = ids.create(facts, '') as string;
  const get = vi.spyOn(store, 'get');
  for (let ms = 0; ms < 3_000; ms++) expect(ids.open(id, '', 10_000 + ms)).toBeDefined();
  expect(get).toHaveBeenCalledTimes(3);
  const other = make(undefined, store).ids;
  expect(other.revoke(other.open(id, '') as OpenedSession, anonymous)).toBe(true);
  expect(ids.open(id, '', 13_000)).toBeUndefined();
});

test('a revoked id stays revoked until it would have expired', () => {
  const { ids, store } = make();
  const id = ids.create(facts, '') as string;
  expect(ids.revoke(ids.open(id, '') as OpenedSession, anonymous)).toBe(true);
  expect(ids.open(id, '')).toBeUndefined();
  expect(make(undefined, store).ids.open(id, '')).toBeUndefined();
  vi.advanceTimersByTime(defaultHttpLimits.sessionTtlMs - 1);
  expect(ids.open(id, '')).toBeUndefined();
});

test('a reply that is older than the end of a session does not make it valid again', async () => {
  const own = createMemoryExpiringStore();
  const replies: (() => void)[] = [];
  const get: ExpiringStore['get'] = async (key) => {
    const reply = await own.get(key);
    await new Promise<void>((resolve) => replies.push(resolve));
    return reply;
  };
  const { ids } = make(undefined, { ...own, get });
  const id = ids.create(facts, '') as string;
  const before = ids.open(id, '', 0);
  await own.add('revoked a-random-key', true, 60_000);
  ids.changed(facts.key);
  const after = ids.open(id, '', 1);
  await vi.waitFor(() => expect(replies).toHaveLength(2));
  for (const reply of replies.reverse()) reply();
  await Promise.all([before, after]);
  expect(await after).toBeUndefined();
  expect(ids.open(id, '', 2)).toBeUndefined();
});

test('an ended session stays ended after 120,000 others were ended', () => {
  const { ids } = make();
  const first = ids.create(facts, '') as string;
  expect(ids.revoke(ids.open(first, '') as OpenedSession, anonymous)).toBe(true);
  let others = 0;
  for (let n = 0; n < 120_000; n++) {
    const session = new OpenedSession('', `k${n}`, Date.now() + defaultHttpLimits.sessionTtlMs, undefined, '');
    if (ids.revoke(session, anonymous) === true) others++;
  }
  expect(others).toBe(120_000);
  expect(ids.open(first, '')).toBeUndefined();
});

test('facts that are too large for an id are in the store, and are lost with it', () => {
  const { ids, store } = make();
  const large = { ...facts, capabilities: { experimental: { text: 'x'.repeat(5000) } } };
  const id = ids.create(large, '') as string;
  expect(id.length).toBeLessThanOrEqual(defaultHttpLimits.maxSessionIdLength);
  expect((make(undefined, store).ids.open(id, '') as OpenedSession).facts).toEqual(large);
  expect(make().ids.open(id, '')).toBeUndefined();
});

test('an id reserved before the handshake has no facts until it is initialized', () => {
  const { ids } = make();
  const reserved = ids.reserve('ada') as OpenedSession;
  expect((ids.open(reserved.id, 'ada') as OpenedSession).facts).toBeUndefined();
  ids.storeFacts({ ...facts, key: reserved.key }, reserved.expiresAtMs, 'ada');
  expect((ids.open(reserved.id, 'ada') as OpenedSession).facts).toEqual({ ...facts, key: reserved.key });
});

test('more ids than are cached can be opened', () => {
  const { ids } = make();
  const first = ids.create(facts, '') as string;
  ids.open(first, '');
  for (let n = 0; n < 40_000; n++) ids.open(ids.create({ ...facts, key: `k${n}` }, '') as string, '');
  expect((ids.open(first, '') as OpenedSession).key).toBe(facts.key);
});

test('of the 12,000 ids that are used in turn, each is opened once', () => {
  const { ids, sealer } = make();
  const open = vi.spyOn(sealer, 'open');
  const created = Array.from({ length: 12_000 }, (_, n) => ids.create({ ...facts, key: `k${n}` }, '') as string);
  for (let round = 0; round < 3; round++) {
    for (const id of created) ids.open(id, '');
  }
  expect(open).toHaveBeenCalledTimes(12_000);
});

test('a token with another purpose or content is not a session id', () => {
  const sealer = createNodeSealer('a key for this test, long enough');
  const { ids } = make();
  expect(ids.open(sealer.seal('cursor', ['k', 1, '["r",null,null,{}]']), '')).toBeUndefined();
  expect(ids.open(sealer.seal('session', { k: 1 }), '')).toBeUndefined();
  expect(ids.open(sealer.seal('session', 'k 1 ["r",null,null,{}]'), '')).toBeUndefined();
});
