// A server outside whose authorization metadata points into the network of the gateway: the gateway connects to nothing there, and
// says what was wrong.

import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import { createCertificate } from '../../support/certificate.ts';
import { useClosers } from '../../support/closers.ts';
import { useHome } from '../../support/program.ts';
import { startProxy } from '../../support/proxy.ts';
import { runtimeOf, startHttp, writeConfig } from './support.ts';

const home = useHome();
const closers = useClosers(afterEach);
const origin = 'https://public.example';
const metadataPath = '/.well-known/oauth-protected-resource/mcp';
const ownMetadata = `${origin}${metadataPath}`;

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: object;
}

/** What the server answers, by path. `inside`: the port of a listener in the network of the gateway. */
type Answers = (inside: number) => Readonly<Record<string, Answer>>;

const unauthorized = (metadata: string): Answer => ({
  status: 401,
  headers: { 'www-authenticate': `Bearer resource_metadata="${metadata}"` },
});
const redirect = (location: string): Answer => ({ status: 302, headers: { location } });
const resource = (server: string): Answer => ({
  body: { resource: `${origin}/mcp`, authorization_servers: [server] },
});
const issuer = (token: string): Answer => ({
  body: {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: token,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  },
});

const cases: readonly (readonly [what: string, named: string, answers: Answers])[] = [
  [
    'whose metadata is at the address of the metadata of cloud providers',
    '169.254.169.254',
    () => ({ '/mcp': unauthorized('https://169.254.169.254/latest/meta-data') }),
  ],
  [
    'whose metadata redirects there',
    '169.254.169.254',
    () => ({ '/mcp': unauthorized(ownMetadata), [metadataPath]: redirect('https://169.254.169.254/latest') }),
  ],
  [
    'whose metadata redirects there without TLS',
    '169.254.169.254',
    () => ({ '/mcp': unauthorized(ownMetadata), [metadataPath]: redirect('http://169.254.169.254/latest') }),
  ],
  [
    'whose authorization server is in a private network',
    '10.1.2.3',
    () => ({ '/mcp': unauthorized(ownMetadata), [metadataPath]: resource('https://10.1.2.3') }),
  ],
  [
    'whose authorization server is on this machine',
    '127.0.0.1',
    (inside) => ({ '/mcp': unauthorized(ownMetadata), [metadataPath]: resource(`https://127.0.0.1:${inside}`) }),
  ],
  [
    'whose token endpoint is on this machine',
    '127.0.0.1',
    (inside) => ({
      '/mcp': unauthorized(ownMetadata),
      [metadataPath]: resource(origin),
      '/.well-known/oauth-authorization-server': issuer(`http://127.0.0.1:${inside}/token`),
    }),
  ],
];

/** The server at `public.example`, a proxy that leads there, and a listener that no request must reach. */
async function startOutside(answers: Answers) {
  const { key, cert } = createCertificate('public.example', 10);
  writeFileSync(home.file('ca.pem'), cert);
  let reached = 0;
  const inside = createTcpServer((socket) => {
    reached++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
  const byPath = answers((inside.address() as AddressInfo).port);
  const server = createServer({ key, cert }, (request: IncomingMessage, response: ServerResponse) => {
    const { status = 200, headers = {}, body } = byPath[request.url ?? ''] ?? { status: 404 };
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy = await startProxy();
  proxy.ports.set('public.example:443', (server.address() as AddressInfo).port);
  closers.push(
    () => proxy.close(),
    () => server.closeAllConnections(),
    () => new Promise((resolve) => server.close(resolve)),
    () => new Promise((resolve) => inside.close(resolve)),
  );
  const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NODE_EXTRA_CA_CERTS: home.file('ca.pem') };
  return { proxy, env, reached: () => reached };
}

test.each(cases)('a server %s needs a login, and nothing is connected to', async (_what, named, answers) => {
  const { proxy, env, reached } = await startOutside(answers);
  const config = writeConfig(home, { mcpServers: { far: { url: `${origin}/mcp` } } });
  const { url, child } = await startHttp(home, ['--config', config], env);
  const client = await connect(url);
  const error = await client.listTools().catch(String);
  expect(error).toContain('requires a login');
  // Callers do not learn where the server pointed to.
  expect(error).not.toContain(named);
  const run = (...args: string[]) => home.run(['gateway', ...args], { env: { ...runtimeOf(home), ...env } });
  await vi.waitFor(
    async () => {
      const [far] = JSON.parse((await run('status', '--json')).stdout).servers;
      expect(far).toMatchObject({ state: 'needs-login', reason: expect.stringContaining(`Cannot use`) });
      expect(far.reason).toContain(named);
    },
    { timeout: 20_000 },
  );
  const login = await run('login', 'far', '--config', config);
  expect([login.code, login.stderr]).toEqual([expect.any(Number), expect.stringContaining(named)]);
  expect(login.code).not.toBe(0);
  expect(new Set(proxy.seen)).toEqual(new Set(['CONNECT public.example:443']));
  expect(reached()).toBe(0);
  await client.close();
  child.kill();
});
