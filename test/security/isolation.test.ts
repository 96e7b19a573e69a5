// Nothing of one principal is another one's: sessions, cursors, states of unfinished calls, subscriptions, notes. And a
// session id, a cursor or a handle is never a way in. Over every transport that authenticates.

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createServer, type Server } from '../../src/engine/server.ts';
import type { Principal } from '../../src/protocol/exchange.ts';
import { createToken, createTokenAuthenticator, requireScopes } from '../../src/security/auth/index.ts';
import { rateLimit, shedLoad } from '../../src/security/limits/index.ts';
import { type HttpServer, serveHttp } from '../../src/transports/http.ts';
import { useClosers } from '../support/closers.ts';
import { EventReader, HttpTestClient, initializeBody, type Message, modernBody } from '../support/http-client.ts';
import { TestClient } from '../support/test-client.ts';

const tokens = { alice: createToken(), aliceAdmin: createToken(), bob: createToken(), brief: createToken() };
const bearer = (who: keyof typeof tokens) => ({ Authorization: `Bearer ${tokens[who].token}` });
const authenticate = createTokenAuthenticator({
  tokens: [
    { id: 'alice', hash: tokens.alice.hash, scopes: ['use'] },
    { id: 'alice', hash: tokens.aliceAdmin.hash, scopes: ['use', 'admin'] },
    { id: 'bob', hash: tokens.bob.hash, scopes: ['use'] },
    { id: 'brief', hash: tokens.brief.hash, expires: new Date(Date.now() + 600_000).toISOString() },
  ],
});

/** What became of calls that only end when they are cancelled. */
const hung: string[] = [];

/** Notes of the caller, and input requests by retry. */
function notebook(): Server {
  const server = createServer({ name: 'notebook', version: '1.0.0', limits: { pageSize: 2 } });
  const notes = new Map<string, Map<string, string>>();
  const own = (principal: Principal | undefined): Map<string, string> => {
    const key = `${principal?.issuer} ${principal?.id}`;
    let mine = notes.get(key);
    if (mine === undefined) notes.set(key, (mine = new Map()));
    return mine;
  };
  server.tool('write', {
    input: {
      type: 'object',
      properties: { id: { type: 'string' }, text: { type: 'string' } },
      required: ['id', 'text'],
    },
    run: ({ id, text }, ctx) => {
      own(ctx.principal).set(String(id), String(text));
      const writer = ctx.principal?.id;
      server.resourceUpdated(`note://${id}`, (principal) => principal?.id === writer);
      return 'written';
    },
  });
  server.tool('confirm', {
    input: { type: 'object', properties: { what: { type: 'string' } } },
    run: async ({ what }, ctx) => {
      const secret = await ctx.step('secret', () => `secret of ${ctx.principal?.id}`);
      const { action } = await ctx.elicit('Sure?', { type: 'object', properties: {} }, { key: 'sure' });
      return `${action} ${what} ${secret}`;
    },
  });
  server.tool('admin', { run: () => 'administered' });
  server.tool('hang', {
    run: (_args, ctx) =>
      new Promise((_, reject) => {
        hung.push(`${ctx.principal?.id} begins`);
        ctx.signal.addEventListener('abort', () => {
          hung.push(`${ctx.principal?.id} ends`);
          reject(new Error('gone'));
        });
      }),
  });
  server.resourceTemplate('note://{id}', {
    name: 'note',
    read: ({ id }, ctx) => own(ctx.principal).get(id),
    list: (principal) => [...own(principal).keys()].map((id) => ({ uri: `note://${id}`, name: id })),
  });
  server.around(requireScopes([{ tools: ['admin'], scopes: ['use', 'admin'] }]));
  return server;
}

let server: Server;
let http: HttpServer;
let client: HttpTestClient;
const closers = useClosers();

beforeAll(async () => {
  server = notebook();
  http = await serveHttp(server, { port: 0, authenticate, graceMs: 100 });
  client = new HttpTestClient(http.port);
});
afterAll(async () => {
  client.close();
  await http.close();
});

describe('a session', () => {
  let session = '';
  beforeEach(async () => {
    session = await client.initialize({ headers: bearer('alice') });
  });

  test('of another caller does not exist, for any request, and its owner is not affected', async () => {
    const made = `${session.slice(0, -4)}AAAA`;
    for (const [method, body] of [
      ['POST', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
      ['GET', undefined],
      ['DELETE', undefined],
    ] as const) {
      const headers = { ...bearer('bob'), Accept: 'application/json, text/event-stream' };
      const theirs = await client.send({ method, body, headers: { ...headers, 'Mcp-Session-Id': session } });
      const unknown = await client.send({ method, body, headers: { ...headers, 'Mcp-Session-Id': made } });
      expect(theirs.status, method).toBe(404);
      expect([theirs.status, theirs.text], method).toEqual([unknown.status, unknown.text]);
    }
    expect((await client.session(session, 'tools/list', {}, { headers: bearer('alice') })).status).toBe(200);
  });

  test('is no credential: without a token its id opens nothing', async () => {
    expect((await client.session(session, 'tools/list')).status).toBe(401);
    expect((await client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': session } })).status).toBe(401);
    expect((await client.session(session, 'tools/list', {}, { headers: bearer('alice') })).status).toBe(200);
  });

  test('lets a better token do more at once, and a lesser one less', async () => {
    const admin = (who: keyof typeof tokens) =>
      client.session(session, 'tools/call', { name: 'admin' }, { headers: bearer(who) });
    const rejected = await admin('alice');
    expect(rejected.status).toBe(403);
    expect(rejected.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="use admin"');
    expect((await admin('aliceAdmin')).json.result).toBeDefined();
    expect((await admin('alice')).status).toBe(403);
  });

  test('cannot be used to cancel what others do', async () => {
    const bobs = await client.initialize({ headers: bearer('bob') });
    const accept = { Accept: 'application/json, text/event-stream' };
    const call = { jsonrpc: '2.0', id: 'same', method: 'tools/call', params: { name: 'hang' } };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'same' } };
    const hanging = client.send({ body: call, headers: { ...bearer('alice'), ...accept, 'Mcp-Session-Id': session } });
    await expect.poll(() => hung).toEqual(['alice begins']);
    await client.send({ body: cancel, headers: { ...bearer('bob'), ...accept, 'Mcp-Session-Id': bobs } });
    await client.session(session, 'ping', {}, { headers: bearer('alice') });
    expect(hung).toEqual(['alice begins']);
    await client.send({ body: cancel, headers: { ...bearer('alice'), ...accept, 'Mcp-Session-Id': session } });
    await hanging;
    expect(hung).toEqual(['alice begins', 'alice ends']);
  });

  test('has streams that no other caller can resume', async () => {
    const stream = new EventReader(
      await client.open({
        method: 'GET',
        headers: { ...bearer('alice'), Accept: 'text/event-stream', 'Mcp-Session-Id': session },
      }),
    );
    closers.push(() => stream.cut());
    await client.session(session, 'resources/subscribe', { uri: 'note://1' }, { headers: bearer('alice') });
    await client.session(
      session,
      'tools/call',
      { name: 'write', arguments: { id: '1', text: 'mine' } },
      { headers: bearer('alice') },
    );
    const messages = await stream.until(1);
    expect(messages.some(({ method }) => method === 'notifications/resources/updated')).toBe(true);
    const last = stream.events.find(({ id }) => id !== undefined)?.id ?? '';
    const bobs = await client.initialize({ headers: bearer('bob') });
    const replay = await client.open({
      method: 'GET',
      headers: { ...bearer('bob'), Accept: 'text/event-stream', 'Mcp-Session-Id': bobs, 'Last-Event-ID': last },
    });
    const reader = new EventReader(replay);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(reader.messages).toEqual([]);
    reader.cut();
    stream.cut();
  });

  test('ends with its token', async () => {
    const brief = await client.initialize({ headers: bearer('brief') });
    const call = () => client.session(brief, 'tools/list', {}, { headers: bearer('brief') });
    expect((await call()).status).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 601_000 });
    try {
      await expect.poll(async () => (await call()).status).toBe(401);
    } finally {
      vi.useRealTimers();
    }
  });
});

test('a cursor of another caller is rejected', async () => {
  const connections = new Map<string, TestClient>();
  for (const id of ['alice', 'bob']) {
    connections.set(id, await TestClient.open(server, undefined, {}, { transport: 'memory', principal: { id } }));
  }
  const [alice, bob] = [connections.get('alice') as TestClient, connections.get('bob') as TestClient];
  const { nextCursor } = (await alice.request('tools/list')).result;
  expect(nextCursor).toBeDefined();
  expect((await bob.request('tools/list', { cursor: nextCursor })).error?.message).toContain('Invalid cursor');
  expect((await bob.request('resources/list', { cursor: nextCursor })).error?.message).toContain('Invalid cursor');
  expect((await alice.request('tools/list', { cursor: nextCursor })).result.tools.length).toBeGreaterThan(0);
});

describe('the state of an unfinished call', () => {
  const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
  const answers = { sure: { action: 'accept', content: {} } };
  const confirm = (who: keyof typeof tokens, params: Record<string, unknown>) =>
    client.modern(
      'tools/call',
      { name: 'confirm', arguments: { what: 'x' }, ...params },
      { headers: bearer(who), meta: capabilities },
    );

  test('is good for the same call of the same caller, and for nothing else', async () => {
    const asked = await confirm('alice', {});
    const requestState = asked.json.result?.['requestState'] as string;
    expect(asked.json.result?.['resultType']).toBe('input_required');
    const wrong: [string, Promise<{ json: Message }>][] = [
      ['another caller', confirm('bob', { requestState, inputResponses: answers })],
      ['other arguments', confirm('alice', { requestState, inputResponses: answers, arguments: { what: 'y' } })],
      [
        'another tool',
        client.modern(
          'tools/call',
          { name: 'write', arguments: { id: '1', text: '' }, requestState },
          { headers: bearer('alice') },
        ),
      ],
      ['a state that was never sealed', confirm('alice', { requestState: 'made-up', inputResponses: answers })],
    ];
    for (const [what, answer] of wrong) {
      const { json } = await answer;
      expect(json.error?.message ?? JSON.stringify(json.result), what).toMatch(/Invalid requestState|written/);
      expect(JSON.stringify(json), what).not.toContain('secret of alice');
    }
    const done = await confirm('alice', { requestState, inputResponses: answers });
    expect(JSON.stringify(done.json.result)).toContain('accept x secret of alice');
  });

  test('does not survive a single changed bit', async () => {
    const state = (await confirm('alice', {})).json.result?.['requestState'] as string;
    for (let n = 0; n < 40; n++) {
      const at = Math.floor((n / 40) * state.length);
      const letter = state[at] === 'A' ? 'B' : 'A';
      const { json } = await confirm('alice', {
        requestState: state.slice(0, at) + letter + state.slice(at + 1),
        inputResponses: answers,
      });
      expect(json.error?.message, `position ${at}`).toContain('Invalid requestState');
    }
  });
});

test('notes of one caller are not in the lists of another, cannot be read, and their changes are not announced', async () => {
  const alice = await client.initialize({ headers: bearer('alice') });
  const bob = await client.initialize({ headers: bearer('bob') });
  await client.session(bob, 'resources/subscribe', { uri: 'note://diary' }, { headers: bearer('bob') });
  const stream = new EventReader(
    await client.open({
      method: 'GET',
      headers: { ...bearer('bob'), Accept: 'text/event-stream', 'Mcp-Session-Id': bob },
    }),
  );
  const args = { id: 'diary', text: 'dear diary' };
  await client.session(alice, 'tools/call', { name: 'write', arguments: args }, { headers: bearer('alice') });
  const read = (session: string, who: keyof typeof tokens) =>
    client.session(session, 'resources/read', { uri: 'note://diary' }, { headers: bearer(who) });
  expect(JSON.stringify((await read(alice, 'alice')).json.result)).toContain('dear diary');
  expect((await read(bob, 'bob')).json.error?.message).toContain('not found');
  const listed = await client.session(bob, 'resources/list', {}, { headers: bearer('bob') });
  expect(JSON.stringify(listed.json.result)).not.toContain('diary');
  expect(stream.messages).toEqual([]);
  stream.cut();
});

describe('a WebSocket', () => {
  const url = () => http.url.replace('http', 'ws');
  const statusOf = (socket: WebSocket): Promise<number | 'open'> =>
    new Promise((resolve) => {
      socket.on('open', () => resolve('open'));
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
      socket.on('error', () => {});
    });

  test('opens only with a token in the request that opens it', async () => {
    expect(await statusOf(new WebSocket(url()))).toBe(401);
    expect(await statusOf(new WebSocket(`${url()}?access_token=${tokens.alice.token}`))).toBe(401);
    expect(await statusOf(new WebSocket(url(), { headers: { Authorization: 'Bearer wrong' } }))).toBe(401);
    const socket = new WebSocket(url(), { headers: bearer('alice') });
    expect(await statusOf(socket)).toBe('open');
    socket.close();
  });

  test('acts for its principal, with its scopes', async () => {
    const ask = async (who: keyof typeof tokens, name: string): Promise<Message> => {
      const socket = new WebSocket(url(), { headers: bearer(who) });
      await statusOf(socket);
      socket.send(JSON.stringify(modernBody('tools/call', { name })));
      const data = await new Promise<string>((resolve) => socket.once('message', (text) => resolve(String(text))));
      socket.close();
      return JSON.parse(data);
    };
    expect((await ask('alice', 'admin')).error).toMatchObject({
      code: 403,
      data: { requiredScopes: ['use', 'admin'] },
    });
    expect((await ask('aliceAdmin', 'admin')).result).toBeDefined();
  });
});

test('messages to the event stream of another caller arrive nowhere', async () => {
  const stream = new EventReader(
    await client.open({ method: 'GET', path: '/sse', headers: { ...bearer('alice'), Accept: 'text/event-stream' } }),
  );
  await expect.poll(() => stream.events.length).toBeGreaterThan(0);
  const path = stream.events[0]?.data ?? '';
  expect(path).toContain('/message');
  const say = (who: keyof typeof tokens | undefined) =>
    client.send({ path, body: initializeBody('2024-11-05'), headers: who === undefined ? {} : bearer(who) });
  expect((await say(undefined)).status).toBe(401);
  expect((await say('bob')).status).toBe(404);
  expect((await say('alice')).status).toBe(202);
  stream.cut();
});

describe('limits over HTTP', () => {
  let limited: HttpServer;
  let other: HttpTestClient;
  let now = 0;
  beforeAll(async () => {
    const made = createServer({ name: 'limited', version: '1.0.0' });
    made.tool('count', { run: () => 'counted' });
    made.around(rateLimit([{ per: 'principal', requests: 1, windowMs: 2_500 }], { now: () => now }));
    limited = await serveHttp(made, { port: 0, authenticate, graceMs: 100 });
    other = new HttpTestClient(limited.port);
  });
  afterAll(async () => {
    other.close();
    await limited.close();
  });

  test('S2-31: say 429 and when to come back, in both eras', async () => {
    const session = await other.initialize({ headers: bearer('alice') });
    const call = () => other.session(session, 'tools/call', { name: 'count' }, { headers: bearer('alice') });
    expect((await call()).status).toBe(200);
    const rejected = await call();
    expect([rejected.status, rejected.headers['retry-after']]).toEqual([429, '3']);
    expect(rejected.json.error).toEqual({ code: -32000, message: 'Rate limit exceeded', data: { retryAfterMs: 2500 } });
    const modern = await other.modern('tools/call', { name: 'count' }, { headers: bearer('alice') });
    expect([modern.status, modern.headers['retry-after'], modern.json.error?.code]).toEqual([429, '3', 429]);
    expect((await other.modern('tools/call', { name: 'count' }, { headers: bearer('bob') })).status).toBe(200);
    now = 2_500;
    expect((await call()).status).toBe(200);
  });

  test('S2-32: do not apply to initialize, ping and health checks', async () => {
    for (let n = 0; n < 5; n++) {
      const session = await other.initialize({ headers: bearer('alice') });
      expect((await other.session(session, 'ping', {}, { headers: bearer('alice') })).json.result).toEqual({});
    }
    expect((await other.send({ method: 'GET', path: '/health' })).status).toBe(200);
  });

  test('an overloaded server responds with 503, and still answers health probes', async () => {
    const made = createServer({ name: 'busy', version: '1.0.0' });
    made.tool('work', { run: () => 'worked' });
    const shedding = shedLoad({ maxInFlight: 0 });
    made.around(shedding.middleware);
    const busy = await serveHttp(made, { port: 0, graceMs: 100 });
    const probe = new HttpTestClient(busy.port);
    const rejected = await probe.modern('tools/call', { name: 'work' });
    expect([rejected.status, rejected.headers['retry-after']]).toEqual([503, '1']);
    expect((await probe.send({ method: 'GET', path: '/health' })).status).toBe(200);
    shedding.close();
    probe.close();
    await busy.close();
  });
});
