// The audit log as its reader sees it: what a client does is in it, secrets are not, and no line can be changed unseen.

import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, expect, test } from 'vitest';
import { silentLogger } from '../../src/common/logger.ts';
import { createServer, type Server } from '../../src/engine/server.ts';
import type { Peer } from '../../src/protocol/exchange.ts';
import {
  type AuditEntry,
  type AuditLog,
  type AuditOptions,
  formatEntry,
  openAuditLog,
  queryAudit,
  tailAudit,
  verifyAudit,
} from '../../src/security/audit/index.ts';
import { rateLimit } from '../../src/security/limits/index.ts';
import type { Sandbox } from '../../src/security/sandbox/index.ts';
import { serveHttp } from '../../src/transports/http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { TestClient } from '../support/test-client.ts';

const directories: string[] = [];
const logs: AuditLog[] = [];

afterEach(async () => {
  for (const log of logs.splice(0)) await log.close();
  for (const each of directories.splice(0)) rmSync(each, { recursive: true, force: true });
});

function freshDirectory(): string {
  const directory = temporaryFolder();
  directories.push(directory);
  return directory;
}

async function openIn(directory: string, options: Partial<AuditOptions> = {}): Promise<AuditLog> {
  const log = await openAuditLog({ directory, ...options });
  logs.push(log);
  return log;
}

async function entries(directory: string, filter = {}): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  for await (const entry of queryAudit(directory, filter)) found.push(entry);
  return found;
}

const alice: Peer = {
  transport: 'memory',
  principal: { id: 'alice', issuer: 'https://id.example' },
  address: '10.0.0.7',
};

function audited(log: AuditLog): Server {
  const server = createServer({ name: 'audited', version: '1.0.0' });
  log.install(server);
  const input = { type: 'object' } as const;
  server.tool('echo', { input, run: (args) => JSON.stringify(args) });
  server.tool('fail', { input, run: () => Promise.reject(new Error('no')) });
  server.tool('set_clipboard', { input, run: () => 'ok' });
  server.tool('strict', {
    input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    run: () => 'ok',
  });
  server.resource('test://one', { name: 'one', read: () => '1' });
  return server;
}

test('S4-49: every tool call has a line with time, principal, session, tool, arguments, outcome and duration', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  const client = await TestClient.open(audited(log), undefined, {}, alice);
  await client.call('echo', { city: 'Paris', n: 3 });
  await client.call('fail', {});
  await log.flush();
  const [echo, fail] = await entries(directory, { event: 'call' });
  expect(echo).toMatchObject({
    event: 'call',
    principal: 'alice',
    issuer: 'https://id.example',
    transport: 'memory',
    address: '10.0.0.7',
    name: 'echo',
    arguments: { city: 'Paris', n: 3 },
    outcome: 'ok',
  });
  expect(echo?.session).toMatch(/^[\w-]{16}$/);
  expect(echo?.ms).toBeGreaterThanOrEqual(0);
  expect(Date.parse(echo?.time ?? '')).toBeGreaterThan(Date.now() - 60_000);
  expect(fail).toMatchObject({ name: 'fail', outcome: 'failed' });
});

test('S4-50: rejected calls and reads are in the log, those rejected before they began included', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  const server = audited(log);
  server.around(rateLimit([{ per: 'session', tools: ['echo'], requests: 1, windowMs: 1_000_000 }]));
  const client = await TestClient.open(server, undefined, {}, alice);
  await client.call('echo', {});
  await client.call('echo', {});
  await client.call('ghost', {});
  await client.request('resources/read', { uri: 'test://one' });
  await client.request('resources/read', { uri: 'test://none' });
  await client.request('tools/call', { name: 7 });
  await client.request('no/such/method');
  await log.flush();
  const lines = (await entries(directory)).map(({ event, name, outcome, code }) => [event, name, outcome, code]);
  expect(lines).toEqual([
    ['open', undefined, undefined, undefined],
    ['request', undefined, 'ok', undefined],
    ['call', 'echo', 'ok', undefined],
    ['call', 'echo', 'rejected', -32000],
    ['call', 'ghost', 'rejected', -32602],
    ['read', 'test://one', 'ok', undefined],
    ['read', 'test://none', 'rejected', -32002],
    ['invalid-message', undefined, 'rejected', -32602],
    ['invalid-message', undefined, 'rejected', -32601],
  ]);
});

test('a rejected authentication is in the log', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  const authenticate = log.authentication(async () => ({ status: 401 as const, message: 'the token has expired' }));
  await authenticate({ method: 'POST', path: '/mcp', address: '10.0.0.9', get: () => undefined });
  await log.flush();
  const [line] = await entries(directory, { event: 'auth' });
  expect(line).toMatchObject({ outcome: 'rejected', details: { status: 401, address: '10.0.0.9', path: '/mcp' } });
});

test('every start of a program has a line before it begins and one when it ends', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  let linesAtStart = 0;
  const report = { exitCode: 3, signal: null, stopped: 'timeout' as const, durationMs: 12 };
  const sandbox = {
    level: 'kernel',
    describe: 'a fake',
    run: async (_request: unknown) => {
      await log.flush();
      linesAtStart = (await entries(directory, { event: 'spawn' })).length;
      return { ...report, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), truncated: false, timedOut: true };
    },
    close: async () => {},
  } as unknown as Sandbox;
  const watched = log.sandbox(sandbox, { principal: { id: 'alice' }, session: undefined });
  await watched.run({ program: 'curl', args: ['--token', 'hunter2-hunter2', 'https://x.example'] });
  await log.flush();
  const [begun, ended] = await entries(directory, { event: 'spawn' });
  expect(linesAtStart).toBe(1);
  expect(begun).toMatchObject({ principal: 'alice', outcome: 'begun', details: { program: 'curl', level: 'kernel' } });
  expect(ended).toMatchObject({ outcome: 'timeout', ms: 12, details: { exitCode: 3 } });
  expect(readFileSync(log.path, 'utf8')).not.toContain('hunter2');
});

test('S4-49: no secret reaches the log, by name or by shape, nested or in lists, and clipboard texts never do', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory, { fields: [{ tools: ['ec*'], hide: ['diary'] }], secretKeys: ['door code'] });
  const client = await TestClient.open(audited(log));
  const canaries = ['canary-one', 'canary-two', 'canary-three', 'canary-four', 'canary-five', 'canary-six', 'canary-7'];
  const token = `ghp_${'a1B2'.repeat(9)}`;
  await client.call('echo', {
    password: canaries[0],
    deep: { list: [{ apiKey: canaries[1] }, ['--token', canaries[2]]] },
    text: `use ${token} please`,
    headers: [{ name: 'Authorization', value: canaries[3] }],
    diary: canaries[4],
    doorCode: canaries[5],
  });
  await client.call('set_clipboard', { text: canaries[6], format: 'plain' });
  await client.call(`made-up ${token}`, {});
  await log.flush();
  const text = readFileSync(log.path, 'utf8');
  for (const canary of [...canaries, token]) expect(text, canary).not.toContain(canary);
  const [, clipboard] = await entries(directory, { event: 'call' });
  expect(clipboard?.arguments).toEqual({ text: '[8 characters]', format: '[5 characters]' });
});

test('arguments can be left out, or recorded as a digest that others can compute', async () => {
  const directory = freshDirectory();
  const digests = await openIn(directory, { arguments: 'digest' });
  await (await TestClient.open(audited(digests))).call('echo', { b: 2, a: 1 });
  const none = await openIn(freshDirectory(), { arguments: 'none' });
  await (await TestClient.open(audited(none))).call('echo', { b: 2, a: 1 });
  await digests.flush();
  await none.flush();
  const [call] = await entries(directory, { event: 'call' });
  expect(call?.arguments).toBe('sha256:43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777');
  expect(readFileSync(none.path, 'utf8')).not.toContain('arguments');
});

test('long arguments are shortened, so that the log is no copy of a document', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  await (await TestClient.open(audited(log))).call('echo', {
    text: 'word '.repeat(100_000),
    list: Array(9999).fill(1),
  });
  await log.flush();
  expect(statSync(log.path).size).toBeLessThan(5_000);
});

test('the chain of an untouched log holds, over restarts and files', async () => {
  const directory = freshDirectory();
  for (let run = 0; run < 3; run++) {
    const log = await openIn(directory, { maxFileBytes: 1500 });
    const client = await TestClient.open(audited(log));
    for (let n = 0; n < 12; n++) {
      await client.call('echo', { run, n });
      await log.flush();
    }
    await log.close();
  }
  const files = readdirSync(directory).filter((each) => each.endsWith('.jsonl'));
  expect(files.length).toBeGreaterThan(3);
  const [result] = await verifyAudit(directory);
  expect(result).toMatchObject({ ok: true, from: 1, lines: 3 * (12 + 3), sealed: 0 });
  const calls = (await entries(directory, { event: 'call' })).map(({ arguments: args }) => args);
  expect(calls).toEqual([0, 1, 2].flatMap((run) => Array.from({ length: 12 }, (_, n) => ({ run, n }))));
});

test('old files are deleted beyond the limit, and the rest still verifies from its first line on', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory, { maxFileBytes: 600, maxFiles: 2 });
  const client = await TestClient.open(audited(log));
  for (let n = 0; n < 30; n++) {
    await client.call('echo', { n });
    await log.flush();
  }
  await log.close();
  expect(readdirSync(directory).filter((each) => each.endsWith('.jsonl')).length).toBeLessThanOrEqual(3);
  const [result] = await verifyAudit(directory);
  expect(result?.ok).toBe(true);
  expect(result?.from).toBeGreaterThan(1);
  expect(result?.head).toEqual(log.head);
});

test('all files together keep to their size, the oldest are deleted, and the log says so', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory, { maxFileBytes: 600, maxTotalBytes: 3_000 });
  const client = await TestClient.open(audited(log));
  for (let n = 0; n < 60; n++) {
    await client.call('echo', { n });
    await log.flush();
    const sizes = readdirSync(directory).map(
      (each) => statSync(join(directory, each), { throwIfNoEntry: false })?.size ?? 0,
    );
    // A file is finished by the write that fills it.
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(3_500);
  }
  await log.close();
  const [deleted] = await entries(directory, { event: 'deleted' });
  expect(deleted?.details?.['files']).toEqual([expect.stringMatching(/audit\.\d{6}\.jsonl$/)]);
  const [found] = await verifyAudit(directory);
  expect(found).toMatchObject({ ok: true, missing: [], head: log.head });
  expect(found?.from).toBeGreaterThan(1);
});

test('limits that contradict each other are an error when the log is opened', async () => {
  const directory = freshDirectory();
  await expect(openAuditLog({ directory, maxFileBytes: 600, maxTotalBytes: 1_000 })).rejects.toThrow('maxTotalBytes');
  await expect(openAuditLog({ directory, maxLineBytes: 100 })).rejects.toThrow('maxLineBytes');
});

/** A log of three files; the middle one was taken away while the log was written. */
async function logWithGap(directory: string): Promise<AuditLog> {
  const log = await openIn(directory, { sync: 'always', maxFileBytes: 1_000 });
  const client = await TestClient.open(audited(log));
  let n = 0;
  const callUntil = async (isEnough: () => boolean): Promise<void> => {
    while (!isEnough()) await client.call('echo', { n: n++ });
  };
  await callUntil(() => readdirSync(directory).includes('audit.000001.jsonl'));
  await client.call('echo', { n: n++ });
  rmSync(log.path);
  await callUntil(() => readdirSync(directory).includes('audit.000002.jsonl'));
  await log.close();
  return log;
}

test('lines that went with a removed file are named, in the middle of a log too', async () => {
  const directory = freshDirectory();
  const log = await logWithGap(directory);
  const [found] = await verifyAudit(directory);
  const [reopened] = await entries(directory, { event: 'reopened' });
  const to = Number(reopened?.details?.['firstSeq']) - 1;
  expect(found).toMatchObject({ ok: true, from: 1, head: log.head, missing: [{ to, why: 'removed' }] });
  expect(found?.missing[0]?.from).toBeLessThanOrEqual(to);
  expect(found?.lines).toBe((await entries(directory)).length);
});

test('missing lines that nothing explains break the chain', async () => {
  const directory = freshDirectory();
  const log = await logWithGap(directory);
  const second = join(directory, 'audit.000002.jsonl');
  const text = readFileSync(second, 'utf8');
  const lines = (await verifyAudit(directory))[0]?.missing[0]?.from;
  const attacks: Record<string, string> = {
    'another range': text.replace(/"firstSeq":\d+/, '"firstSeq":1'),
    'no explanation': text.replace('"event":"reopened"', '"event":"call"'),
    'one more line': text.slice(text.indexOf('\n') + 1),
  };
  for (const [what, attacked] of Object.entries(attacks)) {
    writeFileSync(second, attacked);
    const [found] = await verifyAudit(directory);
    expect(found, what).toMatchObject({ ok: false, missing: [], lines: Number(lines) - 1 });
    expect(found?.broken, what).toMatchObject({ file: second, line: 1, why: expect.stringContaining('was due') });
  }
  writeFileSync(second, text);
  rmSync(second);
  expect((await verifyAudit(directory))[0]?.broken).toMatchObject({ file: log.path, line: 1 });
});

test('a log whose folder was emptied continues, and no other process can use its name', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory, { sync: 'always' });
  const client = await TestClient.open(audited(log));
  for (const each of readdirSync(directory)) rmSync(join(directory, each));
  expect((await client.call('echo', { n: 1 })).error).toBeUndefined();
  const other = await openIn(directory);
  expect(other.path).not.toBe(log.path);
  expect((await entries(directory, { event: 'call' })).map((entry) => entry.arguments)).toEqual([{ n: 1 }]);
});

test('a log whose folder was removed rejects calls, and continues when the folder is back', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory, { sync: 'always' });
  let runs = 0;
  const server = audited(log);
  server.tool('count', { input: { type: 'object' }, run: () => String(++runs) });
  const client = await TestClient.open(server);
  rmSync(directory, { recursive: true });
  expect((await client.call('count', {})).error?.message).toContain('the request was not run');
  expect(log.status).toMatchObject({ failure: expect.stringContaining('ENOENT'), rejectedCalls: 1 });
  expect(log.monitor().status).toBe('unavailable');
  mkdirSync(directory, { mode: 0o700 });
  await expect.poll(async () => (await client.call('count', {})).error).toBeUndefined();
  expect(runs).toBe(1);
  expect(log.status.failure).toBeUndefined();
});

/** A log of 23 lines: the first and the last by themselves, the others in groups of one and of many. */
async function logOfGroups(directory: string): Promise<AuditLog> {
  const log = await openIn(directory);
  const client = await TestClient.open(audited(log));
  for (let n = 0; n < 20; n++) {
    await client.call('echo', { n });
    if (n % 6 === 3 || n >= 17) await log.flush();
  }
  await log.close();
  return log;
}

test('tampering is found, and the first line that does not fit is named', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory, { sync: 'always' });
  const client = await TestClient.open(audited(log));
  for (let n = 0; n < 20; n++) await client.call('echo', { n });
  await log.close();
  const lines = readFileSync(log.path, 'utf8').trimEnd().split('\n');
  const attacks: readonly [string, number, (lines: string[]) => void][] = [
    ['a changed argument', 8, (all) => (all[6] = (all[6] as string).replace('"n":4', '"n":5'))],
    ['a line taken out', 7, (all) => all.splice(6, 1)],
    ['a line put in twice', 8, (all) => all.splice(7, 0, all[6] as string)],
    ['two lines swapped', 7, (all) => all.splice(6, 2, all[7] as string, all[6] as string)],
    ['another number', 7, (all) => (all[6] = (all[6] as string).replace('"seq":7', '"seq":8'))],
    ['a line of another caller', 5, (all) => all.splice(4, 0, '{"event":"call"}')],
    ['an empty line', 5, (all) => all.splice(4, 0, '')],
    ['one bit', 8, (all) => (all[6] = (all[6] as string).replace('"outcome":"ok"', '"outcome":"oj"'))],
  ];
  for (const [what, line, attack] of attacks) {
    const changed = [...lines];
    attack(changed);
    writeFileSync(log.path, `${changed.join('\n')}\n`);
    const [result] = await verifyAudit(directory);
    expect(result?.ok, what).toBe(false);
    expect(result?.broken?.line, what).toBe(line);
  }
  writeFileSync(log.path, `${lines.join('\n')}\n`);
  expect((await verifyAudit(directory))[0]?.ok).toBe(true);
});

test('a changed line among lines that were written together is found, and their range is named', async () => {
  const directory = freshDirectory();
  const log = await logOfGroups(directory);
  const text = readFileSync(log.path, 'utf8');
  writeFileSync(log.path, text.replace('"n":7', '"n":8'));
  const [result] = await verifyAudit(directory);
  expect(result).toMatchObject({ ok: false, lines: 6, head: { seq: 6 }, broken: { line: 7, to: 12 } });
  expect(result?.broken?.why).toContain('one of the lines 7 to 12');
});

test('any line that is changed, removed, added or moved, in a group or at its border, is found', async () => {
  const directory = freshDirectory();
  const log = await logOfGroups(directory);
  const lines = readFileSync(log.path, 'utf8').trimEnd().split('\n');
  const link = /,"prev":"\w*"/;
  const linkOf = (line: string): string | undefined => link.exec(line)?.[0];
  const renumber = (all: string[]): string[] =>
    all.map((line, index) => line.replace(/^\{"seq":\d+/, `{"seq":${index + 1}`));
  const linked = (line: string, prev: string): string => line.replace(link, '').replace(/\}$/, `${prev}}`);
  const groups = lines.filter(linkOf).length;
  expect(groups).toBeGreaterThan(5);
  expect(groups).toBeLessThan(lines.length - 10);

  // Older lines may be deleted with their files, and the last is the end of the chain: what was done there shows only to
  // comparing with a head stored elsewhere.
  for (let at = 1; at < lines.length - 1; at++) {
    const [line, next] = [lines[at] as string, lines[at + 1] as string];
    const [before, after] = [lines.slice(0, at), lines.slice(at + 1)];
    const attacks: Record<string, string[]> = {
      changed: [...before, line.replace('"time":"2', '"time":"3'), ...after],
      removed: [...before, ...after],
      'removed, the others renumbered': renumber([...before, ...after]),
      'added twice': [...before, line, line, ...after],
      'added twice, the others renumbered': renumber([...before, line, line, ...after]),
      'swapped with the next': [...before, next, line, ...after.slice(1)],
      'swapped with the next, numbers kept in order': renumber([...before, next, line, ...after.slice(1)]),
    };
    const nextLink = linkOf(next);
    if (nextLink !== undefined) {
      attacks['moved to the next group'] = [...before, linked(line, nextLink), linked(next, ''), ...after.slice(1)];
      attacks['the next one moved to its group'] = [...before, line, linked(next, ''), ...after.slice(1)];
      attacks['made a group of its own'] = [...before, linked(line, nextLink), ...after];
    }
    for (const [what, attacked] of Object.entries(attacks)) {
      writeFileSync(log.path, `${attacked.join('\n')}\n`);
      const [result] = await verifyAudit(directory);
      expect(result?.ok, `line ${at + 1} ${what}`).toBe(false);
      expect(result?.lines, `line ${at + 1} ${what}`).toBeLessThanOrEqual(at + 1);
    }
  }
  writeFileSync(log.path, `${lines.join('\n')}\n`);
  expect((await verifyAudit(directory))[0]).toMatchObject({ ok: true, lines: 23, head: log.head });
});

test('a caller whose name cannot be encoded costs one line, and other callers nothing', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  const server = audited(log);
  const odd = await TestClient.open(server, undefined, {}, { ...alice, principal: { id: 42 as unknown as string } });
  const fine = await TestClient.open(server);
  await odd.call('echo', { n: 1 });
  await fine.call('echo', { n: 2 });
  await log.flush();
  const lines = await entries(directory);
  expect(lines.filter(({ event }) => event === 'unencodable').length).toBeGreaterThan(0);
  expect(lines.filter(({ event }) => event === 'call').map((line) => line.arguments)).toEqual([{ n: 2 }]);
  expect((await verifyAudit(directory))[0]).toMatchObject({ ok: true, lines: lines.length });
});

test('every call of a session without a name says where it came from, also after the session rested', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  const http = await serveHttp(audited(log), { port: 0, graceMs: 100 });
  try {
    const client = new Client({ name: 'missing', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(http.url)));
    for (let n = 0; n < 3; n++) await client.callTool({ name: 'echo', arguments: {} });
    await client.close();
  } finally {
    await http.close();
  }
  await log.flush();
  const calls = await entries(directory, { event: 'call' });
  expect(calls.map(({ address }) => address)).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
});

test('a log that begins in the middle of a group lacks what it belongs to', async () => {
  const directory = freshDirectory();
  const log = await logOfGroups(directory);
  const lines = readFileSync(log.path, 'utf8').trimEnd().split('\n');
  const at = lines.findIndex((line, index) => index > 0 && !line.includes('"prev"'));
  writeFileSync(log.path, `${lines.slice(at).join('\n')}\n`);
  const [result] = await verifyAudit(directory);
  expect(result).toMatchObject({ ok: false, lines: 0, broken: { line: 1 } });
  expect(result?.broken?.why).toContain('taken out');
});

test('a log in which every line names the group before it verifies, and continues', async () => {
  const directory = freshDirectory();
  let prev = '';
  let seq = 0;
  const groups = [3, 1, 4].map((count) => {
    const lines = Array.from(
      { length: count },
      () => `{"seq":${++seq},"time":"2026-01-01T00:00:00.000Z","event":"mark","prev":"${prev}"}`,
    );
    prev = createHash('sha256').update(lines.join('\n')).digest('hex');
    return lines.join('\n');
  });
  writeFileSync(join(directory, 'audit.jsonl'), `${groups.join('\n')}\n`);
  expect((await verifyAudit(directory))[0]).toMatchObject({ ok: true, lines: 8, head: { seq: 8, hash: prev } });
  await (await openAuditLog({ directory })).close();
  expect((await verifyAudit(directory))[0]).toMatchObject({ ok: true, lines: 10 });
});

test('a log in which every line names the line before it verifies, and continues', async () => {
  const directory = freshDirectory();
  let prev = '';
  const lines = Array.from({ length: 5 }, (_, index) => {
    const line = `{"seq":${index + 1},"time":"2026-01-01T00:00:00.000Z","event":"mark","prev":"${prev}"}`;
    prev = createHash('sha256').update(line).digest('hex');
    return line;
  });
  writeFileSync(join(directory, 'audit.jsonl'), `${lines.join('\n')}\n`);
  expect((await verifyAudit(directory))[0]).toMatchObject({ ok: true, lines: 5, head: { seq: 5, hash: prev } });
  await (await openAuditLog({ directory })).close();
  expect((await verifyAudit(directory))[0]).toMatchObject({ ok: true, lines: 7 });
});

test('a group of which a killed writer left only a part is covered by the next writer', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  for (let n = 0; n < 40; n++) log.record({ event: 'mark', details: { n, text: 'x'.repeat(n * 50) } });
  await log.close();
  const whole = readFileSync(log.path);
  const lines = whole.toString('utf8').trimEnd().split('\n');
  for (const kept of [1, 2, 3, 20, 41]) {
    for (const rest of ['', '{"seq":', lines[kept] as string]) {
      writeFileSync(log.path, `${lines.slice(0, kept).join('\n')}\n${rest}`);
      await (await openAuditLog({ directory })).close();
      expect((await verifyAudit(directory))[0], `${kept} ${rest.length}`).toMatchObject({ ok: true });
      const text = readFileSync(log.path, 'utf8');
      writeFileSync(log.path, text.replace(lines[kept - 1] as string, (lines[kept - 1] as string).replace('Z"', 'X"')));
      expect((await verifyAudit(directory))[0], `${kept} ${rest.length} changed`).toMatchObject({ ok: false });
    }
  }
});

test('a last group larger than what is read at first is read as a whole', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  const list = Array.from({ length: 30 }, () => ({ text: 'word '.repeat(50) }));
  for (let n = 0; n < 50; n++) log.record({ event: 'mark', details: { n, list } });
  await log.flush();
  await log.close();
  const lines = readFileSync(log.path, 'utf8').trimEnd().split('\n').slice(0, -1);
  expect(lines.slice(1).join('').length).toBeGreaterThan(300_000);
  writeFileSync(log.path, `${lines.join('\n')}\n`);
  await (await openAuditLog({ directory })).close();
  expect((await verifyAudit(directory))[0]).toMatchObject({ ok: true, lines: 53 });
});

test('lines cut off at the end are found by comparing with a head stored elsewhere', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  const client = await TestClient.open(audited(log));
  for (let n = 0; n < 5; n++) await client.call('echo', { n });
  await log.flush();
  const kept = log.head;
  await log.close();
  const lines = readFileSync(log.path, 'utf8').trimEnd().split('\n');
  writeFileSync(log.path, `${lines.slice(0, -3).join('\n')}\n`);
  const [result] = await verifyAudit(directory);
  expect(result?.ok).toBe(true);
  expect(result?.head.seq).toBeLessThan(kept.seq);
});

test('a torn last line is sealed off by the next writer, at whatever byte it was torn', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  await (await TestClient.open(audited(log))).call('echo', { word: 'grüße' });
  await log.close();
  const whole = readFileSync(log.path);
  const lastLine = whole.lastIndexOf(0x0a, whole.length - 2) + 1;
  for (let length = lastLine + 1; length < whole.length; length += 3) {
    writeFileSync(log.path, whole.subarray(0, length));
    expect((await verifyAudit(directory))[0]).toMatchObject({ ok: true, unfinished: true });
    const next = await openAuditLog({ directory });
    await next.close();
    const sealed = length === whole.length - 1 ? 0 : 1; // A line that lacks only its end is whole.
    expect((await verifyAudit(directory))[0], `torn at ${length}`).toMatchObject({
      ok: true,
      sealed,
      unfinished: false,
    });
  }
});

test('a torn line is touched only together with the line that explains it', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  await log.close();
  const torn = Buffer.concat([readFileSync(log.path), Buffer.from('{"seq":3,"ti')]);
  writeFileSync(log.path, torn);
  const opening = openAuditLog({ directory });
  // It knows by now how the log ends; were it killed here, the next one would find the same.
  expect(readFileSync(log.path)).toEqual(torn);
  await (await opening).close();
  expect((await verifyAudit(directory))[0]).toMatchObject({ ok: true, sealed: 1 });
});

test('a sealed piece that is changed afterwards breaks the chain', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  await log.close();
  writeFileSync(log.path, `${readFileSync(log.path, 'utf8')}{"seq":3,"ti`);
  await (await openAuditLog({ directory })).close();
  const text = readFileSync(log.path, 'utf8');
  expect((await verifyAudit(directory))[0]).toMatchObject({ ok: true, sealed: 1 });
  writeFileSync(log.path, text.replace('{"seq":3,"ti\n', '{"seq":3,"to\n'));
  expect((await verifyAudit(directory))[0]?.broken?.line).toBe(3);
});

test('processes that share a directory have chains of their own and take them up again', async () => {
  const directory = freshDirectory();
  const [one, two] = [await openIn(directory), await openIn(directory)];
  expect(one.path).not.toBe(two.path);
  one.record({ event: 'mark', details: { by: 1 } });
  two.record({ event: 'mark', details: { by: 2 } });
  await one.close();
  await two.close();
  const again = await openIn(directory);
  expect(again.path).toBe(one.path);
  await again.close();
  expect(await verifyAudit(directory)).toMatchObject([
    { name: 'audit', ok: true, lines: 5 },
    { name: 'audit-2', ok: true, lines: 3 },
  ]);
  expect((await entries(directory, { event: 'mark' })).map(({ details }) => details?.['by'])).toEqual([1, 2]);
});

test('with the strictest policy the line is on the disk before the answer leaves', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory, { sync: 'always' });
  const client = await TestClient.open(audited(log));
  for (let n = 0; n < 10; n++) {
    await client.call(n % 2 === 0 ? 'echo' : 'fail', { n });
    const lines = readFileSync(log.path, 'utf8').trimEnd().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '').arguments).toEqual({ n });
  }
  await client.call('ghost', {});
  expect(readFileSync(log.path, 'utf8')).toContain('"name":"ghost"');
  expect(await entries(directory, { event: 'call' })).toHaveLength(11);
});

test('unauthenticated callers who send invalid messages cannot fill the disk', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  const client = await TestClient.open(audited(log));
  for (let n = 0; n < 5_000; n++) client.send({ jsonrpc: '2.0', id: n, method: `garbage-${n}` });
  await log.close();
  const rejections = await entries(directory, { event: 'invalid-message' });
  const [suppressed] = await entries(directory, { event: 'suppressed' });
  expect(rejections.length).toBeLessThan(1_000);
  expect(rejections.length + Number(suppressed?.details?.['count'])).toBe(5_000);
});

test('the last lines can be shown and followed, over a change of files', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory, { maxFileBytes: 400 });
  for (let n = 0; n < 5; n++) log.record({ event: 'mark', details: { n } });
  await log.flush();
  const stop = new AbortController();
  const seen: unknown[] = [];
  for await (const { details } of tailAudit(directory, { lines: 2, filter: { event: 'mark' }, follow: stop.signal })) {
    seen.push(details?.['n']);
    if (seen.length === 2) {
      for (let n = 5; n < 12; n++) {
        log.record({ event: 'mark', details: { n } });
        await log.flush();
      }
    }
    if (seen.length === 9) stop.abort();
  }
  expect(seen).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test('lines can be found by who, what, how and when', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  const server = audited(log);
  const [one, two] = [await TestClient.open(server, undefined, {}, alice), await TestClient.open(server)];
  await one.call('echo', {});
  await two.call('fail', {});
  await log.flush();
  expect(await entries(directory, { principal: 'al*', event: 'call' })).toHaveLength(1);
  expect((await entries(directory, { outcome: 'failed' })).map(({ name }) => name)).toEqual(['fail']);
  expect(await entries(directory, { since: new Date(Date.now() + 60_000) })).toEqual([]);
});

test('a line shown on a terminal cannot play tricks with it', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  await (await TestClient.open(audited(log))).call('echo', { text: '\u001b[2Jgone\u202Etxt.exe' });
  await log.flush();
  const [call] = await entries(directory, { event: 'call' });
  const shown = formatEntry(call as AuditEntry);
  expect(shown).toContain('echo');
  expect(shown).not.toMatch(/[\u001b\u202e]/);
});

test('only the owner can read the files', async () => {
  const directory = join(freshDirectory(), 'logs');
  const log = await openIn(directory);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(statSync(log.path).mode & 0o777).toBe(0o600);
});

test('an existing folder keeps its mode; one that all users may write to is rejected, one for a group is a warning', async () => {
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  const open = async (mode: number): Promise<string> => {
    const place = temporaryFolder();
    chmodSync(place, mode);
    try {
      await (await openAuditLog({ directory: place, logger })).close();
      return `${(statSync(place).mode & 0o777).toString(8)} ${warnings.splice(0).length}`;
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(await open(0o755)).toBe('755 0');
  expect(await open(0o775)).toBe('775 1');
  expect(await open(0o777)).toContain('all users can write');
});

test('gigabytes without a line break, as a disk error leaves them, are not read into memory', async () => {
  const directory = freshDirectory();
  const log = await openIn(directory);
  await log.flush();
  const { size } = statSync(log.path);
  truncateSync(log.path, size + 600_000_000);
  const broken = { file: log.path, line: 2, why: 'it is not a line of this log' };
  expect((await verifyAudit(directory))[0]).toMatchObject({ ok: false, lines: 0, broken });
  appendFileSync(log.path, '\n{}\n');
  expect((await verifyAudit(directory))[0]).toMatchObject({ ok: false, lines: 0, broken });
  expect(await entries(directory)).toHaveLength(1);
});
