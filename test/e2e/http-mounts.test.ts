// Applications below a path of the HTTP server: what they get, and what is checked before.

import { expect, test } from 'vitest';
import { createServer, type HttpExchange, serveHttp } from '../../src/index.ts';

async function mounted() {
  const closed: string[] = [];
  const server = createServer({ name: 'mounts', version: '1.0.0' });
  const served = await serveHttp(server, {
    port: 0,
    authenticate: () => undefined,
    mounts: [
      {
        path: '/app',
        handle: (exchange: HttpExchange) => {
          const body = `${exchange.method} ${exchange.path}`;
          if (exchange.path.endsWith('bytes')) exchange.respond(200, [], new Uint8Array([0, 255, 1]));
          else exchange.respond(200, [], body);
        },
        close: () => void closed.push('app'),
      },
    ],
  });
  return { served, closed, origin: new URL(served.url).origin };
}

test('everything at and below the path is served, without the authentication of the endpoint', async () => {
  const { served, origin, closed } = await mounted();
  const get = async (path: string): Promise<string> => {
    const response = await fetch(`${origin}${path}`);
    return `${response.status} ${await response.text()}`;
  };
  expect(await get('/app')).toBe('200 GET /app');
  expect(await get('/app/a/b?c')).toBe('200 GET /app/a/b');
  expect(await get('/application')).toMatch(/^404/);
  expect(await get('/mcp')).toMatch(/^401/);
  const bytes = await fetch(`${origin}/app/bytes`);
  expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0, 255, 1]);
  await served.close();
  expect(closed).toEqual(['app']);
});

test('other origins and methods are rejected before the application is called', async () => {
  const { served, origin } = await mounted();
  expect((await fetch(`${origin}/app`, { headers: { Origin: 'https://other.example' } })).status).toBe(403);
  expect((await fetch(`${origin}/app`, { method: 'DELETE' })).status).toBe(405);
  await served.close();
});
