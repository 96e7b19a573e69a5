import { expect, test } from 'vitest';
import { decodeGateway, GatewayConfigError, gatewayConfig } from './decode-gateway.ts';
import { defaults } from './defaults.ts';

const decode = (mcpServers: Record<string, unknown>, gateway?: unknown) => gatewayConfig({ mcpServers, gateway });

async function issuesOf(mcpServers: Record<string, unknown>, gateway?: unknown): Promise<string> {
  const error = await decode(mcpServers, gateway).catch((each: unknown) => each);
  expect(error).toBeInstanceOf(GatewayConfigError);
  return (error as Error).message;
}

test('an entry without our keys gets every default', async () => {
  const { servers, ...gateway } = await decode({ files: { command: 'npx', args: ['-y', 'x'] } });
  expect(servers[0]).toMatchObject({
    name: 'files',
    slug: 'files',
    entry: { command: 'npx', args: ['-y', 'x'] },
    prefix: true,
    isolation: 'shared',
    auth: { kind: 'none' },
    idleMs: 600_000,
    restart: { minMs: 1_000, maxMs: 60_000, tries: 5, withinMs: 300_000 },
    pin: 'warn',
    newTools: 'allow',
    maxResultBytes: 8 * 1024 * 1024,
  });
  expect(gateway).toMatchObject({ views: [], bareNames: 'apps', drainMs: defaults.drainMs, catalog: true });
  expect(gateway.defaultView).toMatchObject({ name: '', servers: '*', mode: 'all' });
});

test('authenticated callers do not share connections, unless the entry says so', async () => {
  const servers = [
    { name: 'one', written: { command: 'x' } },
    { name: 'two', written: { command: 'x', mooring: { isolation: 'shared' } } },
  ];
  const { config } = await decodeGateway([{ servers }], { authenticated: true });
  expect(config.servers.map(({ isolation }) => isolation)).toEqual(['principal', 'shared']);
});

test('the default credentials are those of the entry, otherwise OAuth for http', async () => {
  const { servers } = await decode({
    keyed: { url: 'https://a.example/mcp', headers: { 'X-Key': '1' } },
    open: { url: 'https://a.example/mcp' },
    socket: { url: 'wss://a.example' },
  });
  expect(servers.map(({ auth }) => auth.kind)).toEqual(['headers', 'oauth', 'none']);
});

test('an unknown key of ours is an error, one of the entry is only a note', async () => {
  expect(await issuesOf({ a: { command: 'x', mooring: { isolatoin: 'call' } } })).toContain('isolatoin');
  const { notes } = await decodeGateway([
    { servers: [{ name: 'a', written: { command: 'x', colour: 'red', autoApprove: [] } }] },
  ]);
  expect(notes).toEqual([
    { level: 'info', text: 'a: keys of other clients, without effect here: autoApprove' },
    { level: 'warning', text: 'a: unknown keys, without effect: colour' },
  ]);
});

test('two servers that would have the same slug are an error that names both', async () => {
  const message = await issuesOf({ 'My Server': { command: 'x' }, my_server: { command: 'y' } });
  expect(message).toContain('"My Server" and "my_server" would both be called my-server');
});

test.each(['Authorization', 'cookie', 'Mcp-Session-Id', 'Transfer-Encoding', 'X-Api-Key', 'a b'])(
  'the header %s cannot be forwarded',
  async (header) => {
    expect(await issuesOf({ a: { url: 'https://x.example', mooring: { forwardHeaders: [header] } } })).toContain(
      header,
    );
  },
);

test('an entry needs either a command or a valid URL without credentials', async () => {
  expect(await issuesOf({ a: {} })).toContain('needs a command or a url');
  expect(await issuesOf({ a: { comand: 'x' } })).toContain('needs a command or a url; it has only "comand"');
  expect(await issuesOf({ a: { command: 'x', url: 'https://x.example' } })).toContain('both');
  expect(await issuesOf({ a: { url: 'ftp://x.example' } })).toContain('is not an http');
  expect(await issuesOf({ a: { url: 'https://u:p@x.example' } })).toContain('credentials');
  expect(await issuesOf({ a: 7 })).toContain('must be an object');
  await expect(decode({ a: { disabled: true } })).resolves.toBeDefined();
});

test('an unknown type is an error that lists the known ones', async () => {
  const url = 'https://x.example/mcp';
  expect(await issuesOf({ a: { url, type: 'grpc' } })).toBe(
    'a.type: "grpc" is not known; use one of stdio, local, http, remote, streamable-http, streamableHttp, streamable_http, sse, ws, websocket',
  );
  expect(await issuesOf({ a: { url, transport: 'grpc' } })).toContain('a.transport: "grpc" is not known');
  const types = ['http', 'streamable-http', 'streamableHttp', 'sse', 'ws', 'websocket', 'remote'];
  await expect(decode(Object.fromEntries(types.map((type) => [type, { url, type }])))).resolves.toBeDefined();
  await expect(
    decode({ a: { command: 'x', type: 'stdio' }, b: { type: 'grpc', disabled: true } }),
  ).resolves.toBeDefined();
});

test('an object of a program has values, not secrets to look up', async () => {
  const secret = { secret: 'name' };
  expect(await issuesOf({ a: { command: 'x', env: { K: secret } } })).toContain('a.env.K: is a secret');
  expect(await issuesOf({ a: { url: 'https://x.example', headers: { K: secret } } })).toContain('a.headers.K');
  const auth = { kind: 'oauth', clientSecret: secret };
  expect(await issuesOf({ a: { url: 'https://x.example', mooring: { auth } } })).toContain('auth.clientSecret: is a');
});

test('a time limit longer than the default of the whole time counts, also that of another client', async () => {
  const { servers } = await decode({
    own: { command: 'x', mooring: { timeoutMs: 900_000 } },
    gemini: { command: 'x', timeout: 1_800_000 },
    codex: { command: 'x', tool_timeout_sec: 1e9 },
    capped: { command: 'x', mooring: { timeoutMs: 900_000, maxTimeoutMs: 60_000 } },
    usual: { command: 'x' },
  });
  expect(servers.map(({ timeoutMs, maxTimeoutMs }) => [timeoutMs, maxTimeoutMs])).toEqual([
    [900_000, 900_000],
    [1_800_000, 1_800_000],
    [2_147_483_647, 2_147_483_647],
    [900_000, 60_000],
    [60_000, 600_000],
  ]);
});

test('all errors are reported together', async () => {
  const message = await issuesOf(
    { a: {}, b: { command: 'x', mooring: { pin: 'maybe' } } },
    { views: { v: { servers: ['c'] } } },
  );
  expect(message.split('\n')).toHaveLength(3);
});

test('views name servers by entry or by slug; "default" changes the default view', async () => {
  const config = await decode(
    { 'My Files': { command: 'x' }, b: { command: 'x', mooring: { prefix: 'bee' } } },
    { views: { one: { servers: ['My Files'] }, two: { servers: ['bee', 'my-files'] }, default: { mode: 'auto' } } },
  );
  expect(config.views.map(({ servers }) => servers)).toEqual([['my-files'], ['bee', 'my-files']]);
  expect(config.defaultView).toMatchObject({ name: '', servers: '*', mode: 'auto' });
});

test('a view means the entry of a name, not another server with that prefix', async () => {
  const config = await decode(
    {
      files: { command: 'x', mooring: { prefix: 'local' } },
      far: { url: 'https://far.example/mcp', mooring: { prefix: 'files' } },
    },
    { views: { safe: { servers: ['files'] }, both: { servers: ['local', 'far'] } } },
  );
  expect(config.views.map(({ servers }) => servers)).toEqual([['local'], ['local', 'files']]);
});

test('several sources keep their order; the digest changes with any key, the identity only with the address', async () => {
  const { config } = await decodeGateway([
    { servers: [{ name: 'a', written: { command: 'x', args: ['1'] } }] },
    { servers: [{ name: 'b', written: { command: 'y' } }], gateway: { drainMs: 1 } },
  ]);
  expect(config.servers.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(config.drainMs).toBe(1);
  const [first] = config.servers;
  const [other] = (await decode({ a: { command: 'x', args: ['1'], env: { A: 'b' } } })).servers;
  const [moved] = (await decode({ a: { command: 'x', args: ['2'] } })).servers;
  expect(other?.identity).toBe(first?.identity);
  expect(other?.digest).not.toBe(first?.digest);
  expect(moved?.identity).not.toBe(first?.identity);
});

test('client credentials need a client and a secret or key, and only servers with a URL have auth', async () => {
  const auth = { kind: 'client-credentials', clientId: 'me' };
  expect(await issuesOf({ a: { url: 'https://x.example', mooring: { auth } } })).toContain('clientSecret');
  expect(await issuesOf({ a: { command: 'x', mooring: { auth: { kind: 'oauth' } } } })).toContain('servers with a url');
  const params = { kind: 'oauth', extraParams: { audience: 'x', state: 'y' } };
  expect(await issuesOf({ a: { url: 'https://x.example', mooring: { auth: params } } })).toContain(
    'a.mooring.auth.extraParams: cannot contain state',
  );
});

test('an exchange of tokens needs a client, its secret and an issuer, and keeps callers apart', async () => {
  const url = 'https://x.example';
  const auth = { kind: 'token-exchange', clientId: 'me', clientSecret: 's', issuer: 'https://login.example' };
  const [server] = (await decode({ a: { url, mooring: { auth } } })).servers;
  expect(server?.isolation).toBe('principal');
  for (const [more, problem] of [
    [{ auth: { kind: 'token-exchange' } }, 'token-exchange needs a clientId'],
    [{ auth: { ...auth, clientSecret: undefined } }, 'token-exchange needs a clientSecret or a privateKeyFile'],
    [{ auth: { ...auth, issuer: undefined } }, 'token-exchange needs an issuer'],
    [{ auth, isolation: 'shared' }, 'a.mooring.isolation: cannot be "shared" with token-exchange'],
    [{ auth, isolation: 'call' }, 'a.mooring.isolation: cannot be "call" with token-exchange'],
    [{ auth, start: 'eager' }, 'a.mooring.start: cannot be "eager" with token-exchange'],
    [{ auth: { ...auth, extraParams: { subject_token: 'x' } } }, 'cannot contain subject_token'],
    [{ auth: { kind: 'oauth', subjectTokenType: 'jwt' } }, 'auth.subjectTokenType: is for token-exchange'],
  ] as const) {
    expect(await issuesOf({ a: { url, mooring: JSON.parse(JSON.stringify(more)) } })).toContain(problem);
  }
  const headers = { authorization: 'Bearer operator' };
  const asOneUser = 'a.headers.authorization: cannot be set with token-exchange: all callers would act as one user';
  expect(await issuesOf({ a: { url, headers, mooring: { auth } } })).toContain(asOneUser);
  const overSocket = 'token-exchange needs an http or https URL';
  expect(await issuesOf({ a: { url: 'wss://x.example', mooring: { auth } } })).toContain(overSocket);
});

test('a file of variables is an error where no file is read: its variables would be missing', async () => {
  const issues = await issuesOf({ one: { command: 'x', envFile: '.env' } });
  expect(issues).toContain('is read only for configuration files');
  await decode({ far: { url: 'https://example.com/mcp', envFile: '.env' } });
});

test.each([
  [{ command: 5 }, 'a.command: must be a string, not a number'],
  [{ command: '' }, 'a.command: must not be empty'],
  [{ command: 'x\0y' }, 'a.command: has a NUL character'],
  [{ command: 'x', args: ['a', 'b\0'] }, 'a.args.1: has a NUL character'],
  [{ command: 'x', cwd: '/a\0' }, 'a.cwd: has a NUL character'],
  [{ command: 'x', env: { K: 'v\0' } }, 'a.env.K: has a NUL character'],
  [{ command: 'x', env: { 'A=B': 'v' } }, 'a.env.A=B: "A=B" is not the name of a variable'],
  [{ command: 'x', env: { '': 'v' } }, '"" is not the name of a variable'],
  [{ url: 'https://x.example', headers: { 'A b': 'v' } }, '"A b" is not the name of a header'],
  [{ url: 'https://x.example', headers: { A: 'v\nw' } }, 'a.headers.A: has a line break'],
  [{ url: 'https://x.example', headers: { A: 'Ключ' } }, 'a.headers.A: has a line break'],
  [{ command: 'x', timeout: '60' }, 'a.timeout: must be a number, not a string'],
  [{ command: 'x', tool_timeout_sec: [] }, 'a.tool_timeout_sec: must be a number, not a list'],
])('what no server can be started or reached with is an error, not a server that is down: %j', async (entry, text) => {
  expect(await issuesOf({ a: entry })).toContain(text);
});

test('a value of a header may be any text that HTTP can send', async () => {
  const headers = { A: 'Bearer a.b-c==', B: 'é', C: ' x ', D: '', E: 'a\tb', F: 'Bearer abc\n' };
  await expect(decode({ a: { url: 'https://x.example', headers } })).resolves.toBeDefined();
});

test('a revision that does not exist is an error that lists those that do', async () => {
  const message = await issuesOf({ a: { command: 'x', mooring: { revision: '2025-99-99' } } });
  expect(message).toContain('a.mooring.revision: must be one of "auto", "handshake", "2024-11-05"');
  await expect(decode({ a: { command: 'x', mooring: { revision: '2025-06-18' } } })).resolves.toBeDefined();
});

test.each([
  [{ roots: ['/a', 'http://x'] }, 'a.mooring.roots.1: "http://x" is neither a folder nor a file: URI'],
  [{ override: { a: { name: 'x' }, b: { name: 'x' } } }, 'override.b.name: "x" is already the name of "a"'],
])('values of our keys that cannot be meant are an error: %j', async (mooring, text) => {
  expect(await issuesOf({ a: { command: 'x', mooring } })).toContain(text);
});

test('the name of a view is an error that says which names are possible', async () => {
  const message = await issuesOf({ a: { command: 'x' } }, { views: { 'My view': {} } });
  expect(message).toBe(
    'gateway.views.My view: is not a name for a view: use up to 64 lower-case letters, digits and hyphens, without a hyphen at the start',
  );
});
