// The limits of the store in memory. What all stores do is in the contract tests of task stores.

import { expect, test } from 'vitest';
import { createMemoryTaskStore } from './memory-store.ts';
import type { TaskRecord } from './task-store.ts';

const record = (id: string, more: Partial<TaskRecord> = {}): TaskRecord => ({
  id,
  service: 'test',
  owner: 'local',
  tool: 'work',
  arguments: {},
  digest: '',
  phase: 'running',
  createdAtMs: Date.now(),
  updatedAtMs: Date.now(),
  expiresAtMs: Date.now() + 60_000,
  inputs: [],
  steps: [],
  context: { capabilities: {}, revision: '2025-11-25' },
  attempt: 1,
  version: 1,
  fence: 1,
  recover: 'fail',
  maxAttempts: 3,
  ...more,
});

test('a full store rejects new tasks until others are deleted', async () => {
  const store = createMemoryTaskStore({ maxTasks: 1 });
  await store.create(record('a'));
  await expect(store.create(record('b'))).rejects.toThrow('full');
  await store.change('a', {}, [{ type: 'end', outcome: { type: 'cancelled' }, expiresAtMs: Date.now() - 1 }]);
  expect(await store.sweep(10)).toEqual({ deleted: 1, expired: [] });
  await store.create(record('b'));
  expect(await store.count()).toEqual({ active: 1, kept: 1 });
});

test('what tasks contain is limited in all, and freed when they are deleted', async () => {
  const store = createMemoryTaskStore({ maxLength: 1_000 });
  await store.create(record('a', { arguments: 'x'.repeat(2_000) }));
  await expect(store.create(record('b'))).rejects.toThrow('full');
  await store.change('a', {}, [{ type: 'end', outcome: { type: 'cancelled' }, expiresAtMs: Date.now() - 1 }]);
  await store.sweep(10);
  await store.create(record('b'));
  expect(await store.read('b')).toMatchObject({ id: 'b' });
});

test('what the request said about its client counts, too', async () => {
  const store = createMemoryTaskStore({ maxLength: 1_000 });
  await store.create(record('a', { context: { capabilities: { x: 'x'.repeat(2_000) }, revision: '2026-07-28' } }));
  await expect(store.create(record('b'))).rejects.toThrow('full');
});

test('the results of tasks that were created before the store was full are limited, too', async () => {
  const store = createMemoryTaskStore({ maxLength: 50_000 });
  for (const id of ['a', 'b', 'c']) await store.create(record(id));
  const end = (id: string, result: string) =>
    store.change(id, {}, [{ type: 'end', outcome: { type: 'result', isError: false, result }, expiresAtMs: null }]);
  await end('a', 'x'.repeat(60_000));
  await expect(end('b', 'x'.repeat(60_000))).rejects.toThrow('full');
  expect(await store.read('b')).toMatchObject({ phase: 'running' });
  expect(await end('b', 'short')).toMatchObject({ phase: 'ended' });
  expect(await store.count()).toEqual({ active: 1, kept: 3 });
});

test('pages are newest first, and a task that ends between two pages shifts nothing', async () => {
  const store = createMemoryTaskStore();
  for (const id of ['a', 'b', 'c', 'd']) await store.create(record(id));
  await store.create(record('x', { owner: 'other' }));
  const first = await store.list({ owner: 'local', limit: 2 });
  expect(first.tasks.map(({ id }) => id)).toEqual(['d', 'c']);
  await store.change('b', {}, [{ type: 'end', outcome: { type: 'cancelled' }, expiresAtMs: null }]);
  const second = await store.list({ owner: 'local', limit: 2, after: first.next as string });
  expect(second.tasks.map(({ id }) => id)).toEqual(['b', 'a']);
  expect(second.next).toBeUndefined();
});

test('an unfinished task with the same key is returned instead of a second one', async () => {
  const store = createMemoryTaskStore();
  await store.create(record('a', { dedupeKey: 'k' }));
  expect(await store.create(record('b', { dedupeKey: 'k' }))).toMatchObject({ existing: { id: 'a' } });
  expect(await store.create(record('c', { dedupeKey: 'k', owner: 'other' }))).toEqual({ created: true });
  await store.change('a', {}, [{ type: 'end', outcome: { type: 'cancelled' }, expiresAtMs: null }]);
  expect(await store.create(record('d', { dedupeKey: 'k' }))).toEqual({ created: true });
});

test('a lease that ended can be claimed by another process, and the first one cannot write any more', async () => {
  const store = createMemoryTaskStore();
  const lease = { holder: 'one', untilMs: Date.now() - 1 };
  await store.create(record('a', { lease, dueAtMs: lease.untilMs }));
  const [claimed] = await store.claim('two', ['test'], 1_000, 10);
  expect(claimed).toMatchObject({ id: 'a', attempt: 2, fence: 2, lease: { holder: 'two' } });
  expect(await store.renew('one', ['a'], 1_000)).toEqual([]);
  expect(await store.renew('two', ['a'], 1_000)).toEqual(['a']);
  expect(await store.change('a', { fence: 1 }, [{ type: 'set-message', message: 'late' }])).toBe('conflict');
  expect(await store.claim('three', ['test'], 1_000, 10)).toEqual([]);
});
