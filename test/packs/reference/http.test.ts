// Profile `reference` over HTTP: routes, headers, sessions and events of the document, and its curl lines as written.

import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import { EventReader } from '../../support/events.ts';
import { ensureProgram } from '../../support/programs.ts';
import { type Answer, ServerProcess, useCommand } from '../../support/server-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

useCommand(afterAll);

const folder = temporaryFolder();
let base = '';

/** Starts the server on the port of the document where that is free, and on any other where it is not. */
async function serve(): Promise<ServerProcess> {
  const start = async (...port: string[]): Promise<ServerProcess> => {
    const server = new ServerProcess(['serve', 'reference', '--http', '--data', folder, ...port]);
    const url = await server.until(() => /listening on (http:\S+)\/mcp/.exec(server.stderr)?.[1]);
    base = url.replace('127.0.0.1', 'localhost');
    return server;
  };
  // Another process may take it between the two.
  return (await isFree(8000)) ? start().catch(() => start('--port', '0')) : start('--port', '0');
}

beforeAll(async () => void (await serve()));

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** Where others would reach it. */
function addressesOfThisMachine(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address);
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Answer;
}

async function post(message: unknown, headers: Record<string, string> = {}, raw?: string): Promise<Reply> {
  const response = await fetch(`${base}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: raw ?? JSON.stringify(message),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'my-client', version: '1.0.0' } },
};

async function openSession(): Promise<string> {
  return (await post(initialize)).headers.get('x-session-id') as string;
}

let id = 100;
const call = (session: string, method: string, params: object = {}): Promise<Reply> =>
  post({ jsonrpc: '2.0', id: id++, method, params }, { 'X-Session-ID': session });
const tool = (session: string, name: string, args: object = {}): Promise<Reply> =>
  call(session, 'tools/call', { name, arguments: args });

const events = (session?: string): Promise<EventReader> =>
  EventReader.open(`${base}/mcp/sse`, session === undefined ? {} : { 'X-Session-ID': session });

describe('requests', () => {
  test('S1-1 S1-7 S1-8: a POST without Accept is answered in the body, as JSON', async () => {
    const { status, headers, body } = await post(initialize);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body).toMatchObject({ jsonrpc: '2.0', id: 1, result: { protocolVersion: '2024-11-05' } });
  });

  test('S1-3: /health needs no session', async () => {
    const response = await fetch(`${base}/health`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await response.json()).toMatchObject({ status: expect.any(String) });
  });

  test('S1-4: any other content type is rejected with 415', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      expect((await post(initialize, { 'Content-Type': type })).status).toBe(415);
    }
  });

  test('S1-5 S1-6: initialize names the session, and what is stored in it stays', async () => {
    const session = await openSession();
    expect(session).toMatch(/^\S{16,}$/);
    const count = async () =>
      Number((await call(session, 'resources/read', { uri: 'server://counter' })).body.result.contents[0].text);
    const before = await count();
    await tool(session, 'increment_counter', { amount: 4 });
    await tool(session, 'add_note', { content: 'in a session' });
    expect(await count()).toBe(before + 4);
    expect((await tool(session, 'get_notes')).body.result.content[0].text).toContain('in a session');
  });

  test('S1-9 S1-10 S1-11 S1-12: errors and their status', async () => {
    expect(await post(undefined, {}, '{')).toMatchObject({ status: 400, body: { error: { code: -32700 } } });
    expect(await post({ id: 1 })).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
    const session = await openSession();
    expect(await call(session, 'no/such')).toMatchObject({ status: 200, body: { error: { code: -32601 } } });
    expect(await tool(session, 'calculate')).toMatchObject({ status: 200, body: { error: { code: -32602 } } });
  });

  test('S1-14: without initialize nothing is served', async () => {
    const { status, body } = await post({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: -32600, message: expect.stringContaining('initialize first') });
  });

  test('S1-17 S1-18: notifications are accepted with 202 and an empty body', async () => {
    const session = await openSession();
    for (const method of ['initialized', 'notifications/initialized']) {
      const reply = await post({ jsonrpc: '2.0', method, params: {} }, { 'X-Session-ID': session });
      expect(reply).toMatchObject({ status: 202, body: undefined });
    }
  });

  test('S1-52: an unknown session is not found', async () => {
    const reply = await post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, { 'X-Session-ID': 'missing' });
    expect(reply.status).toBe(404);
  });

  test('S1-51: the server is on this machine only, on port 8000', async () => {
    const { port } = new URL(base);
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    for (const outside of addressesOfThisMachine()) {
      await expect(fetch(`http://${outside}:${port}/health`)).rejects.toThrow();
    }
    // Wherever that server had to go: without a word about it, one wants port 8000.
    const second = new ServerProcess(['serve', 'reference', '--http', '--data', folder]);
    await second.until(
      () => /(?:listening on http:\/\/127\.0\.0\.1:8000|Port 8000 on 127\.0\.0\.1)/.exec(second.stderr)?.[0],
    );
  });
});

describe('events', () => {
  test('S1-2 S1-40 S1-44: the first event names the session of the request', async () => {
    const session = await openSession();
    const stream = await events(session);
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(await stream.next()).toEqual({ event: 'connection', data: { type: 'connected', session_id: session } });
    stream.close();
  });

  test('S1-45: without a session a new one is announced, and can be initialized', async () => {
    const stream = await events();
    const first = await stream.next();
    expect(first).toMatchObject({ event: 'connection', data: { type: 'connected' } });
    const session = (first.data as { session_id: string }).session_id;
    expect(session).toMatch(/^\S{16,}$/);
    const reply = await post(initialize, { 'X-Session-ID': session });
    expect(reply.body.result.protocolVersion).toBe('2024-11-05');
    await call(reply.headers.get('x-session-id') ?? session, 'resources/subscribe', { uri: 'server://counter' });
    await tool(reply.headers.get('x-session-id') ?? session, 'increment_counter');
    expect(await stream.next()).toMatchObject({ event: 'notification' });
    stream.close();
  });

  test('S1-34 S1-35 S1-36 S1-41: a change is an event of those sessions that subscribed, until they do no more', async () => {
    const [subscribed, other] = [await openSession(), await openSession()];
    const [stream, silent] = [await events(subscribed), await events(other)];
    await Promise.all([stream.next(), silent.next()]);
    await call(subscribed, 'resources/subscribe', { uri: 'server://counter' });
    await call(other, 'resources/subscribe', { uri: 'server://notes' });
    await tool(other, 'increment_counter');
    expect(await stream.next()).toEqual({
      event: 'notification',
      data: { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'server://counter' } },
    });
    expect((await call(subscribed, 'resources/unsubscribe', { uri: 'server://counter' })).body.result).toEqual({});
    await tool(other, 'increment_counter');
    await tool(other, 'add_note', { content: 'x' });
    expect(await silent.next()).toMatchObject({ data: { params: { uri: 'server://notes' } } });
    await call(subscribed, 'resources/subscribe', { uri: 'server://notes' });
    await tool(other, 'add_note', { content: 'y' });
    expect(await stream.next()).toMatchObject({ data: { params: { uri: 'server://notes' } } });
    stream.close();
    silent.close();
  });

  test('S1-42 S1-43: progress is an event of its own, with the token of the caller', async () => {
    const session = await openSession();
    const stream = await events(session);
    await stream.next();
    const params = {
      name: 'long_running_task',
      arguments: { steps: 3, delay: 0.01 },
      _meta: { progressToken: 'task-1' },
    };
    const answer = call(session, 'tools/call', params);
    for (const progress of [1, 2, 3]) {
      expect(await stream.next()).toEqual({
        event: 'progress',
        data: {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: 'task-1', progress, total: 3 },
        },
      });
    }
    expect((await answer).body.result.content[0].text).toBe('Completed 3 steps');
    stream.close();
  });
});

describe('our client, as the document uses its own', () => {
  /** Notes what is sent, and may fail before it is. */
  function watched(fail: (body: string) => boolean = () => false): {
    readonly sent: Sent[];
    readonly fetch: typeof fetch;
  } {
    const sent: Sent[] = [];
    return {
      sent,
      async fetch(input, init) {
        const body = String(init?.body ?? '');
        sent.push({ method: init?.method ?? 'GET', body, session: new Headers(init?.headers).get('mcp-session-id') });
        if (fail(body)) throw new TypeError('fetch failed');
        return fetch(input, init);
      },
    };
  }

  test('S1-49: connect, list tools, call a tool, read a resource, close', async () => {
    const client = await connect(`${base}/mcp`, { revision: 'handshake' });
    expect((await client.listTools()).map((each) => each.name)).toContain('calculate');
    const result = await client.callTool('calculate', { operation: 'multiply', a: 6, b: 7 });
    expect(result.content).toEqual([{ type: 'text', text: '6 * 7 = 42' }]);
    const status = await client.readResource('server://status');
    expect(JSON.parse(status.contents[0]?.text as string).status).toBe('healthy');
    await client.close();
  });

  test('S1-50: the client stores and sends the session id by itself', async () => {
    const { sent, fetch } = watched();
    const client = await connect(`${base}/mcp`, { revision: 'handshake', fetch });
    const count = async () => Number((await client.readResource('server://counter')).contents[0]?.text);
    const before = await count();
    await client.callTool('increment_counter', { amount: 2 });
    expect(await count()).toBe(before + 2);
    const opened = sent.findIndex(({ body }) => body.includes('"initialize"'));
    const later = sent.slice(opened + 1);
    expect(later.length).toBeGreaterThan(2);
    for (const { session } of later) expect(session).toMatch(/^\S{16,}$/);
    await client.close();
  });

  test('S1-54: what may be repeated is repeated, a tool call is not', async () => {
    const failing = new Set(['tools/list', 'tools/call']);
    const { sent, fetch } = watched((body) => {
      const method = [...failing].find((each) => body.includes(`"${each}"`));
      return method !== undefined && failing.delete(method);
    });
    const client = await connect(`${base}/mcp`, { revision: 'handshake', fetch, retry: { baseDelayMs: 1 } });
    expect(await client.listTools()).toHaveLength(6);
    expect(sent.filter(({ body }) => body.includes('"tools/list"'))).toHaveLength(2);
    await expect(client.callTool('increment_counter')).rejects.toThrow();
    expect(sent.filter(({ body }) => body.includes('"tools/call"'))).toHaveLength(1);
    await client.close();
  });

  test('S1-55: arguments are checked before they are sent, where that is wanted', async () => {
    const { sent, fetch } = watched();
    const client = await connect(`${base}/mcp`, { revision: 'handshake', fetch, validateArguments: true });
    await expect(client.callTool('calculate', { operation: 'add', a: 'one', b: 2 })).rejects.toThrow('a');
    expect(sent.some(({ body }) => body.includes('"tools/call"'))).toBe(false);
    await client.close();
  });
});

interface Sent {
  readonly method: string;
  readonly body: string;
  readonly session: string | null;
}

const hasCurl = ensureProgram('curl');

describe.skipIf(!hasCurl)('the curl lines of the document', () => {
  /** Runs one block of the document in a shell; only the port and the session are filled in. */
  function curl(lines: string, session = 'your-session-id', untilOutput?: RegExp): Promise<string> {
    const script = lines.replaceAll('http://localhost:8000', base).replaceAll('your-session-id', session);
    const child = spawn('sh', ['-c', `exec ${script.trim()}`], { stdio: ['ignore', 'pipe', 'ignore'] });
    return new Promise((resolve) => {
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (untilOutput?.test(output)) child.kill();
      });
      child.once('close', () => resolve(output));
    });
  }

  test('S1-1 S1-2 S1-3 S1-5 S1-21 S1-45: all five, as written', async () => {
    expect(JSON.parse(await curl('curl http://localhost:8000/health'))).toHaveProperty('status');

    const opened = await curl(`curl -X POST http://localhost:8000/mcp \\
  -H "Content-Type: application/json" \\
  -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"curl","version":"1.0"}}}'`);
    expect(JSON.parse(opened).result.serverInfo).toEqual({ name: 'mcp-server', version: '1.0.0' });
    const session = await openSession();

    const listed = await curl(
      `curl -X POST http://localhost:8000/mcp \\
  -H "Content-Type: application/json" \\
  -H "X-Session-ID: your-session-id" \\
  -d '{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}'`,
      session,
    );
    expect(JSON.parse(listed).result.tools).toHaveLength(6);

    const called = await curl(
      `curl -X POST http://localhost:8000/mcp \\
  -H "Content-Type: application/json" \\
  -H "X-Session-ID: your-session-id" \\
  -d '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_current_time","arguments":{}}}'`,
      session,
    );
    expect(Date.parse(JSON.parse(called).result.content[0].text)).not.toBeNaN();

    const streamed = await curl(
      'curl -N -H "Accept: text/event-stream" http://localhost:8000/mcp/sse',
      undefined,
      /\n\n/,
    );
    expect(streamed).toMatch(/^event: connection\ndata: \{"type":"connected","session_id":"\S+"\}\n\n/);
  });
});
