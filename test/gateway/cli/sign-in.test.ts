// Signing in to a server of a gateway before a client starts it, with a browser that agrees to everything.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import type { Reply, SeenRequest } from '../../client/auth/fake-http.ts';
import { Worlds } from '../../client/auth/setup.ts';
import { useHome } from '../../support/program.ts';
import { connectStdio, runtimeOf, startHttp, writeConfig } from './support.ts';

const token = 'ada-0123456789abcdef0123456789abcdef';
const home = useHome();
const worlds = new Worlds();
afterEach(() => worlds.stop());

/** Opens an address as a browser would, with the redirects that follow. */
function installBrowser(): Record<string, string> {
  const folder = join(home.path, 'bin');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'xdg-open');
  writeFileSync(file, `#!${process.execPath}\nfetch(process.argv[2]);\n`);
  chmodSync(file, 0o755);
  return { PATH: `${folder}${delimiter}${home.env['PATH']}` };
}

const info = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'safe', version: '1' } };
const results: Readonly<Record<string, unknown>> = {
  initialize: info,
  'tools/list': { tools: [{ name: 'open', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'opened' }] },
};

/** A small server of 2025-06-18. */
function answer({ method, body }: SeenRequest): Reply {
  if (method !== 'POST') return { status: 405 };
  const message = JSON.parse(body) as { readonly id?: number; readonly method: string };
  if (message.id === undefined) return { status: 202 };
  const result = results[message.method];
  const outcome = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  return { body: { jsonrpc: '2.0', id: message.id, ...outcome } };
}

test('"gateway login" signs in to a server, whose tokens a gateway then uses; "logout" deletes them', async () => {
  const { as, rs } = await worlds.start();
  const { checkToken } = rs.behaviour;
  rs.behaviour.checkToken = (token, request) => checkToken(token, request) ?? answer(request);
  const config = ['--config', writeConfig(home, { mcpServers: { safe: { url: rs.url } } })];
  const env = { ...runtimeOf(home), ...installBrowser() };

  const login = await home.run(['gateway', 'login', 'safe', ...config], { env });
  expect(login).toMatchObject({ code: 0, stderr: expect.stringContaining('Signed in to safe') });
  expect(as.to('/authorize')).toHaveLength(1);

  const client = await connectStdio(home, config);
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['safe__open']);
  await client.close();
  expect(as.to('/authorize')).toHaveLength(1);

  const logout = await home.run(['gateway', 'logout', 'safe', ...config], { env });
  expect(logout).toMatchObject({ code: 0, stderr: expect.stringContaining(`Signed out of ${rs.url}`) });
  const again = await home.run(['gateway', 'logout', 'safe', ...config], { env });
  expect(again.stderr).toContain('You are not signed in');
});

test('while its authorization server fails, a server does not require a login, and its tokens are kept', async () => {
  const { as, rs } = await worlds.start();
  const { checkToken } = rs.behaviour;
  rs.behaviour.checkToken = (token, request) => checkToken(token, request) ?? answer(request);
  const config = ['--config', writeConfig(home, { mcpServers: { safe: { url: rs.url } } })];
  const env = { ...runtimeOf(home), ...installBrowser() };
  await home.run(['gateway', 'login', 'safe', ...config], { env });
  const client = await connectStdio(home, config);
  await client.listTools();

  as.issued.length = 0;
  as.behaviour.token = () => ({ status: 302, headers: { location: '/maintenance' } });
  const failed = await client.callTool('safe__open');
  expect(failed.content[0]).toMatchObject({
    text: 'The server safe failed: its authorization server does not respond as it should; try again later',
  });
  as.behaviour.token = () => undefined;
  expect(await client.callTool('safe__open')).toMatchObject({ content: [{ text: 'opened' }] });
  await client.close();
  expect(as.to('/authorize')).toHaveLength(1);
});

test('a server whose callers are kept apart does not use the sign-in of the operator, and says what to do', async () => {
  const { rs } = await worlds.start();
  const { checkToken } = rs.behaviour;
  rs.behaviour.checkToken = (token, request) => checkToken(token, request) ?? answer(request);
  const config = ['--config', writeConfig(home, { mcpServers: { safe: { url: rs.url } } })];
  const env = { ...runtimeOf(home), ...installBrowser() };
  await home.run(['gateway', 'login', 'safe', ...config], { env });
  const headers = { Authorization: `Bearer ${token}` };
  // Users of this machine could sign in themselves.
  const here = await startHttp(home, config, { MOORING_TOKEN: token });
  const user = await connect(here.url, { headers });
  expect((await user.listTools()).map(({ name }) => name)).toEqual(['safe__sign_in']);
  await user.close();
  here.child.kill();
  // At an address without https, they cannot.
  const far = ['--public-url', 'http://tools.example.com', '--allow-host', '127.0.0.1'];
  const { url } = await startHttp(home, [...config, ...far], { MOORING_TOKEN: token });
  const client = await connect(url, { headers });
  const problem = await client.listTools().then(String, String);
  await client.close();
  const status = await home.run(['gateway', 'status', '--json'], { env });
  const [safe] = JSON.parse(status.stdout).servers;
  expect(safe).toMatchObject({ state: 'needs-login', reason: expect.stringContaining('"isolation": "shared"') });
  expect(problem).not.toContain('gateway login');
});
