// Memory: a client that asks for much and reads nothing, or sends much and finishes nothing, holds its own share and no
// more. The built program runs with a small heap, and the system says how much memory it took.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ada, mallory, useAttackedServer } from '../support/attacked-server.ts';
import { type Deaf, deafSocket, postText, send } from '../support/attacker.ts';
import { isFullRun } from '../support/full.ts';
import { both, type HttpTestClient, modernBody, modernHeaders } from '../support/http-client.ts';

const { home, open, start } = useAttackedServer();
// Megabytes are made, sent and thrown away here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 120_000 });
const megabyte = 1024 * 1024;
/** For all that is attacked here at once; each attack alone must stay well below. */
const maxMemory = 450;

async function attacker(port: number): Promise<Deaf> {
  const deaf = await deafSocket(port);
  open.push(deaf.socket);
  return deaf;
}

/** Another caller is served all the time. How soon is measured by the soak, on a machine with time for it. */
async function expectOthersServed(client: HttpTestClient): Promise<void> {
  expect((await client.modern('tools/list', {}, { headers: ada })).status).toBe(200);
}

/** A server with a file of 4 MB to be read, and what to ask for it. */
async function withFile() {
  const file = home.file('large.bin');
  writeFileSync(file, Buffer.alloc(4 * megabyte, 1));
  const server = await start('local', '--root', home.folder);
  const params = { uri: `file://${file}` };
  const body = JSON.stringify(modernBody('resources/read', params));
  const request = postText(server.port, { ...modernHeaders('resources/read', params), ...mallory }, body);
  return { ...server, request, params };
}

/** A server with 5 MB of notes. */
async function withNotes() {
  const server = await start('reference');
  const content = 'n'.repeat(megabyte);
  for (let n = 0; n < 5; n++) {
    const params = { name: 'add_note', arguments: { title: `note ${n}`, content } };
    const answer = await server.client.modern('tools/call', params, { headers: mallory });
    expect(answer.json.result?.['isError'] ?? false, answer.text).toBe(false);
  }
  const params = { name: 'get_notes', arguments: {} };
  const body = JSON.stringify(modernBody('tools/call', params));
  const request = postText(server.port, { ...modernHeaders('tools/call', params), ...mallory }, body);
  return { ...server, request };
}

const kinds = { 'reads of a file': withFile, 'lists of notes': withNotes };

describe.each(Object.keys(kinds))('%s that the client does not read', (kind) => {
  const prepare = kinds[kind as keyof typeof kinds];
  // By default each attack with one of them.
  const declareFor = (wanted: keyof typeof kinds) => test.runIf(isFullRun || wanted === kind);

  declareFor('reads of a file')('1,000 of them pipelined on one connection are served one at a time', async () => {
    const { port, client, request, peak } = await prepare();
    const deaf = await attacker(port);
    void send(deaf.socket, request.repeat(1_000));
    for (let n = 0; n < 10; n++) await expectOthersServed(client);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await expectOthersServed(client);
    expect(peak()).toBeLessThan(maxMemory);
  });

  declareFor('lists of notes')('one on each of 200 connections: only this caller has to wait', async () => {
    const { port, client, request, peak } = await prepare();
    const all = await Promise.all(Array.from({ length: 200 }, () => attacker(port)));
    for (const { socket } of all) socket.write(request);
    for (let n = 0; n < 5; n++) await expectOthersServed(client);
    // Large answers take turns, so not all requests are served yet: one that comes after them shows when they are.
    const latecomer = async (): Promise<string> => {
      const { socket, status } = await attacker(port);
      socket.write(request);
      return status();
    };
    await expect.poll(latecomer, { timeout: 30_000 }).toBe('503');
    const statuses = await Promise.all(all.map((each) => each.status()));
    expect(new Set(statuses)).toEqual(new Set(['200', '503']));
    expect(peak()).toBeLessThan(maxMemory);
  });
});

test('a batch of 100 lists of notes: the responses that fit are sent, the rest are errors', async () => {
  const { client, peak } = await withNotes();
  const session = await client.initialize({ version: '2024-11-05', headers: mallory });
  const batch = Array.from({ length: 100 }, (_, n) => ({
    jsonrpc: '2.0',
    id: n,
    method: 'tools/call',
    params: { name: 'get_notes', arguments: {} },
  }));
  const headers = { Accept: both, 'Mcp-Session-Id': session, ...mallory };
  const answer = await client.send({ body: batch, headers });
  const responses = JSON.parse(answer.text) as { result?: object; error?: { message: string } }[];
  expect(responses.map(({ result }) => result !== undefined)).toEqual(batch.map(({ id }) => id < 3));
  expect(responses[3]?.error?.message).toContain('send this request in a batch of its own');
  expect(peak()).toBeLessThan(maxMemory);
});

test('answers come in order, and all of them, to a client that pipelines and reads', async () => {
  const { port } = await start('reference');
  const deaf = await attacker(port);
  deaf.listen();
  const ids = Array.from({ length: 200 }, (_, n) => n + 1);
  const text = ids.map((id) => {
    const body = JSON.stringify(modernBody('tools/list', {}, id));
    return postText(port, { ...modernHeaders('tools/list'), ...mallory }, body);
  });
  await send(deaf.socket, text.join(''));
  const heard = () => [...deaf.heard().matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id));
  await expect.poll(() => heard().length).toBeGreaterThanOrEqual(50);
  expect(heard()).toEqual(ids.slice(0, heard().length));
});

test('100 bodies of 10 MB that are never finished: reading stops, then 503, and others are served', async () => {
  const { port, client, peak } = await start('reference');
  const size = 10 * megabyte - 1_000;
  const body = Buffer.alloc(size - 1, 0x20);
  const all = await Promise.all(Array.from({ length: 100 }, () => attacker(port)));
  const head = postText(port, { ...modernHeaders('tools/list'), ...mallory, 'Content-Length': String(size) }, '');
  for (const each of all) {
    each.listen();
    each.socket.write(head);
    void send(each.socket, body);
  }
  for (let n = 0; n < 10; n++) await expectOthersServed(client);
  await expect.poll(() => all.filter(({ heard }) => heard().startsWith('HTTP/1.1 503')).length).toBeGreaterThan(50);
  await expectOthersServed(client);
  expect(peak()).toBeLessThan(maxMemory);
});

test('a body of a million tiny pieces takes no more memory than it has bytes', async () => {
  const { port, client, peak } = await start('reference');
  const before = peak();
  const deaf = await attacker(port);
  deaf.socket.write(
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
      `Authorization: ${mallory.Authorization}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  for (let n = 0; n < 100; n++) await send(deaf.socket, '1\r\n \r\n'.repeat(10_000));
  await expectOthersServed(client);
  expect(peak() - before).toBeLessThan(150);
});

/** A server with a tool whose result comes in a million tiny pieces. */
const tinyPieces = (type: string, begin: string, end: string): string => `
  import { createServer } from 'node:http';
  const serverInfo = { name: 'tiny', version: '1' };
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
    'tools/list': { tools: [{ name: 'tiny', inputSchema: { type: 'object' } }] },
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method } = JSON.parse(body || '{}');
    if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
    response.writeHead(200, { 'Content-Type': '${type}' });
    response.write('${begin}' + '{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":');
    if (method === 'tools/call') {
      response.write('{"content":[{"type":"text","text":"');
      // Past the response, which would make the chunks of one turn of the event loop one.
      for (let n = 0; n < 100; n++) {
        if (!response.socket.write('1\\r\\nx\\r\\n'.repeat(10_000))) {
          await new Promise((resolve) => response.socket.once('drain', resolve));
        }
      }
      response.write('"}]}');
    } else response.write(JSON.stringify(results[method] ?? {}));
    response.end('}${end}');
  }).listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port + '/mcp'));`;

test.each([
  { type: 'application/json', source: tinyPieces('application/json', '', '') },
  { type: 'text/event-stream', source: tinyPieces('text/event-stream', 'data: ', '\\n\\n') },
])('a result of a million tiny pieces from a server behind a gateway, as $type', async ({ source }) => {
  writeFileSync(home.file('tiny.mjs'), source);
  const upstream = spawn(process.execPath, [home.file('tiny.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
  open.push({ destroy: () => upstream.kill('SIGKILL') });
  const url = String(await once(upstream.stdout, 'data')).trim();
  const file = home.file('servers.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { one: { url } } }), { mode: 0o600 });
  const { client, peak } = await start('local', '--gateway', file);
  await expectOthersServed(client);
  const before = peak();
  const called = client.modern('tools/call', { name: 'one__tiny', arguments: {} }, { headers: mallory });
  await expectOthersServed(client);
  const { content } = (await called).json.result as { content: { text: string }[] };
  expect(content[0]?.text).toHaveLength(1_000_000);
  expect(peak() - before).toBeLessThan(250);
});

test('thousands of requests that wait behind one that hangs do not fill the memory', async () => {
  const { port, client, peak } = await start('reference');
  const params = { name: 'long_running_task', arguments: { steps: 1, delay: 20 } };
  const body = JSON.stringify(modernBody('tools/call', params));
  const hang = postText(port, { ...modernHeaders('tools/call', params), ...mallory }, body);
  const all = await Promise.all(Array.from({ length: isFullRun ? 25 : 10 }, () => attacker(port)));
  for (const { socket } of all) {
    socket.write(hang);
    void send(socket, `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(5_000));
  }
  for (let n = 0; n < 5; n++) await expectOthersServed(client);
  expect(peak()).toBeLessThan(maxMemory);
});

describe('WebSockets', () => {
  async function connect(port: number): Promise<WebSocket> {
    // With a mask of zeros the client does not have to mask what it sends.
    const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`, {
      headers: mallory,
      generateMask: (mask) => mask.fill(0),
    });
    open.push({ destroy: () => socket.terminate() });
    socket.on('error', () => {});
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    return socket;
  }

  test('100 messages of 10 MB that are never finished: the caller is cut off beyond its share', async () => {
    const { port, client, peak } = await start('reference');
    const sockets = await Promise.all(Array.from({ length: 100 }, () => connect(port)));
    let closed = 0;
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    for (const socket of sockets) {
      socket.on('close', () => closed++);
      // Fragments of one message, of which the last never comes.
      for (let n = 0; n < 9; n++) socket.send(chunk, { fin: false, binary: false });
    }
    for (let n = 0; n < 5; n++) await expectOthersServed(client);
    await expect.poll(() => closed).toBeGreaterThan(50);
    await expectOthersServed(client);
    expect(peak()).toBeLessThan(maxMemory);
  });

  test('100 lists of notes, requested in one packet', async () => {
    const { port, client, peak } = await withNotes();
    const socket = await connect(port);
    // Each is 5 MB long, of which the beginning says enough.
    const responses: string[] = [];
    socket.on('message', (data: Buffer) => responses.push(data.toString('latin1', 0, 40)));
    const { _socket: raw } = socket as unknown as { readonly _socket: Socket };
    raw.cork();
    for (let id = 0; id < 100; id++) {
      socket.send(JSON.stringify(modernBody('tools/call', { name: 'get_notes', arguments: {} }, id)));
    }
    raw.uncork();
    for (let n = 0; n < 5; n++) await expectOthersServed(client);
    await expect.poll(() => responses.length, { timeout: 60_000 }).toBe(100);
    const begin = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":{`;
    expect(responses).toEqual(Array.from({ length: 100 }, (_, id) => expect.stringContaining(begin(id))));
    expect(peak()).toBeLessThan(maxMemory);
  });

  test('responses that the client does not read, on 50 sockets at a time', async () => {
    const { port, client, params, peak } = await withFile();
    const sockets = await Promise.all(Array.from({ length: 50 }, () => connect(port)));
    for (const socket of sockets) {
      socket.pause();
      for (let n = 0; n < 20; n++) socket.send(JSON.stringify(modernBody('resources/read', params, n)));
    }
    for (let n = 0; n < 5; n++) await expectOthersServed(client);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await expectOthersServed(client);
    expect(peak()).toBeLessThan(maxMemory);
  });
});
