import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { taskRecord } from '../../../test/support/task-records.ts';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { silentLogger } from '../../common/logger.ts';
import type { TaskStore } from '../../engine/tasks/store/task-store.ts';
import { resolveSettings } from '../config/resolve.ts';
import { keepsTasks, persistentTasks } from './task-store.ts';

const platform = { platform: 'linux', env: {}, home: '/nowhere/h' } as const;
const key = 'q3+Zr8Wq0sYw7vJ1mB5tKx2LhPd9uFgC6eNaRiTzVbE=';

test.each([
  ['local', {}, {}, true],
  ['everything', {}, {}, false],
  ['everything', { data: ['d'] }, {}, true],
  ['everything', {}, { MOORING_KEY: key }, true],
])('profile %s with flags %j and variables %j keeps tasks: %j', async (profile, flags, env, expected) => {
  const resolved = await resolveSettings({ profile, flags, env, cwd: '/w', platform });
  expect(keepsTasks(resolved)).toBe(expected);
});

function storeIn(folder: string): { store: TaskStore; close(): Promise<void> } {
  const pack = persistentTasks(folder, silentLogger);
  return { store: pack.persistentState.tasks.store as TaskStore, close: () => pack.close() };
}

test('the folder is opened for the first task, not before', async () => {
  const folder = join(temporaryFolder(), 'data');
  const { store, close } = storeIn(folder);
  expect(await store.read('x')).toBeUndefined();
  expect(await store.change('x', {}, [{ type: 'request-cancel' }])).toBe('gone');
  expect(await store.claim('p', ['server'], 1_000, 1)).toEqual([]);
  expect(await store.renew('p', ['x'], 1_000)).toEqual([]);
  expect(await store.list({ limit: 5 })).toEqual({ tasks: [] });
  expect(await store.count()).toEqual({ active: 0, kept: 0 });
  expect(await store.sweep(5)).toEqual({ deleted: 0, expired: [] });
  expect(existsSync(folder)).toBe(false);
  const record = taskRecord();
  await store.create(record);
  expect(await store.read(record.id)).toEqual(record);
  await close();
});

test('tasks of an earlier process are found, and changes of another one are reported', async () => {
  const folder = temporaryFolder();
  const first = storeIn(folder);
  const record = taskRecord();
  await first.store.create(record);
  const second = storeIn(folder);
  const heard: string[] = [];
  second.store.watch?.((id) => heard.push(id));
  expect(await second.store.read(record.id)).toEqual(record);
  await first.store.change(record.id, {}, [{ type: 'request-cancel' }]);
  await vi.waitFor(() => expect(heard).toEqual([record.id]), 20_000);
  await first.close();
  await second.close();
});

test('a folder that cannot be opened is an error of each call, and is tried again', async () => {
  const folder = join(temporaryFolder(), 'file');
  const { writeFileSync, rmSync } = await import('node:fs');
  writeFileSync(folder, '');
  const { store, close } = storeIn(folder);
  await expect(store.create(taskRecord())).rejects.toThrow();
  rmSync(folder);
  await store.create(taskRecord());
  await close();
});
