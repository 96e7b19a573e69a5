import { afterEach, expect, test } from 'vitest';
import { createMemoryStore } from '../../../src/client/auth/storage/credential-store.ts';
import { caller, selfSigning, Worlds } from './setup.ts';

const worlds = new Worlds();
afterEach(() => worlds.stop());

const documents = (as: { to(path: string): { body: string }[] }) =>
  as.to('/register').map(({ body }) => JSON.parse(body) as Record<string, unknown>);

test('a registration says what kind of application we are and that we can refresh', async () => {
  const { as, rs } = await worlds.start({}, { challenge: 'scope="read"' });
  await caller(rs, { clientName: 'Probe', clientUri: 'https://probe.example' }).call();
  expect(documents(as)).toEqual([
    {
      client_name: 'Probe',
      client_uri: 'https://probe.example',
      redirect_uris: ['http://127.0.0.1:7777/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      scope: 'read',
    },
  ]);
});

test('an application on a server of its own registers as web', async () => {
  const { as, rs } = await worlds.start({ callback: { error: 'access_denied', code: undefined } });
  const redirector = selfSigning('https://app.example.com/callback');
  await caller(rs, { redirector })
    .call()
    .catch(() => {});
  expect(documents(as)[0]).toMatchObject({ application_type: 'web' });
});

test.each([
  ['client_secret_basic', (header: string | undefined) => header?.startsWith('Basic ')],
  ['client_secret_post', (header: string | undefined) => header === undefined],
])('a server that supports only %s gets it', async (method, headerIsRight) => {
  const { as, rs } = await worlds.start({
    metadata: { token_endpoint_auth_methods_supported: [method] },
    registration: (document) => ({
      status: 201,
      body: { ...document, client_id: 'my-id', client_secret: 'my.secret' },
    }),
  });
  expect(await caller(rs).call()).toBe(200);
  expect(documents(as)[0]).toMatchObject({ token_endpoint_auth_method: method });
  const [request] = as.to('/token');
  expect(headerIsRight(request!.headers.authorization)).toBe(true);
  if (method === 'client_secret_basic') {
    expect(Buffer.from(request!.headers.authorization!.slice(6), 'base64').toString()).toBe('my-id:my.secret');
  } else {
    expect(new URLSearchParams(request!.body).get('client_secret')).toBe('my.secret');
  }
});

test('the server decides how the client authenticates, also when its response is incomplete', async () => {
  const answers: [Record<string, unknown>, number, string][] = [
    [{ client_secret: 's', token_endpoint_auth_method: 'client_secret_post' }, 201, 'post'],
    [{ client_secret: 's', token_endpoint_auth_method: 'none' }, 201, 'none'],
    [{ client_secret: 's', token_endpoint_auth_method: undefined }, 201, 'none'],
    [{ client_secret: null }, 200, 'none'],
    [{ client_secret: '' }, 200, 'none'],
  ];
  for (const [answer, status, expected] of answers) {
    const { as, rs } = await worlds.start({
      registration: (document) => ({ status, body: { ...document, client_id: 'id', ...answer } }),
    });
    expect(await caller(rs).call(), JSON.stringify(answer)).toBe(200);
    const [form] = as.forms();
    expect(form!.get('client_secret')).toBe(expected === 'post' ? 's' : null);
    expect(form!.get('client_id')).toBe('id');
  }
});

test('a registration is stored per server and used again, unless its secret has expired', async () => {
  const { as, rs } = await worlds.start({
    metadata: { token_endpoint_auth_methods_supported: ['client_secret_post'] },
    registration: (document) => ({
      status: 201,
      body: {
        ...document,
        client_id: 'id',
        client_secret: 's',
        client_secret_expires_at: Math.floor(Date.now() / 1000) + 30,
      },
    }),
  });
  const store = createMemoryStore();
  await caller(rs, { store }).call();
  as.issued.length = 0;
  as.behaviour.token = (form) =>
    form.get('grant_type') === 'refresh_token' ? { status: 400, body: { error: 'invalid_grant' } } : undefined;
  await caller(rs, { store }).call();
  expect(as.to('/register')).toHaveLength(2);
});

test('another redirect URI needs another registration', async () => {
  const { as, rs } = await worlds.start({ tokenExtras: { refresh_token: undefined } });
  const store = createMemoryStore();
  await caller(rs, { store }).call();
  as.issued.length = 0;
  await caller(rs, { store, redirector: selfSigning('http://127.0.0.1:8888/callback') }).call();
  expect(documents(as).map((document) => document['redirect_uris'])).toEqual([
    ['http://127.0.0.1:7777/callback'],
    ['http://127.0.0.1:8888/callback'],
  ]);
});

test('a client that the server has forgotten is registered again, once', async () => {
  let known = new Set<string>();
  let count = 0;
  const { as, rs } = await worlds.start({
    registration: (document) => {
      known.add(`id-${++count}`);
      return { status: 201, body: { ...document, client_id: `id-${count}` } };
    },
    token: (form) =>
      known.has(form.get('client_id') ?? '') ? undefined : { status: 401, body: { error: 'invalid_client' } },
    tokenExtras: { refresh_token: undefined },
  });
  const { call } = caller(rs);
  await call();
  as.issued.length = 0;
  known = new Set();
  expect(await call()).toBe(200);
  expect(as.to('/register')).toHaveLength(2);
  as.behaviour.registration = (document) => ({ status: 201, body: { ...document, client_id: 'never-known' } });
  as.issued.length = 0;
  known = new Set();
  await expect(call()).rejects.toMatchObject({ oauthError: { error: 'invalid_client' } });
  expect(as.to('/register')).toHaveLength(3);
});

test('a rejected registration is reported with its reason', async () => {
  const { rs } = await worlds.start({
    registration: () => ({
      status: 400,
      body: { error: 'invalid_redirect_uri', error_description: 'loopback not allowed' },
    }),
  });
  await expect(caller(rs).call()).rejects.toMatchObject({
    code: 'registration-failed',
    message: expect.stringContaining('loopback not allowed'),
    oauthError: { status: 400, error: 'invalid_redirect_uri' },
  });
});

const metadataUrl = 'https://client.example/metadata.json';

test('a client ID metadata document is preferred to registration where the server supports it', async () => {
  const { as, rs } = await worlds.start({ metadata: { client_id_metadata_document_supported: true } });
  const { call } = caller(rs, { clientMetadataUrl: metadataUrl });
  await call();
  expect(as.to('/register')).toHaveLength(0);
  expect(as.to('/authorize')[0]!.query.get('client_id')).toBe(metadataUrl);
  as.issued.length = 0;
  expect(await call()).toBe(200);
  expect(as.forms().map((form) => [form.get('grant_type'), form.get('client_id')])).toEqual([
    ['authorization_code', metadataUrl],
    ['refresh_token', metadataUrl],
  ]);
});

test('where it does not, registration remains', async () => {
  const { as, rs } = await worlds.start();
  await caller(rs, { clientMetadataUrl: metadataUrl }).call();
  expect(as.to('/register')).toHaveLength(1);
});

test('a metadata URL must be https with a path', async () => {
  for (const url of ['http://client.example/m.json', 'https://client.example', 'https://client.example/', 'x']) {
    const { rs } = await worlds.start({ metadata: { client_id_metadata_document_supported: true } });
    await expect(caller(rs, { clientMetadataUrl: url }).call(), url).rejects.toMatchObject({ code: 'configuration' });
  }
});

test('a client registered beforehand is preferred to everything else', async () => {
  const { as, rs } = await worlds.start({
    metadata: {
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    },
  });
  const client = { clientId: 'given', clientSecret: 'secret', issuer: as.issuer };
  await caller(rs, { client, clientMetadataUrl: metadataUrl }).call();
  expect(as.to('/register')).toHaveLength(0);
  expect(as.forms()[0]!.get('client_secret')).toBe('secret');
});

test('its secret is sent to no server but the one it belongs to', async () => {
  const { as, rs } = await worlds.start();
  const client = { clientId: 'given', clientSecret: 'secret', issuer: 'https://home.example' };
  await expect(caller(rs, { client }).call()).rejects.toMatchObject({
    code: 'client-bound-elsewhere',
    message: expect.stringContaining('https://home.example'),
  });
  expect(as.to('/authorize')).toHaveLength(0);
  expect(as.to('/token')).toHaveLength(0);
});

test('without a stated issuer it belongs to the first server it was used with', async () => {
  const [one, two] = [await worlds.start(), await worlds.start()];
  const client = { clientId: 'given', clientSecret: 'secret' };
  const { call } = caller(one.rs, { client });
  await call();
  one.rs.behaviour.metadata = { authorization_servers: [two.as.issuer] };
  one.as.issued.length = 0;
  await expect(call()).rejects.toMatchObject({ code: 'client-bound-elsewhere' });
  expect(two.as.to('/token')).toHaveLength(0);
});

test('several clients are distinguished by their issuers', async () => {
  const { as, rs } = await worlds.start();
  const client = [
    { clientId: 'other', issuer: 'https://other.example' },
    { clientId: 'ours', issuer: `${as.issuer}/` },
  ];
  await caller(rs, { client }).call();
  expect(as.to('/authorize')[0]!.query.get('client_id')).toBe('ours');
});

test('as a last resort the user is asked, and without an answer the error says what to do', async () => {
  const { as, rs } = await worlds.start({ metadata: { registration_endpoint: undefined } });
  await expect(caller(rs).call()).rejects.toMatchObject({ code: 'registration-unavailable' });
  const asked: string[] = [];
  const promptForClient = async (issuer: string) => {
    asked.push(issuer);
    return { clientId: 'typed' };
  };
  expect(await caller(rs, { promptForClient }).call()).toBe(200);
  expect(asked).toEqual([as.issuer]);
});
