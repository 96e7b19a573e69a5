import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { Database } from './database.ts';
import { LogSync } from './log-sync.ts';

test('requests that come during a sync share the next one, and none is served by a sync that had started', () => {
  const file = join(temporaryFolder(), 'log');
  writeFileSync(file, '');
  const syncs: (() => void)[] = [];
  const log = new LogSync(file, (_descriptor, done) => void syncs.push(() => done(null)));
  const served: string[] = [];
  log.request(() => served.push('a'));
  log.request(() => served.push('b'));
  log.request(() => served.push('c'));
  expect(syncs.length).toBe(1);
  syncs[0]?.();
  expect(served).toEqual(['a']);
  expect(syncs.length).toBe(2);
  syncs[1]?.();
  expect(served).toEqual(['a', 'b', 'c']);
  log.close();
});

test('a sync that fails is reported to all that waited for it', () => {
  const missing = new LogSync(join(temporaryFolder(), 'missing'));
  let reason: Error | undefined;
  missing.request((error) => (reason = error));
  expect(reason?.message).toContain('ENOENT');
});

test('a write resolves after its sync, and not before', async () => {
  const syncs: (() => void)[] = [];
  const database = await Database.open(temporaryFolder(), { pollMs: 0 }, (_descriptor, done) => {
    syncs.push(() => done(null));
  });
  let resolved = false;
  const write = database
    .write(() => database.statement('create table t (a)').run())
    .then(() => {
      resolved = true;
    });
  while (syncs.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(resolved).toBe(false);
  const closed = database.close();
  syncs[0]?.();
  await write;
  await closed;
  expect(resolved).toBe(true);
});
