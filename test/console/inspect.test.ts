// `mooring inspect`: servers of others through our client, a proxy between a client and a server, and lost connections.

import { existsSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import type { CallStarted, ConsoleState, Lists, Validated } from '../../src/console/api.ts';
import { createServer, serveHttp } from '../../src/index.ts';
import { cli, useHome } from '../support/program.ts';
import { line, rawRequest } from './console-client.ts';
import { endOf, startConsole } from './program.ts';

const home = useHome();
const servers = resolve(import.meta.dirname, '../client/servers');
const everything = resolve(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

const targets = {
  'server-everything': { command: [everything, 'stdio'], echo: { message: 'hi' } },
  'the older SDK': { command: [resolve(servers, 'sdk-old.mjs'), 'stdio'], echo: { text: 'hi' } },
  'the newer SDK': { command: [resolve(servers, 'sdk-new.mjs'), 'stdio'], echo: { text: 'hi' } },
};

test.for(Object.entries(targets))('%s: lists, validation and calls', async ([, { command, echo }]) => {
  const { client, child } = await startConsole(home, ['inspect', '--no-open', process.execPath, ...command]);
  const feed = await client.feed();
  await feed.until(({ batches }) => batches.some(({ connection }) => connection?.status === 'connected'));
  const state = await client.get<ConsoleState>('state');
  expect(state).toMatchObject({
    mode: 'inspect',
    connection: { status: 'connected', revision: expect.stringMatching(/^20/) },
  });
  expect(state.server.name).not.toContain('node');
  const revision = state.connection?.revision ?? '';
  const lists = await client.get<Lists>('lists');
  expect(lists.tools.map(({ name }) => name)).toContain('echo');
  const wrong = await client.post<Validated>('validate', { tool: 'echo', argumentsText: '{}' });
  expect(wrong.issues).toHaveLength(1);
  const params = { name: 'echo', arguments: echo };
  const { call } = await client.post<CallStarted>('calls', { method: 'tools/call', params });
  const done = await feed.call(call, 'done', 'failed');
  expect(done.resultText).toContain('hi');
  expect(done.entries?.length).toBeGreaterThanOrEqual(2);
  const entry = await feed.until(({ entries }) =>
    entries.find(({ name, kind }) => name === 'echo' && kind === 'response'),
  );
  expect(line(entry)).toBe('out response tools/call echo ok');
  expect(feed.peers.get(entry.peer)).toMatchObject({ transport: 'stdio', revision: state.connection?.revision });
  // Servers of older revisions do not know the request with which our client asks for the newest one. That is no failure.
  const found = feed.entries.filter(({ method, kind }) => method === 'server/discover' && kind === 'response');
  expect(found.map(({ outcome }) => outcome)).toEqual([revision >= '2026' ? 'ok' : 'unsupported']);
  feed.close();
  child.kill('SIGTERM');
  expect(await endOf(child)).toEqual({ code: 0, signal: null });
});

test.skipIf(process.platform === 'win32')(
  'SIGHUP comes twice when a terminal is closed; the server can end by itself nevertheless',
  async () => {
    const [ending, ended] = [home.file('ending'), home.file('ended')];
    const file = home.file('server.mjs');
    writeFileSync(
      file,
      `import { writeFileSync } from 'node:fs';
       import { createServer, serveStdio } from ${JSON.stringify(pathToFileURL(resolve('dist/index.js')).href)};
       const server = createServer({ name: 'slow', version: '1.0.0' });
       process.stdin.on('end', () => {
         writeFileSync(${JSON.stringify(ending)}, '');
         setTimeout(() => { writeFileSync(${JSON.stringify(ended)}, ''); process.exit(0); }, 300);
       });
       await serveStdio(server, { ownProcess: false });`,
    );
    const { client, child } = await startConsole(home, ['inspect', '--no-open', process.execPath, file]);
    const feed = await client.feed();
    await feed.until(({ batches }) => batches.some(({ connection }) => connection?.status === 'connected'));
    feed.close();
    child.kill('SIGHUP');
    await expect.poll(() => existsSync(ending), { interval: 10 }).toBe(true);
    child.kill('SIGHUP');
    expect(await endOf(child)).toEqual({ code: 0, signal: null });
    expect(existsSync(ended)).toBe(true);
  },
);

test('an input request of a server elsewhere is answered in the console', async () => {
  const { client } = await startConsole(home, [
    'inspect',
    '--no-open',
    process.execPath,
    resolve(servers, 'sdk-old.mjs'),
    'stdio',
  ]);
  const feed = await client.feed();
  const { call } = await client.post<CallStarted>('calls', {
    method: 'tools/call',
    params: { name: 'ask', arguments: {} },
  });
  const { inputs = [] } = await feed.call(call, 'input-required', 'failed');
  expect(inputs).toMatchObject([{ method: 'elicitation/create' }]);
  await client.post(`calls/${call}/input`, {
    key: inputs[0]?.key,
    result: { action: 'accept', content: { name: 'Ada' } },
  });
  expect((await feed.call(call, 'done', 'failed')).resultText).toContain('Hello, Ada!');
  feed.close();
});

test('a server that cannot be reached is said to be so, and is found when it is there', async () => {
  const probe = createHttpServer().listen(0, '127.0.0.1');
  await new Promise((done) => probe.once('listening', done));
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  const url = `http://127.0.0.1:${port}/mcp`;
  const { client, said, lines } = await startConsole(home, ['inspect', '--no-open', '--no-login', url]);
  const feed = await client.feed();
  const status = (wanted: string) =>
    feed.until(({ batches }) => batches.find(({ connection }) => connection?.status === wanted)?.connection);
  expect((await status('failed')).reason).toBeDefined();
  // On the terminal as well, once and as other commands print it.
  await said('The console tries again');
  const { stderr } = await home.run(['tools', '--no-login', url]);
  await expect
    .poll(() => feed.batches.filter(({ connection }) => connection?.status === 'failed').length)
    .toBeGreaterThan(1);
  expect(lines.filter((line) => !line.startsWith('console on '))).toEqual([
    ...stderr.trimEnd().split('\n'),
    'The console tries again until the server responds.',
  ]);
  const server = createServer({ name: 'late', version: '1.0.0', logger: false });
  server.tool('now', { run: () => 'now' });
  const served = await serveHttp(server, { port });
  expect(await status('connected')).toMatchObject({ target: `http://127.0.0.1:${port}/mcp` });
  feed.close();
  await served.close();
});

test('a command that cannot be started is named on the terminal', async () => {
  const { said, lines } = await startConsole(home, ['inspect', '--no-open', process.execPath, 'missing.mjs', 'x']);
  expect(await said('mooring: ')).toMatch(/^The server ".* missing\.mjs x" exited with code 1\. /);
  expect(lines.join('\n')).not.toContain('tries again');
});

test('a server that crashes is started again, and the page is told', async () => {
  const file = home.file('crash.mjs');
  const entry = pathToFileURL(resolve(cli, '../index.js')).href;
  writeFileSync(
    file,
    `import { createServer, serveStdio } from ${JSON.stringify(entry)};
    const server = createServer({ name: 'fragile', version: '1.0.0' });
    server.tool('crash', { run: () => process.exit(3) });
    server.tool('pid', { run: () => String(process.pid) });
    await serveStdio(server);`,
  );
  const { client } = await startConsole(home, ['inspect', '--no-open', process.execPath, file]);
  const feed = await client.feed();
  const call = async (name: string) => {
    const started = await client.post<CallStarted>('calls', { method: 'tools/call', params: { name } });
    return feed.call(started.call, 'done', 'failed');
  };
  const states = () => feed.batches.flatMap(({ connection }) => (connection === undefined ? [] : [connection.status]));
  const before = (await call('pid')).resultText;
  expect((await call('crash')).status).toBe('failed');
  await feed.until(() => states().includes('lost'));
  await feed.until(() => states().lastIndexOf('connected') > states().indexOf('lost'));
  const after = await call('pid');
  expect(after.status).toBe('done');
  expect(after.resultText).not.toBe(before);
  feed.close();
});

test('a server on HTTP that is gone is noticed with the next call, and found again', async () => {
  const server = createServer({ name: 'restarted', version: '1.0.0', logger: false });
  server.tool('now', { run: () => 'now' });
  const first = await serveHttp(server, { port: 0, graceMs: 0 });
  const { client } = await startConsole(home, ['inspect', '--no-open', '--no-login', first.url]);
  const feed = await client.feed();
  const status = (wanted: string, from = 0) =>
    feed.until(
      ({ batches }) => batches.slice(from).find(({ connection }) => connection?.status === wanted)?.connection,
    );
  await status('connected');
  await first.close();
  const { call } = await client.post<CallStarted>('calls', { method: 'tools/call', params: { name: 'now' } });
  await feed.call(call, 'failed');
  await status('lost');
  const seen = feed.batches.length;
  const second = await serveHttp(server, { port: first.port });
  await status('connected', seen);
  feed.close();
  await second.close();
});

test('read-only: nothing can be called; wrong uses are explained', async () => {
  const { client } = await startConsole(home, [
    'inspect',
    '--no-open',
    '--read-only',
    process.execPath,
    resolve(servers, 'sdk-old.mjs'),
    'stdio',
  ]);
  await expect(client.post('calls', { method: 'tools/call', params: { name: 'echo' } })).rejects.toThrow('403');
  for (const args of [
    ['--wrap'],
    [],
    ['--open', 'a', '--proxy', 'http://x'],
    ['--proxy', 'ftp://x'],
    ['--open', '/none'],
    ['x', '--port', 'p'],
  ]) {
    const { code } = await home.run(['inspect', ...args]);
    expect(code, args.join(' ')).toBe(2);
  }
});

async function proxied(options: Parameters<typeof serveHttp>[1] = {}) {
  const server = createServer({ name: 'behind', version: '5.0.0', logger: false });
  server.tool('echo', { input: { type: 'object' }, run: (args) => JSON.stringify(args) });
  server.tool('ask', {
    run: async (_args, ctx) => JSON.stringify(await ctx.elicit('Sure?', { type: 'object', properties: {} })),
  });
  const served = await serveHttp(server, { port: 0, graceMs: 100, ...options });
  const { client, said, child } = await startConsole(home, ['inspect', '--no-open', '--proxy', served.url]);
  const url = await said('proxy on ');
  const feed = await client.feed();
  return { served, url, client, feed, child };
}

test.for(['handshake', '2026-07-28'])(
  '--proxy, %s: clients work through it, and their messages are shown',
  async (revision) => {
    const { served, url, feed } = await proxied();
    expect(new URL(url).pathname).toBe('/mcp');
    const handlers = { elicit: () => ({ action: 'accept' as const, content: {} }) };
    const through = await connect(url, { revision, handlers });
    expect(through.serverInfo).toMatchObject({ name: 'behind' });
    await through.callTool('echo', { a: 1 });
    expect(await through.callTool('ask')).toMatchObject({ content: [{ text: expect.stringContaining('accept') }] });
    const response = await feed.until(({ entries }) =>
      entries.find(({ name, kind, outcome }) => name === 'ask' && kind === 'response' && outcome === 'ok'),
    );
    const group = feed.entries.filter((entry) => entry.group === response.group).map(line);
    expect(group[0]).toBe('in request tools/call ask');
    expect(group).toHaveLength(4);
    const peer = feed.peers.get(response.peer);
    expect(peer).toMatchObject({ transport: 'http', client: expect.stringContaining('mooring') });
    await through.close();
    feed.close();
    await served.close();
  },
);

test('--proxy: clients of the older transport, too', async () => {
  const { served, url, feed } = await proxied();
  const through = await connect({ type: 'sse', url: url.replace('/mcp', '/sse') });
  await through.callTool('echo', { a: 1 });
  const response = await feed.until(({ entries }) =>
    entries.find(({ name, kind }) => name === 'echo' && kind === 'response'),
  );
  expect(line(response)).toBe('out response tools/call echo ok');
  await through.close();
  feed.close();
  await served.close();
});

test('--proxy: status, headers and bodies are those of the server, and other hosts are rejected', async () => {
  const { served, url, feed } = await proxied();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'nothing' });
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  const ask = (to: string, more: Record<string, string> = {}) =>
    rawRequest(to, { method: 'POST', body, headers: { ...headers, ...more } });
  const [direct, relayed] = [await ask(served.url), await ask(url)];
  expect(relayed.status).toBe(direct.status);
  expect(relayed.text).toBe(direct.text);
  // Those of the connection are our own.
  const { date: _first, 'keep-alive': _own, ...directHeaders } = direct.headers;
  const { date: _second, 'keep-alive': _other, ...relayedHeaders } = relayed.headers;
  expect(relayedHeaders).toEqual(directHeaders);
  expect((await ask(url, { Host: 'rebound.example' })).status).toBe(403);
  expect((await ask(url, { Origin: 'https://other.example' })).status).toBe(403);
  feed.close();
  await served.close();
  expect((await ask(url)).status).toBe(502);
});
