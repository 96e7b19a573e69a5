// The audit log of the program on a disk that is really full, and with its file taken away: calls are rejected before
// they run, or run unrecorded where that was chosen, and health, metrics, the server log and the audit log itself say so.

import { type ChildProcess, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { type AuditEntry, queryAudit } from '../../src/security/audit/index.ts';
import { pairsOf } from '../support/full.ts';
import { HttpTestClient } from '../support/http-client.ts';
import { cli, useHome } from '../support/program.ts';

const home = useHome();
const mounts: string[] = [];
const clients: HttpTestClient[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  for (const mount of mounts.splice(0)) execFileSync('umount', ['--lazy', mount]);
});

/** A folder on a disk of its own; undefined where this user may not mount one. */
function mountDisk(bytes: number): string | undefined {
  const folder = home.file('disk');
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  mounts.push(folder);
  return folder;
}

function fill(folder: string): void {
  for (const size of [64 * 1024, 1024, 1]) {
    try {
      for (;;) writeFileSync(join(folder, 'filler'), Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }
  }
}

const empty = (folder: string): void => rmSync(join(folder, 'filler'));

async function serve(file: string, audit: object) {
  const config = home.file('mooring.json');
  writeFileSync(config, JSON.stringify({ audit: { file, ...audit } }), { mode: 0o600 });
  const args = ['local', '--config', config, '--data', home.file('data'), '--metrics', '/metrics'];
  const { url, child, said } = await home.serve(args);
  const client = new HttpTestClient(Number(new URL(url).port));
  clients.push(client);
  const addNote = (content: string) => client.modern('tools/call', { name: 'add_note', arguments: { content } });
  const notes = async (): Promise<string[]> => {
    const { json } = await client.modern('tools/call', { name: 'get_notes', arguments: {} });
    return Array.from(JSON.stringify(json.result).matchAll(/note-\w+/g), ([note]) => note);
  };
  const health = async () => {
    const { status, json } = await client.send({ method: 'GET', path: '/health' });
    return `${status} ${(json as { status?: string }).status}`;
  };
  const metric = async (name: string): Promise<number> => {
    const { text } = await client.send({ method: 'GET', path: '/metrics' });
    return Number(new RegExp(`^mooring_audit_${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  return { client, child, said, addNote, notes, health, metric };
}

async function entries(folder: string, filter = {}): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  for await (const entry of queryAudit(folder, filter)) found.push(entry);
  return found;
}

/** A tenth of a disk of 16 MiB is enough for what runs when it fills up. */
const diskBytes = 16 * 1024 * 1024;

const modes = ['interval', 'always'];

describe.each(modes)('fsync: %s', (fsync) => {
  test('on a full disk calls are rejected before they run, until it has space again', async (context) => {
    const disk = mountDisk(diskBytes);
    if (disk === undefined) return context.skip('only root may mount a disk');
    const { client, said, addNote, notes, health, metric } = await serve(join(disk, 'audit.jsonl'), { fsync });
    expect((await addNote('note-before')).status).toBe(200);
    expect([await health(), await metric('writable'), await metric('fails_open')]).toEqual(['200 healthy', 1, 0]);

    fill(disk);
    // With `always` the very first call finds out; with `interval` the log looks at the disk every second.
    if (fsync === 'interval') await expect.poll(health).toBe('503 unavailable');
    for (let n = 0; n < 20; n++) {
      const { status, headers, json } = await addNote(`note-during${n}`);
      expect([status, headers['retry-after'], json.error?.code]).toEqual([503, '1', 503]);
      expect(json.error?.message).toBe('Audit log unavailable: the request was not run; try again later');
    }
    expect((await client.modern('tools/list')).status).toBe(200);
    expect((await client.modern('server/discover')).status).toBe(200);
    await client.initialize();
    expect(await health()).toBe('503 unavailable');
    expect([await metric('writable'), await metric('rejected_calls_total')]).toEqual([0, 20]);
    expect(said()).toContain('the audit log cannot be written; calls are rejected until it can');

    empty(disk);
    await expect.poll(health).toBe('200 healthy');
    expect((await addNote('note-after')).status).toBe(200);
    expect((await notes()).sort()).toEqual(['note-after', 'note-before']);
    expect(said()).toContain('the audit log can be written again');
    await expect.poll(() => entries(disk, { event: 'rejected' })).toMatchObject([{ details: { calls: 20 } }]);
    const verified = await home.run(['audit', 'verify', join(disk, 'audit.jsonl')]);
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('chain intact')]);
  }, 60_000);

  test('with failureMode: open calls go on, and health, metrics and log say that they are not recorded', async (context) => {
    const disk = mountDisk(diskBytes);
    if (disk === undefined) return context.skip('only root may mount a disk');
    const audit = { fsync, failureMode: 'open' };
    const { said, addNote, notes, health, metric } = await serve(join(disk, 'audit.jsonl'), audit);
    expect((await addNote('note-before')).status).toBe(200);

    fill(disk);
    for (let n = 0; n < 5; n++) expect((await addNote(`note-during${n}`)).status).toBe(200);
    await expect.poll(health).toBe('200 degraded');
    expect([await metric('writable'), await metric('fails_open'), await metric('rejected_calls_total')]).toEqual([
      0, 1, 0,
    ]);
    expect(said()).toContain('calls are run without being recorded (audit.failureMode is "open")');

    empty(disk);
    await expect.poll(health).toBe('200 healthy');
    expect(await notes()).toHaveLength(6);
    // The lines were few enough to wait in memory.
    await expect.poll(async () => (await entries(disk, { name: 'add_note' })).length).toBe(6);
    expect((await home.run(['audit', 'verify', join(disk, 'audit.jsonl')])).code).toBe(0);
  }, 60_000);

  const ways = pairsOf(['moved', 'removed', 'truncated'], modes).filter(([, mode]) => mode === fsync);
  test.each(ways.map(([how]) => how))(
    'a file that was %s is opened again, and verify explains it',
    async (how) => {
      const folder = home.file('audit');
      const file = join(folder, 'audit.jsonl');
      const { said, addNote } = await serve(file, { fsync });
      await addNote('note-before');
      await expect.poll(() => entries(folder, { name: 'add_note' })).toHaveLength(1);
      const lines = (await entries(folder)).length;
      if (how === 'moved') renameSync(file, home.file('elsewhere.jsonl'));
      else if (how === 'removed') rmSync(file);
      else writeFileSync(file, '');
      await expect.poll(said).toContain(`the audit log was ${how} while it was being written`);
      expect((await addNote('note-after')).status).toBe(200);
      await expect.poll(() => entries(folder, { name: 'add_note' })).toHaveLength(1);
      expect(await entries(folder, { event: 'reopened' })).toMatchObject([{ details: { why: how } }]);
      const verified = await home.run(['audit', 'verify', file]);
      expect(verified.code).toBe(0);
      expect(verified.stdout).toContain(
        `lines 1 to ${lines} are missing: their file was ${how} while the log was being`,
      );
    },
    60_000,
  );
});

/** A call over stdio; what comes back is read by `answers`. */
function calls(child: ChildProcess) {
  const waiting = new Map<number, (message: { error?: { message: string } }) => void>();
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let id = 0;
  const send = (method: string, params: object) =>
    new Promise<{ error?: { message: string } }>((done) => {
      waiting.set(++id, done);
      child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  return {
    open: () =>
      send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }),
    calculate: (padding = '') =>
      send('tools/call', { name: 'calculate', arguments: { operation: 'add', a: 1, b: 1 }, _meta: { padding } }),
  };
}

/** What `VmRSS` says, in MiB. */
const memoryOf = ({ pid }: ChildProcess): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

describe.skipIf(process.platform !== 'linux')('a disk that takes no more, and does not say so before', () => {
  test.each(['interval', 'always'])(
    'fsync: %s: memory stays bounded, and calls are rejected',
    async (fsync) => {
      const config = home.file('mooring.json');
      const file = home.file('audit/audit.jsonl');
      writeFileSync(config, JSON.stringify({ audit: { file, fsync } }), { mode: 0o600 });
      const child = home.start(['serve', 'local', '--config', config, '--data', home.file('data')], {
        program: cli,
      });
      let said = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      const { open, calculate } = calls(child);
      await open();
      expect((await calculate()).error).toBeUndefined();
      const limit = (bytes: string) => execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:`]);
      limit('4096');
      // Until a write fails, calls run: with `interval` within a tenth of a second, with `always` one.
      let ran = 0;
      await expect
        .poll(
          async () => {
            const { error } = await calculate('x'.repeat(200));
            if (error === undefined) ran++;
            return error?.message;
          },
          { interval: 1 },
        )
        .toContain('the request was not run');
      if (fsync === 'always') expect(ran).toBeLessThan(30);

      const before = memoryOf(child);
      for (let round = 0; round < 40; round++) {
        const rejected = await Promise.all(Array.from({ length: 5 }, () => calculate('x'.repeat(200_000))));
        for (const { error } of rejected) expect(error?.message).toContain('Audit log unavailable');
      }
      expect(memoryOf(child) - before).toBeLessThan(150);
      expect(said).toContain('the audit log cannot be written; calls are rejected until it can');

      limit('unlimited');
      await expect.poll(async () => (await calculate()).error, { interval: 50 }).toBeUndefined();
      child.stdin?.end();
      await new Promise((done) => child.once('close', done));
      const verified = await home.run(['audit', 'verify', file]);
      expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('chain intact')]);
    },
    60_000,
  );
});
