// The same server as a function from Request to Response: the rules of the endpoint without sockets.

import { afterAll, describe, expect, test } from 'vitest';
import { createServer, type EndpointOptions, type FetchHandler, toFetch } from '../../src/index.ts';
import { both, initializeBody, type Message, modernBody, modernHeaders, parseEvents } from '../support/http-client.ts';

const handlers: FetchHandler[] = [];
const started: string[] = [];
const aborted: string[] = [];

function make(options: EndpointOptions = {}) {
  const server = createServer({ name: 'fetch', version: '1.0.0' });
  server.tool('echo', {
    description: 'Gives the text back',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    run: ({ text }: { text?: string }) => text ?? '',
  });
  server.tool('steps', {
    description: 'Reports progress',
    run: async (_args: unknown, ctx) => {
      for (let n = 1; n <= 3; n++) await ctx.progress(n, 3);
      return 'done';
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
  server.resource('test://watched', { name: 'watched', read: () => '' });
  const handle = toFetch(server, options);
  handlers.push(handle);
  const post = (body: unknown, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    handle(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: both, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
      }),
    );
  return { server, handle, post };
}

afterAll(async () => {
  for (const handle of handlers) await handle.close(100);
});

const json = async (response: Response): Promise<Message> => (await response.json()) as Message;

test('a stateless call is answered as JSON, with interim messages as a stream', async () => {
  const { post } = make();
  const params = { name: 'echo', arguments: { text: 'hé' } };
  const plain = await post(modernBody('tools/call', params), modernHeaders('tools/call', params));
  expect([plain.status, plain.headers.get('content-type')]).toEqual([200, 'application/json']);
  expect((await json(plain)).result).toMatchObject({ content: [{ text: 'hé' }] });
  const stream = await post(
    modernBody('tools/call', { name: 'steps' }, 1, { progressToken: 1 }),
    modernHeaders('tools/call', { name: 'steps' }),
  );
  expect(stream.headers.get('content-type')).toBe('text/event-stream');
  expect(parseEvents(await stream.text())).toHaveLength(4);
});

test('sessions are opened, used, streamed and ended', async () => {
  const { server, handle, post } = make();
  const opened = await post(initializeBody('2025-11-25'));
  const id = opened.headers.get('mcp-session-id') as string;
  expect(id).toBeTruthy();
  const session = { 'Mcp-Session-Id': id };
  expect((await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session)).status).toBe(202);
  await post({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'test://watched' } }, session);
  const stream = await handle(
    new Request('http://localhost/mcp', { headers: { ...session, Accept: 'text/event-stream' } }),
  );
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  server.resourceUpdated('test://watched');
  let text = '';
  while (!text.includes('resources/updated')) text += decoder.decode((await reader.read()).value);
  await reader.cancel();
  const gone = await handle(new Request('http://localhost/mcp', { method: 'DELETE', headers: session }));
  expect(gone.status).toBe(200);
  expect((await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, session)).status).toBe(404);
});

describe('the rules of the endpoint hold', () => {
  test('media types, sizes and UTF-8', async () => {
    const { post } = make({ limits: { maxBodyBytes: 1000 } });
    expect((await post('{}', { 'Content-Type': 'text/plain' })).status).toBe(415);
    expect((await post('{')).status).toBe(400);
    expect((await post(`"${'x'.repeat(2000)}"`)).status).toBe(413);
    const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(500)) });
    expect((await post('', {}, { body: endless, duplex: 'half' } as RequestInit)).status).toBe(413);
    const broken = await post('', {}, { body: new Uint8Array([0x22, 0xff, 0x22]) });
    expect([broken.status, (await json(broken)).error?.code]).toEqual([400, -32700]);
  });

  test('Origin is denied unless it is listed, Host where hosts are listed', async () => {
    const { post } = make({ allowedHosts: ['localhost'], allowedOrigins: ['https://app.example'] });
    const params = modernBody('tools/list');
    const headers = modernHeaders('tools/list');
    expect((await post(params, headers)).status).toBe(200);
    expect((await post(params, { ...headers, Origin: 'https://evil.test' })).status).toBe(403);
    const listed = await post(params, { ...headers, Origin: 'https://app.example' });
    expect([listed.status, listed.headers.get('access-control-allow-origin')]).toEqual([200, 'https://app.example']);
    const { handle } = make({ allowedHosts: ['mcp.example'] });
    expect((await handle(new Request('http://evil.test/mcp'))).status).toBe(403);
    expect((await make().post(params, { ...headers, Origin: 'http://localhost' })).status).toBe(403);
  });

  test('unsupported HTTP methods are rejected', async () => {
    const { handle } = make();
    for (const method of ['PUT', 'constructor', '__proto__']) {
      expect((await handle(new Request('http://localhost/mcp', { method }))).status).toBe(405);
    }
  });

  test('authentication, health and unknown paths', async () => {
    const { handle, post } = make({
      authenticate: (request) => (request.get('authorization') === 'Bearer good' ? { id: 'ada' } : undefined),
    });
    expect((await post(modernBody('tools/list'), modernHeaders('tools/list'))).status).toBe(401);
    expect(
      (await post(modernBody('tools/list'), { ...modernHeaders('tools/list'), Authorization: 'Bearer good' })).status,
    ).toBe(200);
    expect((await handle(new Request('http://localhost/health'))).status).toBe(200);
    expect((await handle(new Request('http://localhost/nowhere'))).status).toBe(404);
  });
});

test('authenticate gets the Request that the application has passed', async () => {
  const users = new WeakMap<object, string>();
  const { handle } = make({
    authenticate: ({ raw }) => {
      const id = users.get(raw as Request);
      return id === undefined ? undefined : { id };
    },
  });
  const request = () =>
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: both, ...modernHeaders('tools/list') },
      body: JSON.stringify(modernBody('tools/list')),
    });
  const known = request();
  users.set(known, 'ada');
  expect([(await handle(known)).status, (await handle(request())).status]).toEqual([200, 401]);
});

test('aborting the request, or cancelling its stream, cancels a stateless call', async () => {
  const { post } = make();
  const before = aborted.length;
  const begun = started.length;
  const controller = new AbortController();
  void post(modernBody('tools/call', { name: 'hang' }), modernHeaders('tools/call', { name: 'hang' }), {
    signal: controller.signal,
  });
  await expect.poll(() => started.length).toBe(begun + 1);
  controller.abort();
  await expect.poll(() => aborted.length).toBe(before + 1);
});

test('a session continues on a node:http server with the same key', async () => {
  const key = 'a long key for two kinds of server';
  const { serveHttp } = await import('../../src/index.ts');
  const [one, two] = [createServer({ name: 'a', version: '1', key }), createServer({ name: 'a', version: '1', key })];
  const handle = toFetch(one);
  handlers.push(handle);
  const http = await serveHttp(two, { port: 0, graceMs: 100 });
  const opened = await handle(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(initializeBody('2025-06-18')),
    }),
  );
  const pong = await fetch(http.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Mcp-Session-Id': opened.headers.get('mcp-session-id') as string },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  });
  expect(await pong.json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  await http.close();
});

test('closing ends open streams', async () => {
  const { handle, post } = make();
  const stream = await post(
    modernBody('subscriptions/listen', { notifications: {} }, 'sub'),
    modernHeaders('subscriptions/listen'),
  );
  await handle.close(100);
  expect(parseEvents(await stream.text()).at(-1)?.data).toContain('"id":"sub"');
  expect((await post(modernBody('tools/list'), modernHeaders('tools/list'))).status).toBe(503);
});

test('a handler that could not be loaded is loaded again by the next request, and closes without an error', async () => {
  const server = createServer({ name: 'late', version: '1.0.0' });
  let tries = 0;
  const prepare = server.prepare.bind(server);
  server.prepare = () => (++tries === 1 ? Promise.reject(new Error('no such file')) : prepare());
  const handle = toFetch(server);
  const post = (): Promise<Response> =>
    handle(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: both, ...modernHeaders('server/discover', {}) },
        body: JSON.stringify(modernBody('server/discover', {})),
      }),
    );
  await expect(post()).rejects.toThrow('no such file');
  await handle.close();
  expect((await post()).status).toBe(200);
  await handle.close();
  expect(tries).toBe(2);
});

/** The parts of the server of Bun, as bun-types has them, that matter here. */
interface BunServer {
  readonly port: number | undefined;
  stop(closeActiveConnections?: boolean): Promise<void>;
  requestIP(request: Request): { address: string; family: 'IPv4' | 'IPv6'; port: number } | null;
}

test('Bun can be given the handler as it is, and its server knows the address of the client', async () => {
  let address: string | undefined;
  const server = createServer({ name: 'bun', version: '1.0.0' });
  const handler = toFetch(server, {
    authenticate: (request) => {
      address = request.address;
      return undefined;
    },
  });
  const fetch: (this: BunServer, request: Request, server: BunServer) => Response | Promise<Response> = handler;
  const bun = {
    address: { address: '127.0.0.1', family: 'IPv4', port: 3000 },
    port: 3000,
    stop: async () => {},
    requestIP: () => ({ address: '192.0.2.7', family: 'IPv4', port: 40_000 }),
  } as BunServer;
  expect((await fetch.call(bun, new Request('http://localhost/mcp', { method: 'POST' }), bun)).status).toBe(401);
  expect(address).toBe('192.0.2.7');
});

test('a runtime may pass its own object as the second argument', async () => {
  const { handle } = make();
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: both },
    body: JSON.stringify(initializeBody('2025-11-25')),
  });
  const server = { address: { address: '127.0.0.1', family: 'IPv4', port: 3000 } };
  expect((await handle(request, server as never)).status).toBe(200);
});
