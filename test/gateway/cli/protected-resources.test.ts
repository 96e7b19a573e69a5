// A gateway behind OAuth: every address is a protected resource of its own (RFC 9728).

import { afterAll, beforeAll, expect, test } from 'vitest';
import { AuthorizationServer } from '../../security/fixtures/authorization-server.ts';
import { useSharedHome } from '../../support/program.ts';
import { serverEntry, startHttp, writeConfig } from './support.ts';

const publicUrl = 'https://tools.example.com/gateway/mcp';
const home = useSharedHome();
let issuer: AuthorizationServer;
let origin: string;

beforeAll(async () => {
  issuer = await AuthorizationServer.start();
  const config = writeConfig(home, {
    mcpServers: { files: serverEntry(home, 'files', [{ name: 'read' }]) },
    gateway: { views: { team: { servers: ['files'] } } },
  });
  const flags = [
    '--config',
    config,
    '--auth-issuer',
    issuer.issuer,
    '--public-url',
    publicUrl,
    '--allow-host',
    '127.0.0.1',
    '--server-card',
    'com.example/tools',
    '--server-card-description',
    'Tools for everyone',
  ];
  origin = new URL((await startHttp(home, flags)).url).origin;
});
afterAll(() => issuer?.close());

const wellKnown = '/.well-known/oauth-protected-resource/gateway/mcp';
const addresses = ['', '/v/team', '/s/files'];

async function list(below: string, token?: string): Promise<{ status: number; challenge: string | null }> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const response = await fetch(`${origin}/mcp${below}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/list',
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } }),
  });
  await response.text();
  return { status: response.status, challenge: response.headers.get('www-authenticate') };
}

test.each(addresses)(
  '/mcp%s has its own metadata, and a request without a token is told where it is',
  async (below) => {
    const { status, challenge } = await list(below);
    expect(status).toBe(401);
    const named = /resource_metadata="([^"]+)"/.exec(challenge ?? '')?.[1] as string;
    expect(named).toBe(`https://tools.example.com${wellKnown}${below}`);
    const response = await fetch(`${origin}${new URL(named).pathname}`);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject({
      resource: `${publicUrl}${below}`,
      authorization_servers: [issuer.issuer],
    });
  },
);

test('an address that does not exist has no metadata', async () => {
  for (const below of ['/v/other', '/s/other', '/v', '/x/team']) {
    expect((await fetch(`${origin}${wellKnown}${below}`)).status).toBe(404);
  }
});

test('a token is valid for its address, one for the gateway for all addresses', async () => {
  const statuses = async (audience: string): Promise<number[]> => {
    const token = await issuer.token(audience);
    return Promise.all(addresses.map(async (below) => (await list(below, token)).status));
  };
  expect(await statuses(publicUrl)).toEqual([200, 200, 200]);
  expect(await statuses(`${publicUrl}/v/team`)).toEqual([401, 200, 401]);
  expect(await statuses(`${publicUrl}/s/files`)).toEqual([401, 401, 200]);
  expect(await statuses(`${publicUrl}/v/other`)).toEqual([401, 401, 401]);
});

test('the server card has the address that tokens are for, and names no server and no view', async () => {
  const response = await fetch(`${origin}/mcp/server-card`);
  const text = await response.text();
  const metadata = (await (await fetch(origin + wellKnown)).json()) as { resource: string };
  expect(JSON.parse(text)).toMatchObject({ name: 'com.example/tools', remotes: [{ url: metadata.resource }] });
  expect(metadata.resource).toBe(publicUrl);
  expect(text).not.toMatch(/files|team/);
  for (const below of ['/v/team', '/s/files', '/v/none']) {
    expect((await fetch(`${origin}/mcp${below}/server-card`)).status, below).toBe(404);
  }
});
