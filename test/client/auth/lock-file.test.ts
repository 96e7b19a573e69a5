import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLockFile } from '../../../src/transports/lock-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: string;
let path: string;
let child: ChildProcess | undefined;
beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder, 'x.lock');
});
afterEach(async () => {
  child?.kill('SIGKILL');
  child = undefined;
  await rm(folder, { recursive: true });
});

const busy = (_path: string, holder: string): Error => Object.assign(new Error(holder), { code: 'busy' });

const take = (options: { timeoutMs?: number; staleMs?: number; signal?: AbortSignal } = {}) =>
  withLockFile(path, { timeoutMs: 20_000, busy, ...options }, async () => 'mine');

/** Another process takes the lock and keeps it until it is killed. */
async function heldByAnotherProcess(): Promise<ChildProcess> {
  const script = `
    const holder = { pid: process.pid, host: require('node:os').hostname(), token: 'child' };
    require('node:fs').writeFileSync(process.argv[1], JSON.stringify(holder), { flag: 'wx' });
    process.stdout.write('held');
    setInterval(() => {}, 1000);`;
  child = spawn(process.execPath, ['-e', script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout!, 'data');
  return child;
}

test('the file exists during the task and is removed after it, also when the task fails', async () => {
  await withLockFile(path, { timeoutMs: 20_000, busy }, () => access(path));
  await expect(
    withLockFile(path, { timeoutMs: 20_000, busy }, async () => {
      throw new Error('failed');
    }),
  ).rejects.toThrow('failed');
  expect(await readdir(folder)).toEqual([]);
});

test('while another process runs, its lock is respected and its pid is in the error', async () => {
  const holder = await heldByAnotherProcess();
  await expect(take({ timeoutMs: 60 })).rejects.toMatchObject({
    code: 'busy',
    message: expect.stringContaining(`process ${holder.pid}`),
  });
});

test('the lock of a killed process is taken over', async () => {
  const holder = await heldByAnotherProcess();
  const waiting = take();
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  expect(await waiting).toBe('mine');
  expect(await readdir(folder)).toEqual([]);
});

test('a lock from another machine, or one half written, expires by its age', async () => {
  for (const content of [JSON.stringify({ pid: 1, host: 'elsewhere', token: 't' }), '']) {
    await writeFile(path, content);
    await expect(take({ timeoutMs: 50 })).rejects.toMatchObject({ code: 'busy' });
    const old = new Date(Date.now() - 60_000);
    await utimes(path, old, old);
    expect(await take()).toBe('mine');
  }
});

test('a holder keeps its lock fresh while it works', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = withLockFile(path, { timeoutMs: 20_000, busy, staleMs: 60 }, async () => {
    const old = new Date(Date.now() - 60_000);
    await utimes(path, old, old);
    await held;
  });
  // Age alone would condemn it; the heartbeat arrives first.
  await expect.poll(async () => Date.now() - (await import('node:fs')).statSync(path).mtimeMs).toBeLessThan(1000);
  release();
  await first;
});

test('many waiters break a stale lock and still enter one by one', async () => {
  await writeFile(path, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), token: 'dead' }));
  let inside = 0;
  const enter = () =>
    withLockFile(path, { timeoutMs: 20_000, busy }, async () => {
      expect(++inside).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      inside--;
    });
  await Promise.all(Array.from({ length: 12 }, enter));
  expect(await readdir(folder)).toEqual([]);
});

test('a breaker that was left behind does not block forever', async () => {
  await writeFile(path, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), token: 'dead' }));
  await writeFile(`${path}.break`, '');
  const old = new Date(Date.now() - 60_000);
  await utimes(`${path}.break`, old, old);
  expect(await take()).toBe('mine');
});

test('a lock that was broken under its holder is not removed by it', async () => {
  await withLockFile(path, { timeoutMs: 20_000, busy }, () => writeFile(path, 'another holder'));
  expect(await readFile(path, 'utf8')).toBe('another holder');
});

test('waiting ends with the signal', async () => {
  await heldByAnotherProcess();
  const controller = new AbortController();
  const waiting = take({ signal: controller.signal });
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
});
