// HTTPS: requests, WebSockets and ignored upgrades over TLS, and the certificate that is replaced while the server runs.

import { request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createServer, type HttpOptions, type HttpServer, serveHttp } from '../../src/index.ts';
import { createCertificate } from '../support/certificate.ts';

const open: HttpServer[] = [];
afterEach(async () => {
  for (const http of open.splice(0)) await http.close();
});

const first = createCertificate('127.0.0.1', 30);
const second = createCertificate('127.0.0.1', 60);

async function start(options: HttpOptions = {}): Promise<HttpServer> {
  const server = createServer({ name: 'secret', version: '1.0.0' });
  server.tool('where', { description: 'Returns the address of the client', run: () => 'here' });
  const http = await serveHttp(server, { port: 0, graceMs: 100, tls: first, ...options });
  open.push(http);
  return http;
}

function get(
  { port }: HttpServer,
  path: string,
  ca: string,
  headers: Record<string, string> = {},
): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, ca, headers, agent: false } as const;
    const sent = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode, text }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('the address is https, and requests are served with the certificate', async () => {
  const http = await start();
  expect(http.url).toBe(`https://127.0.0.1:${http.port}/mcp`);
  expect((await get(http, '/health', first.cert)).status).toBe(200);
  await expect(get(http, '/health', second.cert)).rejects.toThrow(/self-signed/);
  const own = await get(http, '/health', first.cert, { Origin: `https://127.0.0.1:${http.port}` });
  const plain = await get(http, '/health', first.cert, { Origin: `http://127.0.0.1:${http.port}` });
  expect([own.status, plain.status]).toEqual([200, 403]);
});

test('the address of the client is known', async () => {
  const addresses: (string | undefined)[] = [];
  const http = await start({
    authenticate: ({ address }) => {
      addresses.push(address);
      return { id: 'ada' };
    },
  });
  await get(http, '/mcp', first.cert);
  expect(addresses).toEqual(['127.0.0.1']);
});

test('WebSockets are served as wss', async () => {
  const http = await start();
  const socket = new WebSocket(http.url.replace('https', 'wss'), 'mcp', { ca: first.cert });
  const reply = await new Promise<string>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', (data) => resolve(String(data)));
    socket.on('open', () => socket.send('{"jsonrpc":"2.0","id":1,"method":"ping"}'));
  });
  socket.close();
  expect(JSON.parse(reply)).toMatchObject({ id: 1 });
});

test('an upgrade to an unsupported protocol is ignored', async () => {
  const http = await start();
  const socket = connectTls({ host: '127.0.0.1', port: http.port, ca: first.cert });
  const reply = await new Promise<string>((resolve, reject) => {
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.on('error', reject);
    socket.on('end', () => resolve(text));
    socket.write(
      `GET /livez HTTP/1.1\r\nHost: 127.0.0.1:${http.port}\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n`,
    );
  });
  expect(reply).toMatch(/^HTTP\/1\.1 200 /);
});

test('a new certificate is used for new connections, and an invalid one changes nothing', async () => {
  const http = await start();
  http.setTls(second);
  expect((await get(http, '/health', second.cert)).status).toBe(200);
  await expect(get(http, '/health', first.cert)).rejects.toThrow(/self-signed/);
  expect(() => http.setTls({ cert: first.cert, key: second.key })).toThrow(/mismatch/);
  expect((await get(http, '/health', second.cert)).status).toBe(200);
});

test('a server without TLS has no certificate to replace, and a key of another certificate is rejected', async () => {
  const server = createServer({ name: 'plain', version: '1.0.0' });
  const http = await serveHttp(server, { port: 0 });
  open.push(http);
  expect(() => http.setTls(first)).toThrow(/without `tls`/);
  const mismatched = { cert: first.cert, key: second.key };
  await expect(serveHttp(server, { port: 0, tls: mismatched })).rejects.toThrow(/mismatch/);
});
