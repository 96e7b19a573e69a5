// Profile `system` through the wire: commands in the sandbox, their rejections, their end, their limits, their audit.

import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemProfile } from '../../../src/app/profiles/system.ts';
import { silentLogger } from '../../../src/common/logger.ts';
import { createServer } from '../../../src/engine/server.ts';
import { defaultPrograms, system } from '../../../src/packs/system/index.ts';
import { type AuditEntry, openAuditLog, queryAudit } from '../../../src/security/audit/index.ts';
import { afterwards, assemble, makeFolder, makeSettings, memoryLogger, useProfiles } from '../../support/profile.ts';
import { TestClient } from '../../support/test-client.ts';
import { answer, haveSandbox, noBus, old, open, processes, texts, uriOf } from './session.ts';

useProfiles();

const execute = (client: TestClient, command: string, args?: readonly string[]) =>
  client.call('execute_command', { command, ...(args === undefined ? {} : { args }) });

describe.skipIf(!haveSandbox)('in the sandbox', () => {
  test('S4-6: the tool, as the document shows it', async () => {
    const { client } = await open();
    const { tools } = (await client.request('tools/list')).result;
    expect(tools[0]).toEqual({
      name: 'execute_command',
      description: 'Execute a shell command',
      inputSchema: {
        type: 'object',
        properties: { command: { type: 'string' }, args: { type: 'array', items: { type: 'string' } } },
        required: ['command'],
      },
    });
  });

  test('S4-7 S4-9: output is one block of text; args may be left out', async () => {
    const { client } = await open();
    const { result } = await execute(client, 'ls', ['-la', '/tmp']);
    expect(Object.keys(result)).toEqual(['content']);
    expect(result.content).toHaveLength(1);
    expect(result.content[0]).toMatchObject({ type: 'text', text: expect.stringMatching(/^total \d+\ndrwxrwxrwt/) });
    expect(texts(await execute(client, 'uname'))).toBe('Linux\n');
    expect(texts(await execute(client, 'echo', ['$HOME', '`id`', '; ls', '*']))).toBe('$HOME `id` ; ls *\n');
  });

  test('a program can write to /dev/stdout and /dev/stderr', async () => {
    const { client } = await open({ allowedCommands: ['sh'] });
    const script = 'echo out > /dev/stdout; echo also > /dev/fd/1; echo err > /dev/stderr';
    const { result } = await execute(client, 'sh', ['-c', script]);
    expect(result.isError).toBeUndefined();
    expect(texts({ result })).toBe('out\nalso\nerr\n');
  });

  test('S4-8 S4-44: a failure is a result that says so', async () => {
    const { client } = await open();
    const { result } = await execute(client, 'cat', ['/nonexistent']);
    expect(result.isError).toBe(true);
    expect(texts({ result })).toMatch(/^Command failed: .*No such file or directory/);
  });

  test('S4-43: arguments are checked by the schema; at this revision a violation is a protocol error', async () => {
    const { client } = await open();
    for (const args of [{}, { command: 5 }, { command: 'ls', args: 'x' }, { command: 'ls', args: [1] }]) {
      expect((await client.call('execute_command', args)).error?.code).toBe(-32602);
    }
  });

  test('S4-47: what is not on the list is not run', async () => {
    const folder = makeFolder({ open: true });
    writeFileSync(join(folder, 'keep'), 'x');
    const { client } = await open({ roots: [folder] });
    for (const command of ['rm', '/bin/rm', 'sh', '../bin/ls', 'ls; rm', 'env', 'python3', 'toString', '__proto__']) {
      const { result } = await execute(client, command, [join(folder, 'keep')]);
      expect(result.isError, command).toBe(true);
      expect(texts({ result })).toMatch(
        /^Command failed: permission denied: .* is not an allowed command \(allowed: ls, /,
      );
    }
    for (const args of [
      ['-f', 'keep'],
      ['--follow', 'keep'],
    ]) {
      expect(texts(await execute(client, 'tail', args))).toMatch(
        /^Command failed: permission denied: Argument not allowed/,
      );
    }
    expect(texts(await execute(client, 'cat', [join(folder, 'keep')]))).toBe('x');
  });

  test('S4-47: the operator’s list takes the place of the documented one', async () => {
    const { client } = await open({ allowedCommands: ['basename'] });
    expect(texts(await execute(client, 'basename', ['/a/b']))).toBe('b\n');
    expect((await execute(client, 'ls')).result.isError).toBe(true);
    await expect(open({ allowedCommands: ['no-such-program'] })).rejects.toThrow('no-such-program');
  });

  test('S4-46: a command is a process apart, with its own environment, folder, files, network and limits', async () => {
    const folder = makeFolder({ open: true });
    writeFileSync(join(folder, 'a.txt'), 'a');
    process.env['MOORING_TEST_SECRET'] = 'hunter2';
    const limitedTo = (timeoutMs: number) =>
      open({
        roots: [folder],
        allowedCommands: ['env', 'cat', 'ls', 'sh', 'seq', 'pwd'],
        packs: { ...noBus, system: { commands: { limits: { timeoutMs, maxOutputBytes: 2000 } } } },
      });
    const { client } = await limitedTo(20_000);
    delete process.env['MOORING_TEST_SECRET'];
    const environment = texts(await execute(client, 'env'));
    expect(environment).not.toContain('hunter2');
    expect(
      environment
        .trim()
        .split('\n')
        .map((line) => line.split('=')[0])
        .sort(),
    ).toEqual(['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'TMPDIR', 'USER'].sort());
    expect(texts(await execute(client, 'pwd'))).toBe(`${folder}\n`);
    expect(texts(await execute(client, 'sh', ['-c', 'echo x > a.txt']))).toContain('Read-only file system');
    expect(texts(await execute(client, 'cat', ['/etc/shadow']))).toMatch(/^Command failed/);
    expect(texts(await execute(client, 'cat', ['/proc/net/dev']))).not.toContain('eth');
    const { client: hurried } = await limitedTo(1000);
    expect(texts(await execute(hurried, 'sh', ['-c', 'while :; do :; done']))).toBe(
      'Command failed: timed out after 1000 ms',
    );
    expect(texts(await execute(client, 'seq', ['1', '100000']))).toMatch(
      /^Command failed: it printed more than is allowed\n1\n2\n/,
    );
  });

  test('S4-27: commands see the folders that the client works in, and no others', async () => {
    const folder = makeFolder({ open: true });
    for (const name of ['a', 'b']) {
      mkdirSync(join(folder, name), { mode: 0o755 });
      writeFileSync(join(folder, name, 'file'), name);
    }
    const { client } = await open({ roots: [folder] }, { roots: { listChanged: true } });
    const listed = execute(client, 'ls', ['-a']);
    await answer(client, 'roots/list', { roots: [{ uri: uriOf(join(folder, 'a')) }] });
    expect(texts(await listed)).toBe('.\n..\nfile\n');
    expect(texts(await execute(client, 'cat', [join(folder, 'a/file')]))).toBe('a');
    expect((await execute(client, 'cat', [join(folder, 'b/file')])).result.isError).toBe(true);
  });

  test('S4-37 S4-39: a cancelled command gets no response, and its processes end', async () => {
    const { client } = await open();
    const params = { name: 'execute_command', arguments: { command: 'sleep', args: ['31536004'] } };
    for (const id of ['req_123', 124]) {
      client.send({ jsonrpc: '2.0', id, method: 'tools/call', params });
      await expect.poll(() => processes('sleep 31536004')).toBeGreaterThan(0);
      client.notify('notifications/cancelled', { requestId: id, reason: 'User cancelled operation' });
      await expect.poll(() => processes('sleep 31536004')).toBe(0);
      await client.request('ping');
      expect(client.received.some((each) => each.id === id)).toBe(false);
    }
  });

  test('S4-38: cancelling what is unknown or over is ignored', async () => {
    const { client } = await open();
    await client.request('ping', undefined, 'done');
    for (const requestId of ['done', 'never', 77]) client.notify('notifications/cancelled', { requestId });
    expect(texts(await execute(client, 'echo', ['alive']))).toBe('alive\n');
  });

  test('S4-36 S4-60: a long command reports progress in fractions, only if requested, and can be cancelled', async () => {
    const { client } = await open();
    const params = { name: 'execute_command', arguments: { command: 'sleep', args: ['31536005'] } };
    const _meta = { progressToken: 'index_build_123' };
    client.send({ jsonrpc: '2.0', id: 'quiet', method: 'tools/call', params });
    client.send({ jsonrpc: '2.0', id: 'loud', method: 'tools/call', params: { ...params, _meta } });
    const progress = () =>
      client.received.filter((each) => each.method === 'notifications/progress').map((each) => each.params);
    await client.next(() => progress().length >= 3);
    client.notify('notifications/cancelled', { requestId: 'loud' });
    client.notify('notifications/cancelled', { requestId: 'quiet' });
    await expect.poll(() => processes('sleep 31536005')).toBe(0);
    for (const { progressToken, total } of progress()) expect([progressToken, total]).toEqual(['index_build_123', 1]);
    const values = progress().map((each) => each.progress);
    expect(values).toEqual([...values].sort((a, b) => a - b));
    expect(values.at(-1)).toBeLessThan(1);
    expect(Number.isInteger(values.at(-1))).toBe(false);
  });

  test('S4-51: expensive calls have a limit of their own, and cheap ones go on', async () => {
    const { client } = await open();
    const answers = await Promise.all(Array.from({ length: 30 }, () => execute(client, 'echo', ['x'])));
    const rejected = answers.filter(({ error }) => error !== undefined);
    expect(rejected.length).toBeGreaterThanOrEqual(8);
    expect(rejected[0]?.error).toMatchObject({ code: -32000, message: 'Rate limit exceeded' });
    expect((await client.request('prompts/list')).result.prompts).toHaveLength(1);
  });

  test('S4-49 S4-50: calls, rejections, reads and starts of programs are in the audit log, without secrets', async () => {
    const directory = makeFolder();
    const audit = await openAuditLog({ directory });
    const settings = makeSettings('system', { packs: noBus });
    const { server } = await systemProfile.assemble({ logger: silentLogger, version: '0', settings, audit });
    await server.use(audit);
    const client = await TestClient.open(server, old, {}, { transport: 'memory', principal: { id: 'ada' } });
    await execute(client, 'echo', ['--token=sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c']);
    await execute(client, 'rm', ['x']);
    await client.call('missing', {});
    await client.request('resources/read', { uri: 'file:///etc/passwd' });
    await server.close();
    const entries: AuditEntry[] = [];
    for await (const entry of queryAudit(directory)) entries.push(entry);
    const calls = entries.filter(({ event }) => event === 'call');
    expect(calls).toMatchObject([
      {
        name: 'execute_command',
        principal: 'ada',
        outcome: 'ok',
        ms: expect.any(Number),
        arguments: { command: 'echo' },
      },
      { name: 'execute_command', outcome: 'failed', arguments: { command: 'rm' } },
      { name: 'missing', outcome: 'rejected', code: -32602 },
    ]);
    expect(calls.every(({ time, session }) => time !== undefined && session !== undefined)).toBe(true);
    expect(entries.filter(({ event }) => event === 'read')).toMatchObject([
      { name: 'file:///etc/passwd', outcome: 'rejected' },
    ]);
    expect(entries.filter(({ event }) => event === 'spawn').map(({ outcome }) => outcome)).toEqual([
      'begun',
      'ended',
      'begun',
      'rejected',
    ]);
    expect(JSON.stringify(entries)).not.toContain('sk-live');
  });
});

test.skipIf(!haveSandbox)(
  'a folder that the sandbox’s user cannot enter is left out with a word, and stays readable as a resource',
  async () => {
    const [closed, entered] = [makeFolder(), makeFolder({ open: true })];
    for (const folder of [closed, entered]) writeFileSync(join(folder, 'a'), folder);
    // To be passed through, not to be looked into.
    chmodSync(closed, 0o311);
    afterwards(() => chmodSync(closed, 0o700));
    const logger = memoryLogger();
    const { server } = await assemble('system', { roots: [closed, entered], packs: noBus }, logger);
    const client = await TestClient.open(server, old);
    expect(logger.lines.join('\n')).toContain(`commands cannot access ${closed}`);
    expect(texts(await execute(client, 'cat', ['a']))).toBe(entered);
    const { result } = await client.request('resources/read', { uri: uriOf(join(closed, 'a')) });
    expect(result.contents[0].text).toBe(closed);
  },
);

describe('below the kernel level, where the operator chose it', () => {
  test('the arguments of listed programs are limited to the folders', async () => {
    const folder = makeFolder({ open: true });
    writeFileSync(join(folder, 'a.txt'), 'one\ntwo\n');
    symlinkSync('/etc/hostname', join(folder, 'link'));
    const packs = { ...noBus, system: { commands: { level: 'none' } } };
    const { client } = await open({ roots: [folder], packs });
    expect(texts(await execute(client, 'head', ['-n', '1', 'a.txt']))).toBe('one\n');
    expect(texts(await execute(client, 'cat', [join(folder, 'a.txt')]))).toBe('one\ntwo\n');
    expect(texts(await execute(client, 'echo', ['/etc/passwd']))).toBe('/etc/passwd\n');
    for (const path of ['/etc/passwd', '../x', join(folder, 'link'), `${folder}/../`, 'missing']) {
      expect(texts(await execute(client, 'cat', [path])), path).toMatch(/^Command failed: permission denied: /);
    }
  });

  test('without folders there is nothing to look at', async () => {
    const { client } = await open({ packs: { ...noBus, system: { commands: { level: 'none' } } } });
    expect(texts(await execute(client, 'ls'))).toBe('Command failed: permission denied: no folder is open');
    expect(texts(await execute(client, 'echo', ['x']))).toBe('x\n');
  });
});

test('S4-46: without the sandbox there is no execute_command, and the log says why', async () => {
  const logger = memoryLogger();
  const server = createServer({ name: 's', version: '1', logger });
  // Root is rejected to root, and anybody else to everybody else: no machine has this level.
  const runAs = { uid: process.getuid?.() === 0 ? 0 : 1, gid: 0 };
  await server.use(system({ commands: { runAs } }));
  expect(server.catalog.tools.has('execute_command')).toBe(false);
  expect(logger.lines.join('\n')).toContain('execute_command is disabled: Sandbox level "kernel" does not work');
});

test('the documented programs are those of the docs, word for word', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/packs/system.md'), 'utf8');
  const listed = /replaces the list:\n\n([\s\S]+?)\n\n/.exec(page)?.[1] ?? '';
  expect([...listed.matchAll(/`([a-z]+)`/g)].map((match) => match[1])).toEqual(defaultPrograms.map(({ name }) => name));
});
