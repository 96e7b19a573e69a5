// The data folder as people meet it: two servers on one folder, a disk that is full, a file that is damaged.

import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { openDataFolder } from '../../../src/stores/sqlite/index.ts';
import { reportMissing } from '../../support/programs.ts';
import { ServerProcess, useCommand } from '../../support/server-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

useCommand();

let folder = '';
beforeEach(() => {
  folder = temporaryFolder();
});

async function start(data = folder, profile = 'reference'): Promise<ServerProcess> {
  const server = new ServerProcess(['serve', profile, '--data', data]);
  await server.initialize();
  return server;
}

const text = (answer: { result: { content: { text: string }[] } }): string => answer.result.content[0]?.text as string;

describe('two servers on one folder', () => {
  test('see the same notes and count together', async () => {
    const [one, other] = [await start(), await start()];
    const adding = Array.from({ length: 100 }, (_, n) =>
      (n % 2 === 0 ? one : other).call('add_note', { content: `note ${n}`, tags: [`t${n % 5}`] }),
    );
    const counting = Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? one : other).call('increment_counter'));
    const ids = (await Promise.all(adding)).map((answer) => text(answer));
    await Promise.all(counting);
    expect(new Set(ids).size).toBe(100);
    for (const server of [one, other]) {
      expect(JSON.parse(text(await server.call('get_notes')))).toMatchObject({ count: 100, total: 100 });
      expect(JSON.parse(text(await server.call('get_notes', { tags: ['t3'] })))).toMatchObject({ total: 20 });
      const { result } = await server.request('resources/read', { uri: 'server://counter' });
      expect(result.contents[0].text).toBe('50');
    }
  });

  test('what one changes is announced to subscribers of the other', async () => {
    const [one, other] = [await start(), await start()];
    await other.request('resources/subscribe', { uri: 'server://counter' });
    await one.call('add_note', { content: 'not subscribed' });
    await one.call('increment_counter');
    const told = await other.until(() => other.lines.find((line) => line.includes('resources/updated')));
    expect(JSON.parse(told)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'server://counter' },
    });
  });

  test('one that is killed while it writes does not hold up the other', async () => {
    const [one, other] = [await start(), await start()];
    for (let n = 0; n < 200; n++)
      one.send({
        jsonrpc: '2.0',
        id: `k${n}`,
        method: 'tools/call',
        params: { name: 'add_note', arguments: { content: 'x'.repeat(5000) } },
      });
    await one.until(() => one.lines.find((line) => line.includes('added')));
    await one.kill();
    expect(text(await other.call('add_note', { content: 'after' }))).toMatch(/^Note \d+ added$/);
  });
});

/** A small file system of its own; undefined where we may not mount one. */
function mountSmall(): string | undefined {
  const place = temporaryFolder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place]).status === 0;
  if (!mounted) rmSync(place, { recursive: true });
  return mounted ? place : undefined;
}

const small = mountSmall();
if (small === undefined) reportMissing('a full disk: mounting a small file system needs root');
afterAll(() => {
  if (small === undefined) return;
  spawnSync('umount', [small]);
  rmSync(small, { recursive: true, force: true });
});

describe.skipIf(small === undefined)('a full disk', () => {
  test('is reported, nothing is partly stored, and writing continues when there is space again', async () => {
    const data = join(small as string, 'data');
    const ballast = join(small as string, 'ballast');
    mkdirSync(data);
    const server = await start(data);
    let stored = 0;
    await server.call('add_note', { content: 'first' });
    writeFileSync(ballast, '');
    try {
      for (;;) appendFileSync(ballast, Buffer.alloc(4096));
    } catch {
      // Full now.
    }
    let failure: string | undefined;
    while (failure === undefined) {
      const { result } = await server.call('add_note', { content: `more ${'x'.repeat(20_000)}` });
      if (result.isError) failure = result.content[0].text;
      else stored++;
    }
    expect(failure).toContain('No space is left to write');
    expect(failure).toContain('mooring.db');
    expect(JSON.parse(text(await server.call('get_notes')))).toMatchObject({ total: stored + 1 });
    rmSync(ballast);
    expect(text(await server.call('add_note', { content: 'after' }))).toBe(`Note ${stored + 2} added`);
    await server.kill();
    const again = await start(data);
    const { notes } = JSON.parse(text(await again.call('get_notes'))) as { notes: { content: string }[] };
    expect(notes[0]?.content).toBe('after');
    expect(notes.at(-1)?.content).toBe('first');
    expect(notes).toHaveLength(stored + 2);
  });
});

describe('a damaged file', () => {
  const file = (): string => join(folder, 'mooring.db');

  async function damage(): Promise<{ broken: Buffer; copy: Buffer }> {
    const data = await openDataFolder(folder);
    for (let n = 0; n < 300; n++) void data.notes.add('', { content: `note ${n} ${'x'.repeat(200)}`, tags: ['t'] });
    await data.notes.increment('', 1);
    await data.refreshBackup();
    await data.close();
    const broken = readFileSync(file());
    broken.fill(0x5a, 6 * 4096, 10 * 4096);
    writeFileSync(file(), broken);
    return { broken, copy: readFileSync(join(folder, 'mooring.copy.db')) };
  }

  test('keeps the reference server from starting, with a sentence that names it, and is left as it is', async () => {
    const { broken, copy } = await damage();
    const server = new ServerProcess(['serve', 'reference', '--data', folder]);
    expect(await server.exited).toBe(1);
    expect(server.lines).toEqual([]);
    expect(server.stderr).toContain(`${file()} is damaged`);
    expect(server.stderr).toContain('mooring.copy.db');
    expect(readFileSync(file()).equals(broken)).toBe(true);
    expect(readFileSync(join(folder, 'mooring.copy.db')).equals(copy)).toBe(true);
  });

  test('leaves the local server without notes only, and health_check names it', async () => {
    await damage();
    const server = await start(folder, 'local');
    expect(text(await server.call('calculate', { operation: 'add', a: 1, b: 2 }))).toBe('1 + 2 = 3');
    const { result } = await server.call('add_note', { content: 'x' });
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toContain(`${file()} is damaged`);
    const health = JSON.parse(text(await server.call('health_check')));
    expect(health.status).toBe('degraded');
    const data = health.parts.find((each: { name: string }) => each.name === 'data');
    expect(data).toMatchObject({ status: 'failed', detail: expect.stringContaining('is damaged') });
  });
});

test('only the owner can access the folder', async () => {
  const data = join(folder, 'made', 'here');
  await start(data);
  expect(statSync(data).mode & 0o777).toBe(0o700);
  expect(statSync(join(data, 'mooring.db')).mode & 0o777).toBe(0o600);
});
