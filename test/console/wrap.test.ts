// `mooring inspect --wrap`: bytes, exit codes and signals are those of the command, and no process is left.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, test } from 'vitest';
import { isRunning } from '../support/is-running.ts';
import { cli, useHome } from '../support/program.ts';
import { line } from './console-client.ts';
import { endOf, startConsole } from './program.ts';

const home = useHome();
const wrap = ['inspect', '--wrap', '--'] as const;
const oldSdk = resolve(import.meta.dirname, '../client/servers/sdk-old.mjs');

/** Runs a command to its end with this input. */
async function output(command: readonly string[], input: Buffer): Promise<{ code: number | null; stdout: Buffer }> {
  const child = spawn(command[0] as string, command.slice(1), { env: home.env, stdio: ['pipe', 'pipe', 'ignore'] });
  home.adopt(child);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, stdout: Buffer.concat(chunks) };
}

const wrapped = (...command: string[]): string[] => [process.execPath, cli, ...wrap, ...command];

test('bytes pass unchanged in both directions, whatever they are', async () => {
  const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const inputs = [
    Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n\n  \n{"id":2}'),
    Buffer.concat([everyByte, Buffer.from('\n'), everyByte]),
    Buffer.alloc(3_000_000, 'long line '),
    Buffer.from(''),
  ];
  for (const input of inputs) {
    const direct = await output(['cat'], input);
    const relayed = await output(wrapped('cat'), input);
    expect(relayed.code).toBe(direct.code);
    expect(relayed.stdout.equals(input)).toBe(true);
  }
});

test('a conversation with a server is byte for byte the same', async () => {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const messages = [
    { jsonrpc: '2.0', id: 1, method: 'initialize', params },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/list' },
  ];
  const input = Buffer.from(messages.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const direct = await output([process.execPath, oldSdk, 'stdio'], input);
  const relayed = await output(wrapped(process.execPath, oldSdk, 'stdio'), input);
  expect(direct.stdout.length).toBeGreaterThan(500);
  expect(relayed.stdout.toString()).toBe(direct.stdout.toString());
});

test.for([
  ['exit 0', { code: 0, signal: null }],
  ['exit 7', { code: 7, signal: null }],
  ['kill -TERM $$', { code: null, signal: 'SIGTERM' }],
  ['kill -KILL $$', { code: null, signal: 'SIGKILL' }],
] as const)('a command that ends with "%s" ends us the same way, though stdin is open', async ([script, expected]) => {
  const child = home.start([...wrap, '/bin/sh', '-c', script]);
  child.stderr?.resume();
  expect(await endOf(child)).toEqual(expected);
});

test('a command that does not exist ends with the code of a shell', async () => {
  const { code, stderr } = await home.run([...wrap, 'no-such-program-here']);
  expect(code).toBe(127);
  expect(stderr).toContain('no-such-program-here');
});

test.for(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const)('%s is passed on to the command', async (signal) => {
  const script = `process.on('${signal}', () => process.exit(42)); setInterval(() => {}, 1000); process.stdout.write('ready\\n');`;
  const child = home.start([...wrap, process.execPath, '-e', script]);
  child.stderr?.resume();
  await new Promise((done) => child.stdout?.once('data', done));
  child.kill(signal);
  expect(await endOf(child)).toEqual({ code: 42, signal: null });
});

test('no process is left when we are killed, even if the command ignores the end of its input', async () => {
  const file = home.file('pid');
  const script = `require('fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`;
  const child = home.start([...wrap, process.execPath, '-e', script]);
  child.stderr?.resume();
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8') !== '', { timeout: 20_000 }).toBe(true);
  const pid = Number(readFileSync(file, 'utf8'));
  child.kill('SIGKILL');
  await endOf(child);
  await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false);
});

test('a client of others works through it, and the console shows what the two say', async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli, ...wrap, process.execPath, oldSdk, 'stdio'],
    env: home.env,
    stderr: 'pipe',
  });
  const client = new Client({ name: 'foreign', version: '1.0.0' });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    said += String(chunk);
  });
  await client.connect(transport);
  expect(await client.callTool({ name: 'echo', arguments: { text: 'hi' } })).toMatchObject({
    content: [{ text: 'hi' }],
  });
  await expect.poll(() => /console on (\S+)/.exec(said)?.[1]).toBeDefined();
  const { ConsoleClient } = await import('./console-client.ts');
  const console = new ConsoleClient(/console on (\S+)/.exec(said)?.[1] as string);
  const feed = await console.feed();
  const response = await feed.until(({ entries }) =>
    entries.find(({ name, kind }) => name === 'echo' && kind === 'response'),
  );
  expect(line(response)).toBe('out response tools/call echo ok');
  expect(feed.peers.get(response.peer)).toMatchObject({ client: 'foreign 1.0.0', transport: 'stdio' });
  expect(await console.get('state')).toMatchObject({
    mode: 'relay',
    server: { name: expect.any(String) },
    connection: { status: 'connected' },
  });
  feed.close();
  await client.close();
});

test('everything is recorded to a file that only its owner can read, and is not overwritten', async () => {
  const file = home.file('traffic.ndjson');
  const { code } = await home.run(['inspect', '--wrap', '--record', file, '--', 'cat'], {
    input: '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"token":"hunter2"}}\n',
  });
  expect(code).toBe(0);
  const text = readFileSync(file, 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each));
  expect(lines.map(({ type }) => type)).toEqual(['recording', 'peer', 'message', 'message']);
  expect(text).not.toContain('hunter2');
  writeFileSync(home.file('kept'), 'mine');
  const again = await home.run(['inspect', '--wrap', '--record', home.file('kept'), '--', 'cat']);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('already exists') });
  expect(readFileSync(home.file('kept'), 'utf8')).toBe('mine');
  const { client, child } = await startConsole(home, ['inspect', '--open', file]);
  const feed = await client.feed();
  const opened = await feed.until(({ entries }) => entries.length === 2 && entries);
  expect(opened.map(line)).toEqual(['in request ping', 'out request ping']);
  feed.close();
  child.kill('SIGTERM');
  expect(await endOf(child)).toEqual({ code: 0, signal: null });
});
