// The client behind a proxy: every transport and OAuth go through it, and a proxy that rejects is named.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type ConnectOptions, connect, createAuthorizer, type Target } from '../../src/client/index.ts';
import { createServer } from '../../src/engine/server.ts';
import { type HttpServer, serveHttp } from '../../src/transports/http.ts';
import { createCertificate } from '../support/certificate.ts';
import { useHome } from '../support/program.ts';
import { type ProxyOptions, startProxy, type TestProxy } from '../support/proxy.ts';
import { startFakeHttp } from './auth/fake-http.ts';

const home = useHome();
const closers: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  for (const name of ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy']) {
    vi.stubEnv(name, undefined);
    vi.stubEnv(name.toUpperCase(), undefined);
  }
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closers.splice(0).reverse()) await close();
});

async function proxyFor(port: number, options?: ProxyOptions): Promise<TestProxy> {
  const proxy = await startProxy(options);
  closers.push(() => proxy.close());
  for (const to of ['mcp.example.test:80', 'mcp.example.test:443', '203.0.113.7:8443']) proxy.ports.set(to, port);
  return proxy;
}

async function serve(options: Parameters<typeof serveHttp>[1] = {}): Promise<HttpServer> {
  const server = createServer({ name: 'behind', version: '1.0.0' });
  server.tool('greet', { run: () => 'hello' });
  const listening = await serveHttp(server, {
    port: 0,
    allowedHosts: ['mcp.example.test', '203.0.113.7'],
    ...options,
  });
  closers.push(() => listening.close());
  return listening;
}

const portOf = ({ url }: HttpServer): number => Number(new URL(url).port);

async function greet(target: Target, options: ConnectOptions = {}): Promise<string> {
  const client = await connect(target, { eraCache: false, retry: false, reconnect: false, ...options });
  try {
    const { content } = await client.callTool('greet');
    return `${client.transport} ${JSON.stringify(content)}`;
  } finally {
    await client.close();
  }
}

test.each([
  ['http', { url: 'http://mcp.example.test/mcp' }, 'POST http://mcp.example.test/mcp'],
  ['sse', { url: 'http://mcp.example.test/sse', type: 'sse' }, 'GET http://mcp.example.test/sse'],
  ['websocket', { url: 'ws://mcp.example.test/mcp' }, 'CONNECT mcp.example.test:80'],
])('%s without TLS goes through the proxy', async (kind, target, first) => {
  const proxy = await proxyFor(portOf(await serve()), { credentials: 'ada:p@ss' });
  vi.stubEnv('HTTP_PROXY', `http://ada:p%40ss@127.0.0.1:${proxy.port}`);
  expect(await greet(target)).toBe(`${kind} [{"type":"text","text":"hello"}]`);
  expect(proxy.seen[0]).toBe(first);
});

test.each(['https://mcp.example.test/mcp', 'wss://mcp.example.test/mcp', 'https://203.0.113.7:8443/mcp'])(
  '%s goes through a tunnel, and the certificate of the server is verified',
  async (target) => {
    const { hostname, host } = new URL(target);
    const { cert, key } = createCertificate(hostname, 30);
    const proxy = await proxyFor(portOf(await serve({ tls: { cert, key } })));
    writeFileSync(home.file('cert.pem'), cert);
    const env = { https_proxy: `http://127.0.0.1:${proxy.port}`, NODE_EXTRA_CA_CERTS: home.file('cert.pem') };
    const { code, stdout, stderr } = await home.run(['call', target, 'greet'], { env });
    expect(`${code} ${stdout}${stderr}`).toBe('0 hello\n');
    expect(new Set(proxy.seen)).toEqual(new Set([`CONNECT ${host.includes(':') ? host : `${host}:443`}`]));

    const distrustful = await home.run(['call', target, 'greet'], { env: { https_proxy: env.https_proxy } });
    expect(distrustful.code).not.toBe(0);
    expect(distrustful.stderr).toContain('self-signed certificate');
  },
);

test('a proxy may itself be reached with TLS', async () => {
  const tls = createCertificate('127.0.0.1', 30);
  const proxy = await proxyFor(portOf(await serve()), { tls });
  writeFileSync(home.file('cert.pem'), tls.cert);
  const env = { ALL_PROXY: `https://127.0.0.1:${proxy.port}`, NODE_EXTRA_CA_CERTS: home.file('cert.pem') };
  for (const target of ['http://mcp.example.test/mcp', 'ws://mcp.example.test/mcp']) {
    const { stdout, stderr } = await home.run(['call', target, 'greet', '--insecure-http'], { env });
    expect(stderr + stdout, target).toContain('hello\n');
  }
  expect(proxy.seen).toContain('POST http://mcp.example.test/mcp');
  expect(proxy.seen).toContain('CONNECT mcp.example.test:80');
});

test('OAuth requests go through the proxy', async () => {
  const issuer = 'http://login.example.test';
  const login = await startFakeHttp(({ path }) =>
    path === '/token'
      ? { body: { access_token: 'valid', token_type: 'Bearer' } }
      : { body: { issuer, token_endpoint: `${issuer}/token`, grant_types_supported: ['client_credentials'] } },
  );
  closers.push(() => login.close());
  const metadata = JSON.stringify({ resource: 'http://mcp.example.test/mcp', authorization_servers: [issuer] });
  const server = await serve({
    authenticate: (request) => (request.get('authorization') === 'Bearer valid' ? { id: 'ada' } : { status: 401 }),
    routes: [
      {
        path: '/.well-known/oauth-protected-resource/mcp',
        public: true,
        answer: () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: metadata }),
      },
    ],
  });
  const proxy = await proxyFor(portOf(server));
  proxy.ports.set('login.example.test:80', Number(new URL(login.origin).port));
  vi.stubEnv('http_proxy', `127.0.0.1:${proxy.port}`);
  const url = 'http://mcp.example.test/mcp';
  const authorizer = createAuthorizer({
    server: url,
    allowInsecureHttp: true,
    client: { clientId: 'ada', clientSecret: 'secret' },
    grant: { kind: 'client-credentials' },
  });
  expect(await greet(url, { authorizer })).toContain('hello');
  expect(proxy.seen).toContain('GET http://mcp.example.test/.well-known/oauth-protected-resource/mcp');
  expect(proxy.seen).toContain(`POST ${issuer}/token`);
});

test.each([
  ['http://mcp.example.test/mcp', 'http_proxy'],
  ['https://mcp.example.test/mcp', 'https_proxy'],
  ['wss://mcp.example.test/mcp', 'https_proxy'],
])('%s: a proxy that rejects, or is not there, is named without its password', async (target, variable) => {
  const proxy = await proxyFor(1, { credentials: 'ada:right' });
  const at = `127.0.0.1:${proxy.port}`;
  vi.stubEnv(variable, `http://ada:wr0ng@${at}`);
  const rejected: Error = await greet(target).then(Promise.reject, (error) => error);
  expect(rejected).toMatchObject({ code: 'connect-failed' });
  expect(rejected.message).toContain(`The proxy ${at} of ${variable} rejected`);
  expect(rejected.message).toContain(`HTTP 407; it does not accept the credentials in ${variable}`);
  expect(rejected.message).not.toContain('wr0ng');

  vi.stubEnv(variable, `http://${at}`);
  await expect(greet(target)).rejects.toThrow('it requires credentials, write them into the URL');

  await proxy.close();
  vi.stubEnv(variable, `http://ada:wr0ng@${at}`);
  const absent: Error = await greet(target).then(Promise.reject, (error) => error);
  expect(absent).toMatchObject({ code: 'connect-failed' });
  expect(absent.message).toContain(`The proxy ${at} of ${variable} cannot be reached: `);
  expect(absent.message).not.toContain('wr0ng');

  vi.stubEnv(variable, 'socks5://127.0.0.1:1080');
  await expect(greet(target)).rejects.toMatchObject({ code: 'configuration' });
});

test('a proxy that never responds does not keep a closed client open', async () => {
  const silent = createTcpServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  closers.push(() => new Promise((closed) => silent.close(closed)));
  vi.stubEnv('https_proxy', `http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const accepted = once(silent, 'connection');
  const stop = new AbortController();
  const connecting = greet('https://mcp.example.test/mcp', { signal: stop.signal }).catch((error: unknown) => error);
  const [socket] = (await accepted) as [Socket];
  socket.resume();
  const ended = once(socket, 'close');
  stop.abort();
  expect(await connecting).toMatchObject({ code: 'cancelled' });
  await ended;
});

test('what NO_PROXY excludes, and this machine, are reached directly', async () => {
  const server = await serve();
  const proxy = await proxyFor(portOf(server));
  vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${proxy.port}`);
  expect(await greet(server.url)).toContain('hello');
  vi.stubEnv('NO_PROXY', '.example.test');
  await expect(greet('http://mcp.example.test/mcp')).rejects.toMatchObject({ code: 'connect-failed' });
  expect(proxy.seen).toEqual([]);
});
