// Servers whose lists differ between callers (2026-07-28, `cacheScope: private`): each caller sees and uses its own.

import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { type Client, connect } from '../../src/client/index.ts';
import { createGateway, type Gateway, type GatewayConfig, type GatewayOptions, Pins } from '../../src/gateway/index.ts';
import { createServer, type HttpRequest, serveHttp } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { gatewayConfig, upstream, view } from './fixture.ts';
import { type PrivateUpstream, privateUpstream, toolOf } from './private-upstream.ts';

const closers = useClosers(afterEach);
const old = '2025-11-25';
const stateless = '2026-07-28';

const authenticate = (request: HttpRequest) => ({ id: String(request.get('authorization')).replace('Bearer ', '') });

interface Served {
  readonly far: PrivateUpstream;
  readonly gateway: Gateway;
  readonly url: string;
}

interface ServeOptions extends GatewayOptions {
  readonly config?: Partial<GatewayConfig>;
  readonly isolation?: 'shared' | 'principal' | 'session' | 'call';
  readonly entry?: Parameters<typeof upstream>[1];
}

/** A gateway over HTTP in front of a server where Ada and Bob see different lists. */
async function serve({ config, isolation = 'principal', entry, ...options }: ServeOptions = {}): Promise<Served> {
  const far = await privateUpstream(closers);
  for (const user of ['ada', 'bob']) {
    far.users.set(user, {
      tools: [toolOf('same', user), toolOf(`only-${user}`)],
      prompts: [{ name: `ask-${user}` }],
      resources: [{ uri: `x:${user}`, name: user }],
    });
  }
  far.users.set('', { tools: [toolOf('same', 'nobody')] });
  return { far, ...(await serveAgain(far, { config, isolation, entry, ...options })) };
}

/** Another gateway in front of the same server. */
async function serveAgain(far: PrivateUpstream, { config, isolation, entry, ...options }: ServeOptions) {
  const servers = [
    upstream('far', {
      entry: { url: far.url },
      isolation: isolation ?? 'principal',
      forwardHeaders: ['x-user'],
      ...entry,
    }),
  ];
  const gateway = createGateway(gatewayConfig(servers, config), { logger: false, ...options });
  const http = await serveHttp(gateway.server, {
    port: 0,
    graceMs: 100,
    hosts: (path) => (path.startsWith('/mcp/') ? gateway.serverAt(path.slice('/mcp'.length)) : undefined),
    authenticate,
  });
  closers.push(async () => {
    await http.close();
    await gateway.close();
  });
  return { gateway, url: http.url };
}

interface User {
  readonly client: Client;
  /** The kinds of lists that were announced. */
  readonly changes: string[];
}

async function userOf(url: string, user: string, revision: string): Promise<User> {
  const changes: string[] = [];
  const client = await connect(url, {
    revision,
    cache: false,
    headers: { Authorization: `Bearer ${user}`, 'X-User': user },
    onListChanged: (kind) => void changes.push(kind),
  });
  closers.push(() => client.close());
  return { client, changes };
}

const namesOf = async (client: Client): Promise<string[]> => (await client.listTools()).map(({ name }) => name);
const textOf = (result: { readonly content: readonly unknown[] }): string =>
  (result.content[0] as { readonly text: string }).text;

test.each([
  ['principal', old],
  ['principal', stateless],
  ['session', old],
  ['session', stateless],
] as const)(
  'each caller lists and calls what its own lists have: isolation %s, clients of %s',
  async (isolation, revision) => {
    const { far, url } = await serve({ isolation });
    const { client: ada } = await userOf(url, 'ada', revision);
    const { client: bob } = await userOf(url, 'bob', revision);
    expect(await namesOf(ada)).toEqual(['far__same', 'far__only-ada']);
    expect(await namesOf(bob)).toEqual(['far__same', 'far__only-bob']);
    for (const [client, user, other] of [
      [ada, 'ada', 'bob'],
      [bob, 'bob', 'ada'],
    ] as const) {
      const [same] = await client.listTools();
      expect(same).toMatchObject({ description: `Takes ${user}`, inputSchema: { properties: { [user]: {} } } });
      expect((await client.listPrompts()).map(({ name }) => name)).toEqual([`far__ask-${user}`]);
      expect((await client.listResources()).map(({ uri }) => uri)).toEqual([`x:${user}`]);
      expect(textOf(await client.callTool(`far__only-${user}`, { a: 1 }))).toBe(`only-${user} for ${user}: {"a":1}`);
      await expect(client.callTool(`far__only-${other}`)).rejects.toThrow(`Unknown tool: far__only-${other}`);
      await expect(client.getPrompt(`far__ask-${other}`)).rejects.toThrow(`far__ask-${other}`);
      const { contents } = await client.readResource(`x:${user}`);
      expect(contents[0]).toMatchObject({ text: `read by ${user}` });
    }
    expect(far.requests.filter((each) => each.includes('only-'))).toEqual([]);
    // Each list was read once for each caller, and none without one.
    expect([far.reads('ada'), far.reads('bob'), far.reads('')]).toEqual([1, 1, 0]);
  },
);

test('a caller that was never seen before can call a tool without listing it first', async () => {
  const { url } = await serve();
  const { client } = await userOf(url, 'ada', stateless);
  expect(textOf(await client.callTool('far__only-ada', {}))).toBe('only-ada for ada: {}');
  await expect(client.callTool('far__only-bob')).rejects.toThrow('Unknown tool: far__only-bob');
});

test.each([old, stateless])(
  'a change is announced to the callers whose lists have changed: clients of %s',
  async (revision) => {
    const { far, url } = await serve();
    const ada = await userOf(url, 'ada', revision);
    const again = await userOf(url, 'ada', revision);
    const bob = await userOf(url, 'bob', revision);
    for (const { client } of [ada, again, bob]) await namesOf(client);
    far.users.set('ada', { tools: [toolOf('same', 'ada'), toolOf('new')] });
    far.announce();
    await vi.waitUntil(() => ada.changes.includes('tools') && again.changes.includes('tools'));
    expect(await namesOf(ada.client)).toEqual(['far__same', 'far__new']);
    await expect(ada.client.callTool('far__only-ada')).rejects.toThrow('Unknown tool');
    // Bob's lists were read again too, and are the same.
    await vi.waitUntil(() => far.reads('bob') === 2);
    expect(bob.changes).toEqual([]);
    expect(await namesOf(bob.client)).toEqual(['far__same', 'far__only-bob']);
  },
);

test('with a connection for each session, sessions of one user have their own lists and notices', async () => {
  const { far, url } = await serve({ isolation: 'session' });
  const one = await userOf(url, 'ada', old);
  expect(await namesOf(one.client)).toContain('far__only-ada');
  far.users.set('ada', { tools: [toolOf('later')] });
  const other = await userOf(url, 'ada', old);
  expect(await namesOf(other.client)).toEqual(['far__later']);
  expect(await namesOf(one.client)).toContain('far__only-ada');
  far.announce();
  await vi.waitUntil(() => one.changes.includes('tools'));
  expect(await namesOf(one.client)).toEqual(['far__later']);
  expect(other.changes).toEqual([]);
});

test('lists of callers are private for caches, with the time that their server allows', async () => {
  const { url } = await serve({ server: { cache: { ttlMs: 90_000, cacheScope: 'public' } } });
  const hints: unknown[] = [];
  const { client } = await userOf(url, 'ada', stateless);
  await client.listTools({ onCacheHint: (hint) => void hints.push(hint) });
  expect(hints).toEqual([{ ttlMs: 60_000, cacheScope: 'private' }]);
});

test('lists that are good for all, and all lists of a shared connection, are read once', async () => {
  const open = await serve();
  open.far.cacheScope = 'public';
  const { client: ada } = await userOf(open.url, 'ada', stateless);
  const { client: bob } = await userOf(open.url, 'bob', stateless);
  expect(await namesOf(ada)).toEqual(await namesOf(bob));
  expect(open.far.reads('ada') + open.far.reads('bob')).toBe(1);
  expect(open.gateway.status()[0]).not.toHaveProperty('callerLists');
  for (const isolation of ['shared', 'call'] as const) {
    const { far, url } = await serve({ isolation });
    const { client } = await userOf(url, 'ada', stateless);
    // Without the headers of a caller.
    expect(await namesOf(client)).toEqual(['far__same']);
    expect((await client.listTools())[0]).toMatchObject({ description: 'Takes nobody' });
    expect([far.reads('ada'), far.reads('')]).toEqual([0, 1]);
  }
});

test('a list without a word about who may see it is not shown to others', async () => {
  const { far, url } = await serve();
  far.cacheScope = undefined;
  const { client: ada } = await userOf(url, 'ada', stateless);
  const { client: bob } = await userOf(url, 'bob', stateless);
  expect(await namesOf(ada)).toEqual(['far__same', 'far__only-ada']);
  expect(await namesOf(bob)).toEqual(['far__same', 'far__only-bob']);
});

test('a server that makes its lists private takes them away from everyone but their caller', async () => {
  const { far, url } = await serve();
  far.cacheScope = 'public';
  const ada = await userOf(url, 'ada', old);
  const bob = await userOf(url, 'bob', old);
  expect(await namesOf(bob.client)).toEqual(['far__same', 'far__only-bob']);
  expect(await namesOf(ada.client)).toEqual(['far__same', 'far__only-bob']);
  ada.changes.length = 0;
  far.cacheScope = 'private';
  far.announce();
  await vi.waitUntil(() => ada.changes.includes('tools'));
  expect(await namesOf(ada.client)).toEqual(['far__same', 'far__only-ada']);
  // It stays so: what is good for all may be the list of a caller without rights.
  far.cacheScope = 'public';
  far.announce();
  await vi.waitUntil(() => far.reads('ada') + far.reads('bob') >= 5);
  expect(await namesOf(bob.client)).toEqual(['far__same', 'far__only-bob']);
  expect(await namesOf(ada.client)).toEqual(['far__same', 'far__only-ada']);
});

test('views, search and the address of a single server show the lists of their caller', async () => {
  const views = [
    view('found', { mode: 'search' }),
    view('auto', { mode: 'auto', maxListBytes: 500 }),
    view('few', { tools: { include: ['far__only-*'], exclude: [] } }),
  ];
  const { far, url } = await serve({ config: { views } });
  const { tools } = far.users.get('bob') as { tools: readonly object[] };
  far.users.set('bob', { tools: [...tools, ...Array.from({ length: 10 }, (_, i) => toolOf(`more-${i}`))] });
  const at = async (path: string, user: string) => (await userOf(`${url}${path}`, user, stateless)).client;
  expect(await namesOf(await at('/v/few', 'ada'))).toEqual(['far__only-ada']);
  expect(await namesOf(await at('/v/few', 'bob'))).toEqual(['far__only-bob']);
  expect(await namesOf(await at('/s/far', 'ada'))).toEqual(['same', 'only-ada']);
  await expect((await at('/s/far', 'ada')).callTool('only-bob')).rejects.toThrow('Unknown tool: only-bob');
  const search = ['search_tools', 'describe_tool', 'call_tool'];
  for (const user of ['ada', 'bob']) {
    const found = await at('/v/found', user);
    expect(await namesOf(found)).toEqual(search);
    const { tools: names } = JSON.parse(textOf(await found.callTool('search_tools', { query: 'only' })));
    expect(names.map(({ name }: { name: string }) => name)).toEqual([`far__only-${user}`]);
    const described = JSON.parse(textOf(await found.callTool('describe_tool', { name: 'far__same' })));
    expect(described.description).toBe(`Takes ${user}`);
    const called = await found.callTool('call_tool', { name: `far__only-${user}`, arguments: {} });
    expect(textOf(called)).toBe(`only-${user} for ${user}: {}`);
    const other = user === 'ada' ? 'bob' : 'ada';
    await expect(found.callTool('call_tool', { name: `far__only-${other}` })).rejects.toThrow('Unknown tool');
  }
  // Only the long list is searched.
  expect(await namesOf(await at('/v/auto', 'ada'))).toEqual(['far__same', 'far__only-ada']);
  expect(await namesOf(await at('/v/auto', 'bob'))).toEqual(search);
  await expect((await at('/v/auto', 'ada')).callTool('search_tools', { query: '' })).rejects.toThrow('Unknown tool');
});

test('a restart does not show the stored lists of one caller to another, and stores what all may know', async () => {
  const stored = new Map<string, string>();
  const cache: NonNullable<GatewayOptions['cache']> = {
    read: (digest) => {
      const text = stored.get(digest);
      return text === undefined ? undefined : { atMs: Date.now(), lists: JSON.parse(text) };
    },
    write: (digest, lists) => void stored.set(digest, JSON.stringify(lists)),
  };
  const { far, url } = await serve({ cache });
  const { client: first } = await userOf(url, 'ada', stateless);
  expect(await namesOf(first)).toContain('far__only-ada');
  const [text] = stored.values();
  expect(text).not.toContain('ada');
  expect(JSON.parse(text ?? '')).toMatchObject({ tools: [], capabilities: { tools: {} } });
  // A version before this one stored everything.
  const [digest = ''] = stored.keys();
  const hint = { ttlMs: 60_000, cacheScope: 'private' };
  stored.set(digest, JSON.stringify({ ...JSON.parse(text ?? ''), ...far.users.get('ada'), cache: hint }));
  const next = await serveAgain(far, { cache });
  const { client: bob } = await userOf(next.url, 'bob', stateless);
  expect(next.gateway.exposed({ view: '' })?.tools).toEqual([]);
  expect(bob.capabilities).not.toHaveProperty('completions');
  expect(await namesOf(bob)).toEqual(['far__same', 'far__only-bob']);
  await expect(bob.callTool('far__only-ada')).rejects.toThrow('Unknown tool');
});

test('callers do not wait for the lists of others, and are notified if theirs come late', async () => {
  const { far, url, gateway } = await serve({ config: { firstListMs: 300 } });
  const bob = await userOf(url, 'bob', old);
  expect(await namesOf(bob.client)).toHaveLength(2);
  let answer = (): void => {};
  far.delay = new Promise((resolve) => {
    answer = resolve;
  });
  const ada = await userOf(url, 'ada', old);
  expect(await namesOf(ada.client)).toEqual([]);
  expect(await namesOf(ada.client)).toEqual([]);
  expect(await namesOf(bob.client)).toHaveLength(2);
  answer();
  await vi.waitUntil(() => ada.changes.includes('tools'));
  expect(await namesOf(ada.client)).toEqual(['far__same', 'far__only-ada']);
  expect(bob.changes).toEqual([]);
  expect(gateway.status()[0]).toMatchObject({ state: 'ready', callerLists: 2 });
});

test('what fails for one caller is its own affair', async () => {
  const { far, url } = await serve();
  far.failing.add('ada');
  const { client: ada } = await userOf(`${url}/s/far`, 'ada', stateless);
  const { client: bob } = await userOf(`${url}/s/far`, 'bob', stateless);
  await expect(ada.listTools()).rejects.toThrow('no lists for ada');
  expect(await namesOf(bob)).toEqual(['same', 'only-bob']);
  far.failing.clear();
  await vi.waitUntil(async () => (await namesOf(ada).catch(() => [])).length === 2);
});

test('a caller whose first lists failed gets them with a later request, also if no other caller has any', async () => {
  const { far, url } = await serve();
  far.failing.add('ada');
  const { client: ada } = await userOf(`${url}/s/far`, 'ada', stateless);
  await expect(ada.listTools()).rejects.toThrow('no lists for ada');
  far.failing.clear();
  await vi.waitUntil(async () => (await namesOf(ada).catch(() => [])).length === 2);
});

test('what a caller waited for in vain says nothing about the server that replaces it', async () => {
  const { far, url, gateway } = await serve();
  far.failing.add('ada');
  const { client: ada } = await userOf(`${url}/s/far`, 'ada', stateless);
  await expect(ada.listTools()).rejects.toThrow('no lists for ada');
  const next = await privateUpstream(closers);
  next.users.set('ada', { tools: [toolOf('new')] });
  const entry = { entry: { url: next.url }, isolation: 'principal', forwardHeaders: ['x-user'] } as const;
  await gateway.reload(gatewayConfig([upstream('far', entry)]));
  expect(await namesOf(ada)).toEqual(['new']);
});

test('changes of a resource reach its caller after the view was changed, too', async () => {
  const { far, url, gateway } = await serve();
  const open = await privateUpstream(closers);
  open.cacheScope = 'public';
  open.users.set('', { tools: [], resources: [{ uri: 'x:open', name: 'open' }] });
  const servers = [
    upstream('open', { entry: { url: open.url } }),
    upstream('far', { entry: { url: far.url }, isolation: 'principal', forwardHeaders: ['x-user'] }),
  ];
  await gateway.reload(gatewayConfig(servers));
  const { client: ada } = await userOf(url, 'ada', old);
  expect((await ada.listResources()).map(({ uri }) => uri)).toEqual(['x:open', 'x:ada']);
  const updates: string[] = [];
  const subscription = await ada.subscribe('x:ada');
  void (async () => {
    for await (const { uri = '' } of subscription) updates.push(uri);
  })();
  const some = { ...gatewayConfig([]).defaultView, tools: { include: ['far__only-*'], exclude: [] } };
  await gateway.reload(gatewayConfig(servers, { defaultView: some }));
  far.updated('x:ada');
  await vi.waitUntil(() => updates.length > 0);
  expect(updates).toEqual(['x:ada']);
});

test('names that a server without prefix has for one caller do not change those of others', async () => {
  const far = await privateUpstream(closers);
  const open = await privateUpstream(closers);
  open.cacheScope = 'public';
  far.users.set('ada', { tools: [toolOf('same', 'ada')] });
  far.users.set('bob', { tools: [] });
  for (const user of ['ada', 'bob']) open.users.set(user, { tools: [toolOf('same', 'all')] });
  const given = { isolation: 'principal', forwardHeaders: ['x-user'], prefix: false } as const;
  const servers = [
    upstream('far', { ...given, entry: { url: far.url } }),
    upstream('open', { ...given, entry: { url: open.url } }),
  ];
  const { url } = await serveAgain(far, { config: { servers } });
  const { client: ada } = await userOf(url, 'ada', stateless);
  const { client: bob } = await userOf(url, 'bob', stateless);
  // The first request of Ada is a call, so that her lists are not known yet.
  expect(await namesOf(bob)).toEqual(['same']);
  expect(textOf(await ada.callTool('same', {}))).toBe('same for ada: {}');
  expect(far.requests).toContain('ada tools/call');
  expect(open.requests).not.toContain('ada tools/call');
  expect(await namesOf(ada)).toEqual(['same', 'open__same']);
  await bob.callTool('same', {});
  expect(open.requests).toContain('bob tools/call');
});

test('overrides and filters apply to the tools of every caller', async () => {
  const override = {
    same: { description: 'Ours', hideArguments: ['ada'], defaults: { fixed: 1 }, name: undefined, title: undefined },
  };
  const entry = { override: override as never, tools: { include: ['same', 'only-b*'], exclude: [] } };
  const { url } = await serve({ entry });
  const { client: ada } = await userOf(url, 'ada', stateless);
  const { client: bob } = await userOf(url, 'bob', stateless);
  expect(await ada.listTools()).toMatchObject([{ description: 'Ours', inputSchema: { properties: {} } }]);
  expect(await bob.listTools()).toMatchObject([
    { description: 'Ours', inputSchema: { properties: { bob: {} } } },
    { name: 'far__only-bob' },
  ]);
  expect(textOf(await bob.callTool('far__same', { bob: 'x', ada: 'y' }))).toBe('same for bob: {"bob":"x","fixed":1}');
  await expect(ada.callTool('far__only-ada')).rejects.toThrow('Unknown tool');
});

test('a tool that is different for another caller is withheld from that caller until it is accepted', async () => {
  const pins = new Pins({ file: join(temporaryFolder(), 'pins.json') });
  const { far, url, gateway } = await serve({ pins, entry: { pin: 'block' } });
  const { client: ada } = await userOf(url, 'ada', old);
  const bob = await userOf(url, 'bob', old);
  expect(await namesOf(ada)).toEqual(['far__same', 'far__only-ada']);
  expect(await namesOf(bob.client)).toEqual(['far__only-bob']);
  expect(gateway.status()[0]).toMatchObject({ withheldTools: 1, callerLists: 2 });
  expect(textOf(await bob.client.callTool('far__same', {}))).toContain('has changed since it was accepted');
  expect(textOf(await ada.callTool('far__same', {}))).toBe('same for ada: {}');
  expect(far.requests).not.toContain('bob tools/call');
  pins.accept('far', 'far', 'same');
  gateway.recheckPins('far');
  await vi.waitUntil(() => bob.changes.includes('tools'));
  expect(await namesOf(bob.client)).toEqual(['far__same', 'far__only-bob']);
  expect(textOf(await bob.client.callTool('far__same', {}))).toBe('same for bob: {}');
  // Both definitions are accepted now.
  expect(await namesOf(ada)).toEqual(['far__same', 'far__only-ada']);
  expect(pins.list().differences).toEqual([]);
});

test('the lists of a session end with it', async () => {
  const { url, gateway } = await serve({ isolation: 'session' });
  const { client: one } = await userOf(url, 'ada', old);
  const { client: other } = await userOf(url, 'ada', old);
  await Promise.all([one, other].map(namesOf));
  expect(gateway.status()[0]).toMatchObject({ callerLists: 2, connections: 2 });
  await one.close();
  await expect.poll(() => gateway.status()[0]).toMatchObject({ callerLists: 1, connections: 1 });
});

test('lists stay when the connection of their caller is not needed any more, and are read again with the next one', async () => {
  const { far, url, gateway } = await serve({ entry: { idleMs: 50 } });
  const ada = await userOf(url, 'ada', old);
  expect(await namesOf(ada.client)).toContain('far__only-ada');
  await expect.poll(() => gateway.status()[0]?.connections).toBe(0);
  far.users.set('ada', { tools: [toolOf('later')] });
  expect(await namesOf(ada.client)).toContain('far__only-ada');
  expect([far.reads('ada'), gateway.status()[0]?.connections]).toEqual([1, 0]);
  ada.changes.length = 0;
  await ada.client.callTool('far__same', {});
  await vi.waitUntil(() => ada.changes.includes('tools'));
  expect(await namesOf(ada.client)).toEqual(['far__later']);
});

test('lists that are not valid any more are read again for the caller that requests them', async () => {
  const { far, url } = await serve();
  far.ttlMs = 0;
  const ada = await userOf(url, 'ada', old);
  const bob = await userOf(url, 'bob', old);
  for (const { client } of [ada, bob]) await namesOf(client);
  for (const user of ['ada', 'bob']) far.users.set(user, { tools: [toolOf('later')] });
  await namesOf(ada.client);
  await vi.waitUntil(() => ada.changes.includes('tools'));
  expect(await namesOf(ada.client)).toEqual(['far__later']);
  expect([far.reads('bob'), bob.changes.length]).toEqual([1, 0]);
});

test('a server that is started early is asked without a caller; callers get their own lists', async () => {
  const { far, url, gateway } = await serve({ entry: { start: 'eager' } });
  await vi.waitUntil(() => gateway.status()[0]?.callerLists === 1);
  expect(far.reads('')).toBe(1);
  const { client } = await userOf(url, 'ada', stateless);
  expect(await namesOf(client)).toEqual(['far__same', 'far__only-ada']);
});

test('operators see the items of all callers that are known', async () => {
  const { url, gateway } = await serve();
  const exposed = () => gateway.exposed({ view: '' })?.tools.map((each) => each.exposed);
  expect(exposed()).toEqual([]);
  for (const user of ['ada', 'bob']) await namesOf((await userOf(url, user, stateless)).client);
  expect(exposed()).toEqual(['far__same', 'far__only-ada', 'far__only-bob']);
  const caller = { principal: { id: 'bob' }, session: undefined };
  expect(gateway.exposed({ view: '' }, caller)?.tools.map((each) => each.exposed)).toEqual([
    'far__same',
    'far__only-bob',
  ]);
});

test('instructions are those that the server has for the caller', async () => {
  const { far, url } = await serve();
  // The gateway asks for them when it connects, without the headers of a caller.
  far.users.set('', { tools: [], instructions: 'Be kind.' });
  const { client: before } = await userOf(url, 'ada', stateless);
  expect(before.instructions).toBeUndefined();
  await namesOf(before);
  const { client: after } = await userOf(url, 'ada', stateless);
  expect(after.instructions).toContain('Be kind.');
  expect((await userOf(url, 'bob', stateless)).client.instructions).toBeUndefined();
});

test('a changed configuration is announced to callers as far as they see it', async () => {
  const { far, url, gateway } = await serve();
  const ada = await userOf(url, 'ada', old);
  await namesOf(ada.client);
  const entry = { entry: { url: far.url }, isolation: 'principal', forwardHeaders: ['x-user'] } as const;
  await gateway.reload(gatewayConfig([upstream('far', entry)]));
  const { digest } = upstream('far', entry);
  expect(ada.changes).toEqual([]);
  const some = { ...gatewayConfig([]).defaultView, tools: { include: ['far__only-*'], exclude: [] } };
  await gateway.reload(gatewayConfig([upstream('far', { ...entry, digest })], { defaultView: some }));
  await vi.waitUntil(() => ada.changes.length > 0);
  expect(new Set(ada.changes)).toEqual(new Set(['tools']));
  expect(await namesOf(ada.client)).toEqual(['far__only-ada']);
});

test('a server with tools of its own and a gateway shows both to each caller', async () => {
  const far = await privateUpstream(closers);
  for (const user of ['ada', 'bob']) far.users.set(user, { tools: [toolOf(`only-${user}`)] });
  const entry = { entry: { url: far.url }, isolation: 'principal', forwardHeaders: ['x-user'] } as const;
  const base = createServer({ name: 'base', version: '1.0.0', logger: false });
  base.tool('own', { run: () => 'own' });
  const gateway = createGateway(gatewayConfig([upstream('far', entry)]), { logger: false });
  gateway.attach(base);
  const http = await serveHttp(base, { port: 0, graceMs: 100, authenticate });
  closers.push(async () => {
    await http.close();
    await gateway.close();
  });
  for (const user of ['ada', 'bob']) {
    const { client } = await userOf(http.url, user, stateless);
    expect(await namesOf(client)).toEqual(['own', `far__only-${user}`]);
    expect(textOf(await client.callTool('own', {}))).toBe('own');
  }
});
