import { afterEach, expect, test } from 'vitest';
import { createAuthHttp } from '../../../src/client/auth/http.ts';
import { type FakeHttp, type Reply, type SeenRequest, startFakeHttp } from './fake-http.ts';

const running: FakeHttp[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function serve(route: (request: SeenRequest) => Reply | Promise<Reply>): Promise<FakeHttp> {
  const server = await startFakeHttp(route);
  running.push(server);
  return server;
}

const get = (http: ReturnType<typeof createAuthHttp>, path: string) =>
  http.document('a document', new URL(path, http.guard.server), {});

test('a JSON object is found; pages, lists and client errors mean that it is not here', async () => {
  const server = await serve(({ path }) => {
    if (path === '/good') return { body: { a: 1 } };
    if (path === '/page') return { body: '<!doctype html>', headers: { 'content-type': 'text/html' } };
    if (path === '/list') return { body: '[1]' };
    return { status: 404 };
  });
  const http = createAuthHttp(server.origin);
  expect(await get(http, '/good')).toEqual({ ok: true, value: { a: 1 } });
  for (const path of ['/page', '/list', '/none']) expect(await get(http, path)).toEqual({ ok: false });
});

test('a failing server is a failure, not an absence', async () => {
  const server = await serve(() => ({ status: 503 }));
  await expect(get(createAuthHttp(server.origin), '/x')).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('HTTP 503'),
  });
});

test('a rejected connection says so', async () => {
  const server = await serve(() => ({}));
  await server.close();
  await expect(get(createAuthHttp(server.origin), '/x')).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

test('a few redirects are followed, a loop is not', async () => {
  const server = await serve(({ path }) => {
    const step = Number(path.slice(1));
    if (path === '/loop') return { status: 302, headers: { location: '/loop' } };
    return step === 0 ? { body: { end: true } } : { status: 307, headers: { location: `/${step - 1}` } };
  });
  const http = createAuthHttp(server.origin);
  expect(await get(http, '/3')).toEqual({ ok: true, value: { end: true } });
  await expect(get(http, '/4')).rejects.toMatchObject({ code: 'unreachable' });
  await expect(get(http, '/loop')).rejects.toMatchObject({ code: 'unreachable' });
});

test('a redirect to a forbidden place is not followed', async () => {
  const server = await serve(() => ({ status: 302, headers: { location: 'http://169.254.169.254/latest' } }));
  await expect(get(createAuthHttp(server.origin), '/x')).rejects.toMatchObject({ code: 'insecure-url' });
});

test('a request with a body never follows a redirect', async () => {
  const server = await serve(({ path }) =>
    path === '/token' ? { status: 307, headers: { location: '/elsewhere' } } : { body: { leaked: true } },
  );
  const http = createAuthHttp(server.origin);
  const response = await http.request('a token', `${server.origin}/token`, { method: 'POST', body: 'secret' });
  expect(response.status).toBe(307);
  expect(server.to('/elsewhere')).toHaveLength(0);
});

test('an answer larger than the cap is dropped', async () => {
  const server = await serve(() => ({ body: { text: 'x'.repeat(5000) } }));
  await expect(get(createAuthHttp(server.origin, { maxBytes: 1000 }), '/x')).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('1000 bytes'),
  });
});

test('a server that never answers runs into the time limit', async () => {
  const server = await serve(() => new Promise<Reply>(() => {}));
  await expect(get(createAuthHttp(server.origin, { timeoutMs: 50 }), '/x')).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('no response within 50 ms'),
  });
});

test('an abort by the caller keeps its own reason', async () => {
  const server = await serve(() => new Promise<Reply>(() => {}));
  const controller = new AbortController();
  const pending = createAuthHttp(server.origin).document('x', new URL(server.origin), { signal: controller.signal });
  controller.abort(new Error('changed my mind'));
  await expect(pending).rejects.toThrow('changed my mind');
});

test('limits apply to another host as well', async () => {
  const http = createAuthHttp('https://mcp.example.com/', { maxBytes: 10 });
  const server = await serve(() => ({ body: { long: 'enough to exceed it' } }));
  expect(() => http.guard.check('x', server.origin)).toThrow();
  await expect(get(http.toward(server.origin), '/x')).rejects.toMatchObject({ code: 'unreachable' });
});
