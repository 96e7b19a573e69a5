// Sessions over Streamable HTTP: their ids, their streams, their end, and what the era table says about each request.

import { beforeAll, describe, expect, test } from 'vitest';
import { createServer, type HttpOptions, type HttpServer, type Server, type ServerOptions } from '../../src/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import {
  both,
  EventReader,
  type HttpTestClient,
  initializeBody,
  modernBody,
  modernHeaders,
} from '../support/http-client.ts';

const handshakes = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const closers = useClosers();
const aborted: string[] = [];
const started: string[] = [];

async function start(options: HttpOptions = {}, serverOptions: Partial<ServerOptions> = {}) {
  const server = createServer({ name: 'sessions', version: '1.0.0', ...serverOptions });
  addTools(server);
  const { http, client } = await startHttp(closers, server, { graceMs: 200, ...options });
  return { server, http, client };
}

function addTools(server: Server): void {
  server.tool('echo', {
    description: 'Gives the text back',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    run: ({ text }: { text?: string }) => text ?? '',
  });
  server.tool('who', {
    description: 'Says who asks',
    run: (_args: unknown, ctx) =>
      JSON.stringify({ client: ctx.clientInfo, caps: ctx.clientCapabilities, revision: ctx.revision }),
  });
  server.tool('count', {
    description: 'Counts within the session',
    run: (_args: unknown, ctx) => {
      const values = ctx.session?.values;
      const n = ((values?.get('n') as number | undefined) ?? 0) + 1;
      values?.set('n', n);
      return String(n);
    },
  });
  server.tool('steps', {
    description: 'Reports progress, slowly',
    run: async (_args: unknown, ctx) => {
      for (let n = 1; n <= 3; n++) {
        await ctx.progress(n, 3);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return 'done';
    },
  });
  server.tool('log', {
    description: 'Logs at two levels',
    run: (_args: unknown, ctx) => {
      ctx.log('debug', 'quiet');
      ctx.log('error', 'loud');
      return 'logged';
    },
  });
  server.tool('ask', {
    description: 'Asks the user',
    run: async (_args: unknown, ctx) => {
      const answer = await ctx.elicit('Who?', {
        type: 'object',
        properties: { name: { type: 'string' } },
        required: ['name'],
      });
      return JSON.stringify(answer);
    },
  });
  server.tool('hang', {
    description: 'Ends only when cancelled',
    input: { type: 'object', properties: { name: { type: 'string' } } },
    run: (args: { name?: string }, ctx) =>
      new Promise((_, reject) => {
        started.push(args.name ?? '');
        ctx.signal.addEventListener('abort', () => {
          aborted.push(args.name ?? '');
          reject(ctx.signal.reason);
        });
      }),
  });
  server.resource('test://watched', { name: 'watched', read: () => 'now' });
}

let http: HttpServer;
let client: HttpTestClient;
let server: Server;
beforeAll(async () => {
  ({ http, client, server } = await start());
});

const text = (answer: { json: { result?: Record<string, unknown> } }): string =>
  (answer.json.result?.['content'] as { text: string }[] | undefined)?.[0]?.text ?? '';

describe('opening a session', () => {
  test.each(handshakes)('%s is negotiated and the id is visible ASCII', async (version) => {
    const answer = await client.send({ body: initializeBody(version), headers: { Accept: both } });
    expect(answer.status).toBe(200);
    expect(answer.json.result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'sessions' } });
    expect(answer.headers['mcp-session-id']).toMatch(/^[\x21-\x7e]{1,2048}$/);
  });

  test('its version header is not checked, the body negotiates', async () => {
    const answer = await client.send({
      body: initializeBody('2025-06-18'),
      headers: { Accept: both, 'MCP-Protocol-Version': '1999-01-01' },
    });
    expect(answer.json.result?.['protocolVersion']).toBe('2025-06-18');
  });

  test('a header of the revision without sessions contradicts it', async () => {
    const answer = await client.send({
      body: initializeBody('2025-06-18'),
      headers: { Accept: both, 'MCP-Protocol-Version': '2026-07-28' },
    });
    expect([answer.status, answer.json.id, answer.json.error?.code]).toEqual([400, 'open', -32020]);
  });

  test('with a valid session it is rejected, with an ended one it is not found', async () => {
    const id = await client.initialize();
    const live = await client.send({
      body: initializeBody('2025-11-25'),
      headers: { Accept: both, 'Mcp-Session-Id': id },
    });
    expect([live.status, live.json.error?.code]).toEqual([400, -32600]);
    const dead = await client.send({
      body: initializeBody('2025-11-25'),
      headers: { Accept: both, 'Mcp-Session-Id': 'dead' },
    });
    expect([dead.status, dead.json.error?.code]).toEqual([404, -32001]);
  });

  test('what it negotiated is known to later calls', async () => {
    const id = await client.initialize({ capabilities: { roots: { listChanged: true } } });
    expect(JSON.parse(text(await client.session(id, 'tools/call', { name: 'who' })))).toEqual({
      client: { name: 'test', version: '1.0.0' },
      caps: { roots: { listChanged: true } },
      revision: '2025-11-25',
    });
  });

  test('capabilities too large for a header are stored by the server', async () => {
    const capabilities = { experimental: { big: { text: 'x'.repeat(10_000) } } };
    const id = await client.initialize({ capabilities });
    expect(id.length).toBeLessThan(2048);
    expect(JSON.parse(text(await client.session(id, 'tools/call', { name: 'who' }))).caps).toEqual(capabilities);
  });
});

describe('the era table', () => {
  const ping = { jsonrpc: '2.0', id: 4, method: 'ping' };

  test.each<[string, object, Record<string, string>, number, number | undefined]>([
    ['a request without session', ping, {}, 400, -32000],
    ['a request with an old header and no session', ping, { 'MCP-Protocol-Version': '2025-06-18' }, 400, -32000],
    ['a request without claim under a modern header', ping, { 'MCP-Protocol-Version': '2026-07-28' }, 400, -32602],
    ['the same under a date that is not supported', ping, { 'MCP-Protocol-Version': '2027-01-01' }, 400, -32022],
    ['a notification without session', { jsonrpc: '2.0', method: 'notifications/initialized' }, {}, 400, -32000],
    [
      'a notification under a modern header',
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { 'MCP-Protocol-Version': '2026-07-28' },
      202,
      undefined,
    ],
    ['a response without session', { jsonrpc: '2.0', id: 1, result: {} }, {}, 400, -32000],
    [
      'a response under a modern header',
      { jsonrpc: '2.0', id: 1, result: {} },
      { 'MCP-Protocol-Version': '2026-07-28' },
      400,
      -32600,
    ],
    ['an array without session', [ping], {}, 400, -32000],
    ['an array with a claiming element', [modernBody('tools/list')], {}, 400, -32600],
    ['a claim without headers', modernBody('tools/list'), {}, 400, -32020],
    [
      'a claim of an old revision',
      modernBody('tools/list', {}, 1, { 'io.modelcontextprotocol/protocolVersion': '2025-06-18' }),
      { 'MCP-Protocol-Version': '2025-06-18', 'Mcp-Method': 'tools/list' },
      400,
      -32022,
    ],
  ])('%s', async (_name, body, headers, status, code) => {
    const answer = await client.send({ body, headers: { Accept: both, ...headers } });
    expect([answer.status, answer.json?.error?.code]).toEqual([status, code]);
  });

  test('a request that names its revision is stateless, also with a session id', async () => {
    const id = await client.initialize();
    const answer = await client.send({
      body: modernBody('tools/list'),
      headers: { ...modernHeaders('tools/list'), 'Mcp-Session-Id': id },
    });
    expect([answer.status, answer.json.result?.['resultType']]).toEqual([200, 'complete']);
  });

  test('an invalid version header within a session is rejected, another enabled one is tolerated', async () => {
    const id = await client.initialize({ version: '2025-06-18' });
    const wrong = await client.session(id, 'ping', {}, { headers: { 'MCP-Protocol-Version': 'v999.0.0' } });
    expect([wrong.status, wrong.json.error?.code]).toEqual([400, -32000]);
    const other = await client.session(
      id,
      'tools/call',
      { name: 'who' },
      { headers: { 'MCP-Protocol-Version': '2025-11-25' } },
    );
    expect(JSON.parse(text(other)).revision).toBe('2025-06-18');
  });

  test.each(['v999.0.0', '2026-07-28', ''])(
    'GET and DELETE with the version header %j are rejected',
    async (version) => {
      const id = await client.initialize();
      const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': id, 'MCP-Protocol-Version': version };
      for (const method of ['GET', 'DELETE']) {
        const wrong = await client.send({ method, headers });
        expect([method, wrong.status, wrong.json.error?.message]).toEqual([
          method,
          400,
          expect.stringContaining('Unsupported protocol version'),
        ]);
      }
      expect((await client.session(id, 'ping')).status).toBe(200);
    },
  );

  test.each(handshakes)('a batch is served or rejected as %s requires', async (version) => {
    const id = await client.initialize({ version });
    const answer = await client.send({
      body: [
        { ...ping, id: 1 },
        { jsonrpc: '2.0', method: 'notifications/x' },
        { ...ping, id: 2 },
      ],
      headers: { Accept: both, 'Mcp-Session-Id': id },
    });
    const batches = version < '2025-06-18';
    expect(answer.status).toBe(batches ? 200 : 400);
    if (batches)
      expect(answer.json).toMatchObject([
        { id: 1, result: {} },
        { id: 2, result: {} },
      ]);
    else expect(answer.json.error?.code).toBe(-32600);
  });

  test('a batch of notifications is accepted', async () => {
    const id = await client.initialize({ version: '2025-03-26' });
    const body = [
      { jsonrpc: '2.0', method: 'notifications/x' },
      { jsonrpc: '2.0', id: 'unknown', result: {} },
    ];
    expect((await client.send({ body, headers: { Accept: both, 'Mcp-Session-Id': id } })).status).toBe(202);
  });

  test('unknown methods and wrong params are answered with 200', async () => {
    const id = await client.initialize();
    const unknown = await client.session(id, 'no/such', {}, { id: 'u' });
    expect([unknown.status, unknown.json.id, unknown.json.error?.code]).toEqual([200, 'u', -32601]);
    const discover = await client.session(id, 'server/discover');
    expect([discover.status, discover.json.error?.code]).toEqual([200, -32601]);
  });

  test('a response without a matching request is accepted and ignored', async () => {
    const id = await client.initialize();
    const answer = await client.send({
      body: { jsonrpc: '2.0', id: 'm-1', result: {} },
      headers: { Accept: both, 'Mcp-Session-Id': id },
    });
    expect([answer.status, answer.text]).toEqual([202, '']);
  });

  test('GET and DELETE need a session', async () => {
    for (const method of ['GET', 'DELETE']) {
      const without = await client.send({ method, headers: { Accept: 'text/event-stream' } });
      expect([without.status, without.json.error?.code]).toEqual([400, -32000]);
      const forged = await client.send({
        method,
        headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': 'forged' },
      });
      expect([forged.status, forged.json.error?.code]).toEqual([404, -32001]);
    }
    const wrongType = await client.send({
      method: 'GET',
      headers: { Accept: 'application/json', 'Mcp-Session-Id': 'x' },
    });
    expect([wrongType.status, wrongType.json.error?.code]).toEqual([406, -32000]);
  });
});

describe('the end of a session', () => {
  test('after DELETE the id is unknown everywhere, a second DELETE too', async () => {
    const id = await client.initialize();
    const first = await client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': id } });
    expect([first.status, first.text]).toEqual([200, '']);
    expect((await client.session(id, 'ping')).status).toBe(404);
    expect(
      (await client.send({ method: 'GET', headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': id } })).status,
    ).toBe(404);
    expect((await client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': id } })).status).toBe(404);
  });

  test('DELETE ends its streams and aborts its calls', async () => {
    const id = await client.initialize();
    const stream = new EventReader(
      await client.open({ method: 'GET', headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': id } }),
    );
    const call = client.session(id, 'tools/call', { name: 'hang', arguments: { name: 'deleted' } });
    await expect.poll(() => started.includes('deleted')).toBe(true);
    await client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': id } });
    await stream.end();
    const ended = await call;
    expect([ended.status, ended.headers['content-type'], ended.text]).toEqual([200, 'text/event-stream', '']);
    expect(aborted).toContain('deleted');
  });

  test('an id expires', async () => {
    const { client: short } = await start({ limits: { sessionTtlMs: 60 } });
    const id = await short.initialize();
    await expect.poll(() => short.session(id, 'ping').then(({ status }) => status)).toBe(404);
  });

  test('every changed character makes an id unknown', async () => {
    const id = await client.initialize();
    for (const at of [0, 5, 40, id.length - 1]) {
      const forged = id.slice(0, at) + (id[at] === 'A' ? 'B' : 'A') + id.slice(at + 1);
      expect((await client.session(forged, 'ping')).status).toBe(404);
    }
    expect((await client.session('x'.repeat(5000), 'ping')).status).toBe(404);
  });
});

describe('a session and its principal', () => {
  test('the id of one principal is unknown to another', async () => {
    const { client: guarded } = await start({
      authenticate: (request) => {
        const name = request.get('authorization')?.replace('Bearer ', '');
        return name === undefined ? undefined : { id: name, issuer: 'test' };
      },
    });
    const ada = { Authorization: 'Bearer ada' };
    const id = await guarded.initialize({ headers: ada });
    expect((await guarded.session(id, 'ping', {}, { headers: ada })).status).toBe(200);
    for (const method of ['POST', 'GET', 'DELETE']) {
      const body = method === 'POST' ? { jsonrpc: '2.0', id: 1, method: 'ping' } : undefined;
      const headers = { Accept: both, 'Mcp-Session-Id': id, Authorization: 'Bearer bob' };
      const other = await guarded.send({ method, body, headers });
      expect([other.status, other.json.error?.code]).toEqual([404, -32001]);
    }
    const anonymous = await guarded.session(id, 'ping');
    expect([anonymous.status, anonymous.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    expect((await guarded.session(id, 'ping', {}, { headers: ada })).status).toBe(200);
  });
});

describe('the state of a session', () => {
  test('log level, subscriptions and values outlive the request that set them', async () => {
    const id = await client.initialize();
    expect((await client.session(id, 'tools/call', { name: 'log' })).events).toHaveLength(3);
    await client.session(id, 'logging/setLevel', { level: 'debug' });
    const loud = await client.session(id, 'tools/call', { name: 'log' });
    expect(loud.events.filter(({ data }) => data?.includes('notifications/message'))).toHaveLength(2);
    for (const n of ['1', '2', '3']) expect(text(await client.session(id, 'tools/call', { name: 'count' }))).toBe(n);
    const other = await client.initialize();
    expect(text(await client.session(other, 'tools/call', { name: 'count' }))).toBe('1');
  });

  test('a change is sent on the GET stream, once, to subscribed sessions', async () => {
    const id = await client.initialize();
    const deaf = await client.initialize();
    const open = (session: string) =>
      client.open({ method: 'GET', headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': session } });
    const stream = new EventReader(await open(id));
    const silent = new EventReader(await open(deaf));
    await client.session(id, 'resources/subscribe', { uri: 'test://watched' });
    server.resourceUpdated('test://watched');
    const [update] = await stream.until(1);
    expect(update).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'test://watched' },
    });
    const added = server.tool('added', { description: 'x', run: () => '' });
    await stream.until(2);
    await silent.until(1);
    added.remove();
    await stream.until(3);
    expect(stream.messages.map(({ method }) => method)).toEqual([
      'notifications/resources/updated',
      'notifications/tools/list_changed',
      'notifications/tools/list_changed',
    ]);
    expect(silent.messages.some(({ method }) => method === 'notifications/resources/updated')).toBe(false);
    stream.cut();
    silent.cut();
  });

  test('changes of a subscription are buffered for the next GET stream, one per resource', async () => {
    const id = await client.initialize();
    await client.session(id, 'resources/subscribe', { uri: 'test://watched' });
    for (let n = 0; n < 3; n++) {
      server.resourceUpdated('test://watched');
      await client.session(id, 'ping');
    }
    const stream = new EventReader(
      await client.open({ method: 'GET', headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': id } }),
    );
    await stream.until(1);
    server.resourceUpdated('test://watched');
    await stream.until(2);
    expect(stream.messages).toHaveLength(2);
    stream.cut();
  });

  test('the number of sessions in memory is limited, but their subscriptions are stored', async () => {
    const { client: crowded, server: watched } = await start({
      limits: { maxHeldSessions: 3 },
      metricsPath: '/metrics',
    });
    const ids: string[] = [];
    for (let n = 0; n < 8; n++) {
      const id = await crowded.initialize();
      await crowded.session(id, 'resources/subscribe', { uri: 'test://watched' });
      ids.push(id);
    }
    const held = /^mooring_sessions_in_memory (\d+)$/m.exec(
      (await crowded.send({ method: 'GET', path: '/metrics' })).text,
    );
    expect(Number(held?.[1])).toBe(3);
    const stream = new EventReader(
      await crowded.open({ method: 'GET', headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': ids[0] } }),
    );
    await expect.poll(() => stream.events.length).toBeGreaterThan(0);
    watched.resourceUpdated('test://watched');
    expect(await stream.until(1)).toMatchObject([{ method: 'notifications/resources/updated' }]);
    stream.cut();
  });

  test('a second GET stream replaces the first', async () => {
    const id = await client.initialize();
    await client.session(id, 'resources/subscribe', { uri: 'test://watched' });
    const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': id };
    const first = new EventReader(await client.open({ method: 'GET', headers }));
    const second = new EventReader(await client.open({ method: 'GET', headers }));
    await first.end();
    server.resourceUpdated('test://watched');
    await second.until(1);
    expect([first.messages.length, second.messages.length]).toEqual([0, 1]);
    second.cut();
  });
});

describe('calls within a session', () => {
  test('input requests are sent on the stream of the call and answered by another POST', async () => {
    const id = await client.initialize({ capabilities: { elicitation: {} } });
    const stream = new EventReader(
      await client.open({
        body: { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'ask' } },
        headers: { Accept: both, 'Mcp-Session-Id': id },
      }),
    );
    const [question] = await stream.until(1);
    expect(question?.method).toBe('elicitation/create');
    const result = { action: 'accept', content: { name: 'Ada' } };
    const other = await client.initialize({ capabilities: { elicitation: {} } });
    const reply = { jsonrpc: '2.0', id: question?.id, result };
    const wrong = { ...reply, result: { action: 'accept', content: { name: 'Mallory' } } };
    expect((await client.send({ body: wrong, headers: { Accept: both, 'Mcp-Session-Id': other } })).status).toBe(202);
    expect((await client.send({ body: reply, headers: { Accept: both, 'Mcp-Session-Id': id } })).status).toBe(202);
    const messages = await stream.end();
    expect(messages.at(-1)).toMatchObject({ id: 7, result: { content: [{ text: JSON.stringify(result) }] } });
  });

  test('a client that accepts only JSON gets no input requests', async () => {
    const id = await client.initialize({ capabilities: { elicitation: {} } });
    const answer = await client.session(id, 'tools/call', { name: 'ask' }, { headers: { Accept: 'application/json' } });
    expect(answer.json.result?.['isError']).toBe(true);
  });

  test('a cancelled call ends without a response, and other calls with the same id continue', async () => {
    const id = await client.initialize();
    const other = await client.initialize();
    const mine = client.session(id, 'tools/call', { name: 'hang', arguments: { name: 'mine' } }, { id: 3 });
    const theirs = client.session(other, 'tools/call', { name: 'hang', arguments: { name: 'theirs' } }, { id: 3 });
    const cancel = (session: string) =>
      client.send({
        body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } },
        headers: { Accept: both, 'Mcp-Session-Id': session },
      });
    await expect.poll(async () => (await cancel(id)).status === 202 && aborted.includes('mine')).toBe(true);
    const ended = await mine;
    expect([ended.status, ended.headers['content-type'], ended.text]).toEqual([200, 'text/event-stream', '']);
    expect(aborted).not.toContain('theirs');
    await expect.poll(async () => (await cancel(other)).status === 202 && aborted.includes('theirs')).toBe(true);
    await theirs;
  });

  test('a second request with an id in flight is rejected, the first continues', async () => {
    const id = await client.initialize();
    const first = client.session(
      id,
      'tools/call',
      { name: 'steps' },
      { id: 8, body: { jsonrpc: '2.0', id: 8, method: 'tools/call', params: { name: 'steps' } } },
    );
    const second = await client.session(id, 'tools/call', { name: 'steps' }, { id: 8 });
    const rejection = [second, await first].find(({ status }) => status === 400);
    const served = [second, await first].find(({ status }) => status === 200);
    expect(rejection?.json.error?.code).toBe(-32600);
    expect(rejection?.json.id ?? null).toBeNull();
    expect(served?.text).toContain('done');
  });

  test('disconnecting cancels nothing', async () => {
    const id = await client.initialize();
    const before = aborted.length;
    const controller = new AbortController();
    const lost = fetch(http.url, {
      method: 'POST',
      signal: controller.signal,
      headers: { Accept: both, 'Content-Type': 'application/json', 'Mcp-Session-Id': id },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 11,
        method: 'tools/call',
        params: { name: 'hang', arguments: { name: 'left' } },
      }),
    });
    await expect.poll(() => started.includes('left')).toBe(true);
    controller.abort();
    await expect(lost).rejects.toThrow();
    await client.session(id, 'ping');
    await client.session(id, 'ping');
    expect(aborted.length).toBe(before);
    await client.send({
      body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 11 } },
      headers: { Accept: both, 'Mcp-Session-Id': id },
    });
    await expect.poll(() => aborted.length).toBe(before + 1);
  });
});

describe('without sessions', () => {
  test('requests of handshake revisions are served without a session when configured', async () => {
    const { client: free } = await start({ sessions: 'off' });
    const opened = await free.send({ body: initializeBody('2025-06-18'), headers: { Accept: both } });
    expect([opened.status, opened.headers['mcp-session-id']]).toEqual([200, undefined]);
    const who = (headers: Record<string, string>) =>
      free.send({
        body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'who' } },
        headers: { Accept: both, ...headers },
      });
    expect(JSON.parse(text(await who({}))).revision).toBe('2025-03-26');
    expect(JSON.parse(text(await who({ 'MCP-Protocol-Version': '2025-06-18' }))).revision).toBe('2025-06-18');
    expect((await who({ 'MCP-Protocol-Version': 'nonsense' })).status).toBe(400);
    const rejected = await free.send({ method: 'GET', headers: { Accept: 'text/event-stream' } });
    expect([rejected.status, rejected.headers['allow']]).toEqual([405, 'POST']);
    const asked = await free.send({
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask' } },
      headers: { Accept: both },
    });
    expect(asked.json.result?.['isError']).toBe(true);
  });

  test('sessions may be optional', async () => {
    const { client: free } = await start({ sessions: 'optional' });
    const id = await free.initialize();
    expect((await free.session(id, 'ping')).status).toBe(200);
    expect(
      (await free.send({ body: { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers: { Accept: both } })).status,
    ).toBe(200);
    const batch = await free.send({ body: [{ jsonrpc: '2.0', id: 1, method: 'ping' }], headers: { Accept: both } });
    expect(batch.json).toMatchObject([{ id: 1, result: {} }]);
  });

  test.each(['optional', 'off'] as const)('a response without one is rejected where they are %s', async (sessions) => {
    const { client: free } = await start({ sessions });
    const response = { jsonrpc: '2.0', id: 'm-1', result: {} };
    for (const body of [response, { jsonrpc: '2.0', id: 'm-1', error: { code: -1, message: 'no' } }, [response]]) {
      const answer = await free.send({ body, headers: { Accept: both } });
      expect([answer.status, answer.json.error?.code]).toEqual([400, -32600]);
    }
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect((await free.send({ body: notification, headers: { Accept: both } })).status).toBe(202);
  });
});

describe('only stateless revisions', () => {
  test('the error for other revisions names the supported version', async () => {
    const { client: modern } = await start({}, { rules: { handshakeVersions: [] } });
    const opened = await modern.send({ body: initializeBody('2025-06-18'), headers: { Accept: both } });
    expect([opened.status, opened.json.error?.code, opened.json.error?.data]).toEqual([
      400,
      -32022,
      { supported: ['2026-07-28'], requested: '2025-06-18' },
    ]);
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const old = await modern.send({ body: ping, headers: { Accept: both, 'MCP-Protocol-Version': '2025-06-18' } });
    expect([old.status, old.json.error?.code]).toEqual([400, -32022]);
    const bare = await modern.send({ body: ping, headers: { Accept: both } });
    expect([bare.status, bare.json.error?.code]).toEqual([400, -32020]);
    expect((await modern.send({ body: [ping], headers: { Accept: both } })).status).toBe(400);
    expect(
      (await modern.send({ body: { jsonrpc: '2.0', method: 'notifications/initialized' }, headers: { Accept: both } }))
        .status,
    ).toBe(202);
    for (const method of ['GET', 'DELETE']) {
      const rejected = await modern.send({ method, headers: { Accept: 'text/event-stream' } });
      expect([rejected.status, rejected.headers['allow']]).toEqual([405, 'POST']);
    }
  });
});

describe('several processes', () => {
  test('a session continues in another process that shares only the key', async () => {
    const key = 'one key that two processes share here';
    const [here, there] = [await start({}, { key }), await start({}, { key })];
    const id = await here.client.initialize({ capabilities: { sampling: {} } });
    expect(JSON.parse(text(await there.client.session(id, 'tools/call', { name: 'who' }))).caps).toEqual({
      sampling: {},
    });
    const other = await start({}, { key: 'a key of another deployment, long enough' });
    expect((await other.client.session(id, 'ping')).status).toBe(404);
  });
});
