// HTTP+SSE, and the routes, headers and events that profiles of unofficial servers ask for.

import { beforeAll, describe, expect, test } from 'vitest';
import { createServer, type HttpOptions, type HttpServer, type Server } from '../../src/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import { both, EventReader, type HttpTestClient, initializeBody, modernBody } from '../support/http-client.ts';

const closers = useClosers();
const aborted: string[] = [];
const started: string[] = [];

async function start(options: HttpOptions = {}, handshakeVersions?: string[]) {
  const server = createServer({
    name: 'sse',
    version: '1.0.0',
    ...(handshakeVersions && { rules: { handshakeVersions } }),
  });
  let counter = 0;
  server.tool('increment', {
    description: 'Counts',
    run: () => {
      counter++;
      server.resourceUpdated('server://counter');
      return String(counter);
    },
  });
  server.tool('steps', {
    description: 'Reports progress',
    run: async (_args: unknown, ctx) => {
      for (let n = 1; n <= 3; n++) await ctx.progress(n, 3);
      return 'done';
    },
  });
  server.tool('ask', {
    description: 'Asks the model',
    run: async (_args: unknown, ctx) => {
      const { content } = await ctx.sample({
        messages: [{ role: 'user', content: { type: 'text', text: '?' } }],
        maxTokens: 5,
      });
      return JSON.stringify(content);
    },
  });
  server.tool('hang', {
    description: 'Ends only when cancelled',
    run: (_args: unknown, ctx) =>
      new Promise((_, reject) => {
        started.push('hang');
        ctx.signal.addEventListener('abort', () => {
          aborted.push('hang');
          reject(ctx.signal.reason);
        });
      }),
  });
  server.resource('server://counter', { name: 'Counter', mimeType: 'text/plain', read: () => String(counter) });
  const { http, client } = await startHttp(closers, server, { graceMs: 200, ...options });
  return { server, http, client };
}

let http: HttpServer;
let client: HttpTestClient;
let server: Server;
beforeAll(async () => {
  ({ http, client, server } = await start());
});

async function open(tester = client, headers: Record<string, string> = {}) {
  const stream = new EventReader(
    await tester.open({ method: 'GET', path: '/sse', headers: { Accept: 'text/event-stream', ...headers } }),
  );
  await expect.poll(() => stream.events.length).toBeGreaterThan(0);
  return { stream, endpoint: stream.events[0]?.data ?? '' };
}

test('behind a proxy that removes the start of the path, clients get the path as the proxy has it', async () => {
  const { client: behind } = await start({ publicUrl: 'https://example.com/tools/mcp', allowedHosts: ['127.0.0.1'] });
  const { stream, endpoint } = await open(behind);
  expect(endpoint).toMatch(/^\/tools\/message\?sessionId=/);
  const path = endpoint.slice('/tools'.length);
  expect((await behind.send({ path, body: initializeBody('2024-11-05') })).status).toBe(202);
  await expect.poll(() => stream.events.length).toBe(2);
  const { client: same } = await start({ publicUrl: 'https://example.com', allowedHosts: ['127.0.0.1'] });
  expect((await open(same)).endpoint).toMatch(/^\/message\?/);
});

/** Messages of the stream; the first event is no message. */
async function messages(stream: EventReader, count: number) {
  await expect.poll(() => stream.events.length).toBeGreaterThanOrEqual(count + 1);
  return stream.events.slice(1).map(({ data }) => JSON.parse(data as string));
}

describe('HTTP+SSE', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    '%s is served, responses are sent on the stream',
    async (version) => {
      const { stream, endpoint } = await open();
      expect(stream.events[0]).toMatchObject({
        event: 'endpoint',
        data: expect.stringMatching(/^\/message\?sessionId=[\w-]{36}$/),
      });
      const accepted = await client.send({ path: endpoint, body: initializeBody(version) });
      expect([accepted.status, accepted.text]).toEqual([202, 'Accepted']);
      await client.send({ path: endpoint, body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
      await client.send({
        path: endpoint,
        body: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'steps', _meta: { progressToken: 't' } } },
      });
      const heard = await messages(stream, 5);
      expect(stream.events.slice(1).every(({ event }) => event === 'message')).toBe(true);
      expect(heard[0]).toMatchObject({ id: 'open', result: { protocolVersion: version } });
      expect(heard.slice(1, 4).map(({ params }) => params.progress)).toEqual([1, 2, 3]);
      expect(heard[4]).toMatchObject({ id: 2, result: { content: [{ text: 'done' }] } });
      stream.cut();
    },
  );

  test('an input request is sent on the stream and answered by a POST', async () => {
    const { stream, endpoint } = await open();
    await client.send({ path: endpoint, body: initializeBody('2024-11-05', { sampling: {} }) });
    await client.send({
      path: endpoint,
      body: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'ask' } },
    });
    const question = (await messages(stream, 2)).at(-1);
    expect(question.method).toBe('sampling/createMessage');
    const result = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' };
    await client.send({ path: endpoint, body: { jsonrpc: '2.0', id: question.id, result } });
    expect((await messages(stream, 3)).at(-1).result.content[0].text).toContain('Paris');
    stream.cut();
  });

  test('changes are sent to subscribed sessions', async () => {
    const { stream, endpoint } = await open();
    await client.send({ path: endpoint, body: initializeBody('2024-11-05') });
    await client.send({ path: endpoint, body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
    await client.send({
      path: endpoint,
      body: { jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params: { uri: 'server://counter' } },
    });
    server.resourceUpdated('server://counter');
    expect((await messages(stream, 3)).at(-1)).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 'server://counter' },
    });
    stream.cut();
  });

  test('a stateless request is accepted, and its error names the revisions of this transport', async () => {
    const { stream, endpoint } = await open();
    const accepted = await client.send({ path: endpoint, body: modernBody('server/discover', {}, 'probe') });
    expect(accepted.status).toBe(202);
    const [rejection] = await messages(stream, 1);
    expect(rejection).toMatchObject({
      id: 'probe',
      error: { code: -32022, data: { supported: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] } },
    });
    await client.send({ path: endpoint, body: initializeBody('2024-11-05') });
    expect((await messages(stream, 2)).at(-1)).toMatchObject({ result: { protocolVersion: '2024-11-05' } });
    stream.cut();
  });

  test.each<[string, object, number, number]>([
    ['no sessionId', { path: '/message' }, 400, -32000],
    ['an unknown session', { path: '/message?sessionId=missing' }, 404, -32001],
  ])('%s is rejected', async (_name, wanted, status, code) => {
    const answer = await client.send({ body: { jsonrpc: '2.0', id: 1, method: 'ping' }, ...wanted });
    expect([answer.status, answer.json.error?.code]).toEqual([status, code]);
  });

  test('an invalid body is rejected by its POST, and the stream continues', async () => {
    const { stream, endpoint } = await open();
    const broken = await client.send({ path: endpoint, body: '{' });
    expect([broken.status, broken.json.error?.code]).toEqual([400, -32700]);
    const type = await client.send({ path: endpoint, body: '{}', headers: { 'Content-Type': 'text/plain' } });
    expect(type.status).toBe(415);
    const large = await client.send({ path: endpoint, body: 'x'.repeat(11 * 1024 * 1024) });
    expect(large.status).toBe(413);
    const wrong = await client.send({ path: endpoint, body: '{"jsonrpc":"2.0","id":5,"method":7}' });
    expect(wrong.status).toBe(202);
    expect(await messages(stream, 1)).toMatchObject([{ id: 5, error: { code: -32600 } }]);
    stream.cut();
  });

  test('closing the stream ends the session and aborts its calls', async () => {
    const { stream, endpoint } = await open();
    await client.send({ path: endpoint, body: initializeBody('2024-11-05') });
    const before = aborted.length;
    const begun = started.length;
    await client.send({
      path: endpoint,
      body: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'hang' } },
    });
    await expect.poll(() => started.length).toBe(begun + 1);
    stream.cut();
    await expect.poll(() => aborted.length).toBe(before + 1);
    await expect
      .poll(async () => (await client.send({ path: endpoint, body: { jsonrpc: '2.0', id: 3, method: 'ping' } })).status)
      .toBe(404);
  });

  test('a stream belongs to the principal that opened it', async () => {
    const { client: guarded } = await start({
      authenticate: (request) => ({ id: request.get('authorization') ?? 'nobody' }),
    });
    const { stream, endpoint } = await open(guarded, { Authorization: 'ada' });
    const body = initializeBody('2024-11-05');
    expect((await guarded.send({ path: endpoint, body, headers: { Authorization: 'bob' } })).status).toBe(404);
    expect((await guarded.send({ path: endpoint, body, headers: { Authorization: 'ada' } })).status).toBe(202);
    stream.cut();
  });

  test('it can be switched off', async () => {
    const { client: without } = await start({ sse: false });
    expect((await without.send({ method: 'GET', path: '/sse', headers: { Accept: 'text/event-stream' } })).status).toBe(
      404,
    );
  });

  test('several connections with the same ids never receive messages of each other', async () => {
    const [a, b] = [await open(), await open()];
    for (const { endpoint } of [a, b]) await client.send({ path: endpoint, body: initializeBody('2024-11-05') });
    await client.send({
      path: a.endpoint,
      body: {
        jsonrpc: '2.0',
        id: 2,
        method: 'tools/call',
        params: { name: 'steps', _meta: { progressToken: 'mine' } },
      },
    });
    await messages(a.stream, 5);
    expect(b.stream.events).toHaveLength(2);
    a.stream.cut();
    b.stream.cut();
  });
});

describe('the profile of the HTTP reference', () => {
  let seed: HttpTestClient;
  let seedServer: Server;
  beforeAll(async () => {
    ({ client: seed, server: seedServer } = await start(
      { compat: { sessionHeaders: ['X-Session-ID'], eventsPath: '/mcp/sse' } },
      ['2024-11-05'],
    ));
  });
  const plain = { 'Content-Type': 'application/json' };
  const initialize = async (headers: Record<string, string> = {}) =>
    seed.send({ body: initializeBody('2024-11-05'), headers: { ...plain, ...headers } });

  test('S1-1 S1-5 S1-7: a POST without Accept is answered in the body, with the session in X-Session-ID', async () => {
    const opened = await initialize();
    expect([opened.status, opened.headers['content-type']]).toEqual([200, 'application/json']);
    const id = opened.headers['x-session-id'] as string;
    expect(id).toBe(opened.headers['mcp-session-id']);
    expect(opened.json.result).toMatchObject({ protocolVersion: '2024-11-05' });
    const pong = await seed.send({ body: { jsonrpc: '2.0', id: 2, method: 'ping' }, headers: { 'X-Session-ID': id } });
    expect(pong.json).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
  });

  test('S1-3: GET /health responds without a session', async () => {
    const health = await seed.send({ method: 'GET', path: '/health' });
    expect([health.status, health.json]).toEqual([200, { status: 'healthy' }]);
  });

  test('S1-14 S1-52: nothing is served before initialize, and unknown sessions are not found', async () => {
    expect((await seed.send({ body: { jsonrpc: '2.0', id: 2, method: 'tools/list' } })).status).toBe(400);
    const unknown = await seed.send({
      body: { jsonrpc: '2.0', id: 2, method: 'ping' },
      headers: { 'X-Session-ID': 'abc123' },
    });
    expect([unknown.status, unknown.json.error?.code]).toEqual([404, -32001]);
  });

  test('S1-17 S1-18: both names of the initialized notification are accepted', async () => {
    const id = (await initialize()).headers['x-session-id'] as string;
    for (const method of ['initialized', 'notifications/initialized']) {
      const answer = await seed.send({ body: { jsonrpc: '2.0', method, params: {} }, headers: { 'X-Session-ID': id } });
      expect([answer.status, answer.text]).toEqual([202, '']);
    }
  });

  test('S1-2 S1-36 S1-40 S1-41 S1-44: the stream begins with its session id and sends changes', async () => {
    const id = (await initialize()).headers['x-session-id'] as string;
    const stream = new EventReader(
      await seed.open({
        method: 'GET',
        path: '/mcp/sse',
        headers: { Accept: 'text/event-stream', 'X-Session-ID': id },
      }),
    );
    await stream.until(1);
    expect(stream.events[0]).toMatchObject({ event: 'connection' });
    expect(stream.messages[0]).toEqual({ type: 'connected', session_id: id });
    await seed.send({
      body: { jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params: { uri: 'server://counter' } },
      headers: { 'X-Session-ID': id },
    });
    await seed.send({
      body: { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'increment' } },
      headers: { 'X-Session-ID': id },
    });
    await stream.until(2);
    expect(stream.events[1]?.event).toBe('notification');
    expect(stream.messages[1]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'server://counter' },
    });
    const added = seedServer.tool('later', { description: 'x', run: () => '' });
    await stream.until(3);
    added.remove();
    expect(stream.messages[2]?.method).toBe('notifications/tools/list_changed');
    stream.cut();
  });

  test('S1-42 S1-43: progress of a call answered in the body is sent on the stream', async () => {
    const id = (await initialize()).headers['x-session-id'] as string;
    const stream = new EventReader(
      await seed.open({
        method: 'GET',
        path: '/mcp/sse',
        headers: { Accept: 'text/event-stream', 'X-Session-ID': id },
      }),
    );
    await stream.until(1);
    const params = { name: 'steps', _meta: { progressToken: 'tok' } };
    const answer = await seed.send({
      body: { jsonrpc: '2.0', id: 3, method: 'tools/call', params },
      headers: { 'X-Session-ID': id },
    });
    expect(answer.json.result).toMatchObject({ content: [{ text: 'done' }] });
    await stream.until(4);
    expect(stream.events.slice(1).map(({ event }) => event)).toEqual(['progress', 'progress', 'progress']);
    expect(stream.messages.slice(1).map(({ params: told }) => told)).toEqual(
      [1, 2, 3].map((progress) => ({ progressToken: 'tok', progress, total: 3 })),
    );
    stream.cut();
  });

  test('S1-45: a stream without a session announces one, which can then be initialized', async () => {
    const stream = new EventReader(
      await seed.open({ method: 'GET', path: '/mcp/sse', headers: { Accept: 'text/event-stream' } }),
    );
    await stream.until(1);
    const id = (stream.messages[0] as { session_id?: string }).session_id as string;
    const early = await seed.send({
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      headers: { 'X-Session-ID': id },
    });
    expect([early.status, early.json.error?.code]).toEqual([400, -32600]);
    const opened = await initialize({ 'X-Session-ID': id });
    expect([opened.status, opened.headers['x-session-id']]).toEqual([200, id]);
    await seed.send({
      body: { jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params: { uri: 'server://counter' } },
      headers: { 'X-Session-ID': id },
    });
    await seed.send({
      body: { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'increment' } },
      headers: { 'X-Session-ID': id },
    });
    await stream.until(2);
    expect(stream.messages[1]?.method).toBe('notifications/resources/updated');
    stream.cut();
    // It is a session like any other: it lives on without its stream, and what it missed waits for the next one.
    await expect
      .poll(async () => {
        await seed.send({
          body: { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'increment' } },
          headers: { 'X-Session-ID': id },
        });
        const again = new EventReader(
          await seed.open({
            method: 'GET',
            path: '/mcp/sse',
            headers: { Accept: 'text/event-stream', 'X-Session-ID': id },
          }),
        );
        await again.until(1);
        const heard = again.messages.length;
        again.cut();
        return heard;
      })
      .toBeGreaterThanOrEqual(1);
    const twice = await initialize({ 'X-Session-ID': id });
    expect([twice.status, twice.json.error?.code]).toEqual([400, -32600]);
  });
});

describe('the profile with POST /message', () => {
  test('S4-53: a POST without a stream is answered in the body, one for a stream on the stream', async () => {
    const { client: system } = await start({ compat: { replyPath: '/message' }, sessions: 'optional' }, ['2024-11-05']);
    const opened = await system.send({ path: '/message', body: initializeBody('2024-11-05') });
    expect([opened.status, opened.json.result?.['protocolVersion']]).toEqual([200, '2024-11-05']);
    const listed = await system.send({
      path: '/message',
      body: { jsonrpc: '2.0', id: 2, method: 'tools/list' },
      headers: { Accept: both },
    });
    expect([listed.status, listed.headers['content-type']]).toEqual([200, 'application/json']);
    const { stream, endpoint } = await open(system);
    expect((await system.send({ path: endpoint, body: initializeBody('2024-11-05') })).status).toBe(202);
    expect(await messages(stream, 1)).toMatchObject([{ result: { protocolVersion: '2024-11-05' } }]);
    stream.cut();
  });
});

test('the addresses are those of one server', () => {
  expect(http.url).toBe(`http://127.0.0.1:${http.port}/mcp`);
});
