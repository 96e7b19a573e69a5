// How the pages of a gateway find out who a user is: at the authorization server of the gateway, which visitors must not overload,
// or by a token of the gateway.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FakeAuthorizationServer, startAuthorizationServer } from '../../client/auth/fake-provider.ts';
import { AuthorizationServer } from '../../security/fixtures/authorization-server.ts';
import { useSharedHome } from '../../support/program.ts';
import { freePort } from '../../support/redis.ts';
import { Browser } from './signing-in.ts';
import { type HttpGateway, startHttp, writeConfig } from './support.ts';

const home = useSharedHome();
const token = randomBytes(32).toString('hex');
let keys: AuthorizationServer;
let company: FakeAuthorizationServer;
beforeAll(async () => {
  keys = await AuthorizationServer.start();
});
afterAll(() => keys.close());

async function useGateway(env: Record<string, string>, use: (gateway: HttpGateway) => Promise<void>): Promise<void> {
  company = await startAuthorizationServer();
  const port = await freePort();
  const address = `http://127.0.0.1:${port}/mcp`;
  company.behaviour.token = async () => {
    const access_token = await keys.token(address, { claims: { sub: 'alice', iss: company.issuer } });
    return { body: { access_token, token_type: 'Bearer', expires_in: 300 } };
  };
  const config = writeConfig(home, { mcpServers: { mail: { url: 'http://127.0.0.1:1/mcp' } } }, `${port}.json`);
  const auth = ['--auth-issuer', company.issuer, '--auth-jwks', `${keys.issuer}/keys`];
  const args = ['--config', config, ...auth, '--public-url', address, '--port', `${port}`];
  const gateway = await startHttp(home, args, env);
  try {
    await use(gateway);
  } finally {
    gateway.child.kill();
    await company.close();
  }
}

const metadata = '/.well-known/oauth-authorization-server';

test('many visitors of the pages cause few requests to the authorization server', async () => {
  await useGateway({}, async ({ url }) => {
    for (let n = 0; n < 30; n++) expect((await new Browser().step(`${url}/login`)).location).toContain('/authorize?');
    expect([company.to(metadata).length, company.to('/register').length]).toEqual([1, 1]);
    expect((await new Browser().open(`${url}/login`)).text).toContain('alice is signed in to no server');
  });
});

test('an authorization server that fails is left alone for a while', async () => {
  await useGateway({}, async ({ url, said }) => {
    company.behaviour.registration = () => ({ status: 500, body: {} });
    for (let n = 0; n < 10; n++) expect((await new Browser().step(`${url}/login`)).status).toBe(503);
    expect(company.to('/register')).toHaveLength(1);
    expect(said().match(/users cannot sign in to the gateway/g)).toHaveLength(1);
  });
});

test('with tokens of the gateway besides, users choose how they prove who they are', async () => {
  await useGateway({ MOORING_TOKEN: `ina:${token}` }, async ({ url }) => {
    const ina = new Browser();
    const page = await ina.open(`${url}/login`);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('name="token"')]);
    expect((await ina.submit({ token: 'x' })).status).toBe(403);
    expect(company.to(metadata)).toHaveLength(0);
    expect((await ina.submit({ token })).text).toContain('ina is signed in to no server');
    const alice = new Browser();
    await alice.open(`${url}/login`);
    expect((await alice.submit()).text).toContain('alice is signed in to no server');
    const foreign = await new Browser().step(`${url}/login`, {}, { 'sec-fetch-site': 'cross-site' });
    expect(foreign.status).toBe(403);
  });
});
