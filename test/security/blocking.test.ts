// Work that small requests cause: hundreds of them at once, on many connections, in one packet or over HTTP+SSE, neither
// end the process nor keep another caller waiting. The built program runs with a small heap.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ada, mallory, useAttackedServer } from '../support/attacked-server.ts';
import { deafSocket, postText } from '../support/attacker.ts';
import { isFullRun } from '../support/full.ts';
import { HttpTestClient, modernBody, modernHeaders } from '../support/http-client.ts';
import { expectOthersServed } from '../support/other-caller.ts';
import { writeToolPlugin } from '../support/tool-plugin.ts';

const { home, open, start } = useAttackedServer();
vi.setConfig({ testTimeout: 120_000 });
/** In MiB; before there were turns, it was above 500 or the process had ended. */
const maxMemory = 350;

interface Attack {
  readonly port: number;
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly meta?: object;
}

async function onManyConnections({ port, method, params, meta }: Attack): Promise<void> {
  const request = postText(
    port,
    { ...modernHeaders(method, params), ...mallory },
    JSON.stringify(modernBody(method, params, 1, meta)),
  );
  const all = await Promise.all(Array.from({ length: 300 }, () => deafSocket(port)));
  open.push(...all.map(({ socket }) => socket));
  for (const { socket } of all) socket.write(request);
}

async function inOnePacket({ port, method, params }: Attack): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`, { headers: mallory });
  open.push({ destroy: () => socket.terminate() });
  socket.on('error', () => {});
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  const { _socket: raw } = socket as unknown as { readonly _socket: { cork(): void; uncork(): void } };
  raw.cork();
  for (let id = 0; id < 400; id++) socket.send(JSON.stringify(modernBody(method, params, id)));
  raw.uncork();
}

async function onManySockets({ port, method, params }: Attack): Promise<void> {
  const sockets = Array.from({ length: 300 }, () => new WebSocket(`ws://127.0.0.1:${port}/mcp`, { headers: mallory }));
  for (const socket of sockets) {
    open.push({ destroy: () => socket.terminate() });
    socket.on('error', () => {});
  }
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.on('open', resolve).on('error', resolve))));
  for (const socket of sockets) socket.send(JSON.stringify(modernBody(method, params, 1)));
}

async function overHttpSse({ port, method, params }: Attack): Promise<void> {
  const client = new HttpTestClient(port);
  open.push({ destroy: () => client.close() });
  const stream = await client.open({
    method: 'GET',
    path: '/sse',
    headers: { Accept: 'text/event-stream', ...mallory },
  });
  open.push(stream);
  const first = await new Promise<string>((resolve) => stream.once('data', (chunk) => resolve(String(chunk))));
  const path = /data: (\S+)/.exec(first)?.[1] as string;
  const initialize = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'mallory', version: '1' } };
  await client.send({
    path,
    headers: mallory,
    body: { jsonrpc: '2.0', id: 'i', method: 'initialize', params: initialize },
  });
  await client.send({ path, headers: mallory, body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
  const { socket } = await deafSocket(port);
  open.push(socket);
  const requests = Array.from({ length: 300 }, (_, id) =>
    postText(port, mallory, JSON.stringify({ jsonrpc: '2.0', id, method, params }), path),
  );
  socket.resume();
  socket.write(requests.join(''));
}

test('400 calls that read several files each, requested in one packet', async () => {
  const paths = Array.from({ length: 10 }, (_, n) => home.file(`text-${n}`));
  for (const path of paths) writeFileSync(path, 'some text\n'.repeat(100_000));
  const server = await start('local', '--root', home.folder);
  const { port, peak } = server;
  await expectOthersServed(server, () =>
    inOnePacket({ port, method: 'tools/call', params: { name: 'read_multiple_files', arguments: { paths } } }),
  );
  expect(peak()).toBeLessThan(maxMemory);
});

test('400 lists of a large folder, requested in one packet', async () => {
  mkdirSync(home.file('large'));
  for (let n = 0; n < 10_000; n++) writeFileSync(home.file(`large/${n}`), '');
  const server = await start('local', '--root', home.folder);
  const { port, peak } = server;
  const params = { name: 'directory_tree', arguments: { path: home.folder } };
  await expectOthersServed(server, () => inOnePacket({ port, method: 'tools/call', params }));
  expect(peak()).toBeLessThan(maxMemory);
});

// By default on connections only: the calls below come in all ways.
test.each([
  { how: 'on as many connections', attack: onManyConnections },
  ...(isFullRun ? [{ how: 'over HTTP+SSE', attack: overHttpSse }] : []),
])('300 summaries of large notes, which are small themselves, $how', async ({ attack }) => {
  const server = await start('reference');
  const { port, client, peak } = server;
  for (let n = 0; n < 5; n++) {
    const params = { name: 'add_note', arguments: { content: 'n'.repeat(1_000_000) } };
    expect((await client.modern('tools/call', params, { headers: mallory })).status).toBe(200);
  }
  await expectOthersServed(server, () =>
    attack({ port, method: 'prompts/get', params: { name: 'summarize_notes', arguments: {} } }),
  );
  expect(peak()).toBeLessThan(maxMemory);
});

/** Computes for a while without a pause, and has a small result. */
const compute = `{ run: () => {
  const until = performance.now() + 20;
  while (performance.now() < until);
  return 'done';
} }`;

test.each([
  { how: 'on as many connections', attack: onManyConnections },
  { how: 'on as many WebSockets', attack: onManySockets },
  { how: 'over HTTP+SSE', attack: overHttpSse },
])('300 calls of a tool that computes without a pause, $how', async ({ attack }) => {
  const server = await start('--config', writeToolPlugin(home, 'compute', compute));
  const { port } = server;
  await expectOthersServed(server, () =>
    attack({ port, method: 'tools/call', params: { name: 'compute', arguments: {} } }),
  );
});

/** A server with a tool whose result is long. In a process of its own: it is busy, too. `serve`: how it gets and sends messages. */
const longServer = (serve: string): string => `
  const text = Buffer.from('x'.repeat(5 * 1024 * 1024));
  const serverInfo = { name: 'long', version: '1' };
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
    'tools/list': { tools: [{ name: 'long', inputSchema: { type: 'object' } }] },
  };
  /** The response to a message, in parts. */
  const respond = (message) => {
    const { id, method } = JSON.parse(message || '{}');
    if (id === undefined) return [];
    const head = '{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":';
    if (method !== 'tools/call') return [head + JSON.stringify(results[method] ?? {}) + '}'];
    return [head + '{"content":[{"type":"text","text":"', text, '"}]}}'];
  };
  const bodyOf = async (request) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    return body;
  };
  ${serve}`;

const overHttp = (type: string, begin: string, end: string): string => `
  import { createServer } from 'node:http';
  const server = createServer(async (request, response) => {
    const parts = respond(await bodyOf(request));
    if (parts.length === 0) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
    response.writeHead(200, { 'Content-Type': '${type}' });
    for (const part of ['${begin}', ...parts]) response.write(part);
    response.end('${end}');
  }).listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port + '/mcp'));`;

const overTwoEndpoints = `
  import { createServer } from 'node:http';
  let stream;
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      stream = response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      return stream.write('event: endpoint\\ndata: /messages\\n\\n');
    }
    const parts = respond(await bodyOf(request));
    response.writeHead(request.url === '/messages' ? 202 : 405).end();
    if (request.url === '/messages' && parts.length > 0) for (const part of ['data: ', ...parts, '\\n\\n']) stream.write(part);
  }).listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port + '/sse'));`;

const overWebSocket = `
  import { WebSocketServer } from ${JSON.stringify(import.meta.resolve('ws'))};
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' }, () =>
    console.log('ws://127.0.0.1:' + server.address().port + '/mcp'),
  );
  server.on('connection', (socket) =>
    socket.on('message', (data) => {
      const parts = respond(String(data));
      parts.forEach((part, n) => socket.send(part, { binary: false, fin: n === parts.length - 1 }));
    }),
  );`;

// Half a second on an idle machine, six on a busy one; before long responses had turns, eleven on an idle one, or the end of
// the process.
const maxLongMs = 8_000;

test.each([
  { how: 'HTTP as application/json', serve: overHttp('application/json', '', ''), maxMs: maxLongMs },
  { how: 'HTTP as text/event-stream', serve: overHttp('text/event-stream', 'data: ', '\\n\\n'), maxMs: maxLongMs },
  { how: 'HTTP+SSE', serve: overTwoEndpoints, maxMs: undefined },
  { how: 'WebSocket', serve: overWebSocket, maxMs: undefined },
])('300 calls with long results of a server behind a gateway, over $how', async ({ serve, maxMs }) => {
  writeFileSync(home.file('long.mjs'), longServer(serve));
  const upstream = spawn(process.execPath, [home.file('long.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
  open.push({ destroy: () => upstream.kill('SIGKILL') });
  const url = String(await once(upstream.stdout, 'data')).trim();
  const file = home.file('servers.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { one: { url } } }), { mode: 0o600 });
  const server = await start('local', '--gateway', file);
  const { port, client, peak } = server;
  const params = { name: 'one__long', arguments: {} };
  expect((await client.modern('tools/call', params, { headers: ada })).status).toBe(200);
  const attack = () => onManyConnections({ port, method: 'tools/call', params });
  await expectOthersServed(server, attack, { maxMs, forMs: 2_000 });
  // Most of it is garbage: the heap may grow to 512 MB.
  expect(peak()).toBeLessThan(450);
});

/** A server with a tool that asks the user, waits for a while, and has a long result. */
const askingServer = `
  import { createInterface } from 'node:readline';
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  const requestedSchema = { type: 'object', properties: {} };
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'asking', version: '1' } },
    'tools/list': { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] },
  };
  const result = { content: [{ type: 'text', text: 'x'.repeat(5 * 1024 * 1024) }] };
  let call;
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (method === 'tools/call') {
      call = id;
      send({ id: 'ask', method: 'elicitation/create', params: { message: 'Continue?', requestedSchema } });
    } else if (method === undefined) setTimeout(() => send({ id: call, result }), 1_000);
    else if (id !== undefined) send({ id, result: results[method] ?? {} });
  });`;

test('300 retries of one call that waited for input behind a gateway and has a long result', async () => {
  writeFileSync(home.file('asking.mjs'), askingServer);
  const file = home.file('servers.json');
  const one = { command: process.execPath, args: [home.file('asking.mjs')] };
  writeFileSync(file, JSON.stringify({ mcpServers: { one } }), { mode: 0o600 });
  const server = await start('local', '--gateway', file);
  const { port, client, peak } = server;
  const params = { name: 'one__ask', arguments: {} };
  const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
  const first = await client.modern('tools/call', params, { headers: mallory, meta });
  const { inputRequests, requestState } = first.json.result as { inputRequests: object; requestState: string };
  const accepted = Object.keys(inputRequests).map((key) => [key, { action: 'accept', content: {} }]);
  const retry = { ...params, inputResponses: Object.fromEntries(accepted), requestState };
  const attack = () => onManyConnections({ port, method: 'tools/call', params: retry, meta });
  // The result comes after one second.
  await expectOthersServed(server, attack, { forMs: 2_000 });
  expect(peak()).toBeLessThan(maxMemory);
});
