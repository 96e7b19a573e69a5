// An origin without a path: if no server is there, the usual path of the same origin is tried.
import { afterEach, expect, test } from 'vitest';
import { type ClientError, type ConnectOptions, connect, EraCache } from '../../src/client/index.ts';
import { type FaultyServer, type Manners, startFaultyServer } from './faulty/http-server.ts';

let server: FaultyServer;
let paths: string[] = [];

afterEach(() => server.close());

/** A proper server at one path; the root says `status`. Answers the origin, as people type it. */
async function start(at: string | undefined, root: number | Manners): Promise<string> {
  paths = [];
  server = await startFaultyServer((visit) => {
    const { request, response } = visit;
    paths.push(`${request.method} ${request.url}`);
    if (request.url === at) return false;
    if (request.url === '/' && typeof root === 'function') return root(visit);
    response.writeHead(request.url === '/' ? (root as number) : 404).end();
    return true;
  });
  return new URL('/', server.url).href.slice(0, -1);
}

const failure = (target: string, options: ConnectOptions): Promise<ClientError> =>
  connect(target, options).then(
    () => expect.unreachable('should have failed'),
    (error: ClientError) => error,
  );

test.each([404, 405])(
  'a server at /mcp is found when its origin answers %i, and at once the next time',
  async (status) => {
    const origin = await start('/mcp', status);
    const eraCache = new EraCache();
    const client = await connect(origin, { eraCache });
    expect((await client.listTools()).length).toBeGreaterThan(0);
    await client.close();
    expect(paths[0]).toBe('POST /');

    paths = [];
    const again = await connect(origin, { eraCache });
    await again.close();
    expect(new Set(paths.map((each) => each.split(' ')[1]))).toEqual(new Set(['/mcp']));
  },
);

test('a web page at the root does not hide the server', async () => {
  const origin = await start('/mcp', ({ request, response }) => {
    if (request.method === 'GET') response.setHeader('content-type', 'text/html').end('<p>Welcome');
    else response.writeHead(404).end('Cannot POST /');
    return true;
  });
  const client = await connect(origin, { eraCache: new EraCache() });
  expect(client.transport).toBe('http');
  await client.close();
});

test('a root that rejects with a JSON-RPC error does not hide the server, one that serves methods does', async () => {
  const reject = (code: number): Manners => {
    return ({ json, message }) => {
      json({ jsonrpc: '2.0', id: message.id ?? null, error: { code, message: 'Not Found' } }, 404);
      return true;
    };
  };
  const client = await connect(await start('/mcp', reject(-32000)), { eraCache: new EraCache() });
  await client.close();
  await server.close();
  expect(await failure(await start('/mcp', reject(-32601)), { eraCache: new EraCache() })).toMatchObject({
    code: 'not-mcp',
  });
  expect(paths.some((each) => each.endsWith('/mcp'))).toBe(false);
});

test('a server at the root is used, and the usual path is not tried', async () => {
  const origin = await start('/', 200);
  const client = await connect(origin, { eraCache: new EraCache() });
  await client.close();
  expect(paths.some((each) => each.endsWith('/mcp'))).toBe(false);
});

test('the error names both paths that were tried, and no other is tried', async () => {
  const origin = await start(undefined, 404);
  const eraCache = new EraCache();
  const error = await failure(origin, { eraCache });
  expect(error).toMatchObject({ code: 'not-mcp' });
  expect(error.message).toMatch(/tried .*; initialize \(2025-11-25\): .*; initialize at \/mcp \(2025-11-25\): /);
  expect(new Set(paths.map((each) => each.split(' ')[1]))).toEqual(new Set(['/', '/mcp']));
  expect(paths.length).toBeLessThanOrEqual(6);
  expect(eraCache.get(`${origin}/`)).toBeUndefined();
});

test.each([401, 403, 500])('a root that answers %i is the server that was meant', async (status) => {
  const origin = await start('/mcp', status);
  await failure(origin, { eraCache: new EraCache(), retry: false });
  expect(paths.some((each) => each.endsWith('/mcp'))).toBe(false);
});

test('a path that was given is the only one', async () => {
  const origin = await start('/mcp', 404);
  await failure(`${origin}/api`, { eraCache: new EraCache() });
  await failure(`${origin}/?key=1`, { eraCache: new EraCache() });
  expect(paths.some((each) => each.endsWith('/mcp'))).toBe(false);
});

test('a server that moved to the root is found there again', async () => {
  const origin = await start('/', 200);
  const eraCache = new EraCache();
  eraCache.remember(`${origin}/`, 'other-path');
  const client = await connect(origin, { eraCache });
  await client.close();
  expect(paths[0]).toBe('POST /mcp');
  expect(eraCache.get(`${origin}/`)).toBe('handshake');
});
