import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Tool } from '../../protocol/model.ts';
import { gatewayConfig } from '../config/decode-gateway.ts';
import type { GatewayConfig } from '../config/gateway-config.ts';
import type { UpstreamLists } from '../contract.ts';
import { exposedName, splitExposedName } from './exposed-name.ts';
import { overrideArguments } from './overrides.ts';
import { slugOf } from './slug.ts';
import { exposeServer, exposeView, findBareTool } from './views.ts';

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({ name, inputSchema: { type: 'object' }, ...more });
const noLists: UpstreamLists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };
const toolsOf = (...names: string[]): UpstreamLists => ({ ...noLists, tools: names.map((name) => tool(name)) });
const resource = (uri: string) => ({ name: uri, uri });

async function configOf(servers: Record<string, object>, gateway?: object): Promise<GatewayConfig> {
  const mcpServers = Object.fromEntries(
    Object.entries(servers).map(([name, mooring]) => [name, { command: 'x', mooring }]),
  );
  return gatewayConfig({ mcpServers, gateway });
}

function viewOf(config: GatewayConfig, lists: Record<string, UpstreamLists>, view = config.defaultView) {
  const servers = config.servers.map((server) => ({ config: server, lists: lists[server.name] ?? noLists }));
  return exposeView(view, servers);
}

const names = (items: readonly { readonly exposed: string }[]): string[] => items.map(({ exposed }) => exposed);

test.each([
  ['GitHub', 'github'],
  ['My Server', 'my-server'],
  ['my__server', 'my-server'],
  ['a--b', 'a-b'],
  ['-files-', 'files'],
  ['1password', 's-1password'],
])('the slug of %j is %j', (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

test('a long name gets a slug of 24 characters that other long names do not share', () => {
  const [a, b] = ['the-server-of-the-first-department', 'the-server-of-the-second-department'].map(slugOf);
  expect(a).toMatch(/^the-server-of-the-[a-z2-7]{6}$/);
  expect(a).not.toBe(b);
});

test('every name has a slug that can be cut from a tool name and from an app URI', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      const slug = slugOf(name);
      expect(slug).toMatch(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/);
      expect(slug.length).toBeLessThanOrEqual(24);
    }),
  );
});

const plainName = fc.stringMatching(/^[A-Za-z0-9_.-]{1,30}$/);

test('a name is reversible without a table as long as it is not shortened', () => {
  fc.assert(
    fc.property(fc.string(), plainName, (server, name) => {
      const slug = slugOf(server);
      expect(splitExposedName(exposedName(slug, name))).toEqual({ slug, name });
    }),
  );
});

test('every exposed name has at most 64 plain characters and begins with its slug', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ unit: 'binary', maxLength: 300 }), (server, name) => {
      const slug = slugOf(server);
      const exposed = exposedName(slug, name);
      expect(exposed).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
      expect(splitExposedName(exposed)?.slug).toBe(slug);
    }),
  );
});

test('long names that begin alike stay different', () => {
  const [a, b] = ['first', 'second'].map((end) => exposedName('files', `${'x'.repeat(80)}${end}`));
  expect(a).not.toBe(b);
});

test('names do not change when servers are added', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(plainName, { maxLength: 5 }), async (tools) => {
      const lists = { one: toolsOf(...tools), two: toolsOf(...tools) };
      const single = viewOf(await configOf({ one: {} }), lists);
      const both = viewOf(await configOf({ one: {}, two: {} }), lists);
      expect(names(both.tools).slice(0, single.tools.length)).toEqual(names(single.tools));
    }),
    { numRuns: 20 },
  );
});

test('of two tools with the same exposed name the later is hidden, with a warning', async () => {
  const view = viewOf(await configOf({ one: {} }), { one: toolsOf('a b', 'a_b-zzzzzz', 'a b') });
  expect(view.tools).toHaveLength(2);
  expect(view.warnings.join()).toContain('"a b" of one is hidden');
});

test('tools that an override or a short list names in vain are a warning, once their servers are known', async () => {
  const config = await configOf(
    { one: { override: { read: { title: 'Read' }, raed: { title: 'Read' } } } },
    { views: { big: { mode: 'search', shortList: ['one__read', 'one__raed'] } } },
  );
  const big = config.views[0];
  expect(viewOf(config, {}, big).settingsWarnings).toEqual([]);
  expect(viewOf(config, { one: toolsOf('read') }, big).settingsWarnings).toEqual([
    '"override" of one names tools that it does not have: raed',
    '"shortList" of the view big names tools that it does not have: one__raed',
  ]);
});

test('without prefix the earlier server keeps the bare name', async () => {
  const config = await configOf({ one: { prefix: false }, two: { prefix: false } });
  const view = viewOf(config, { one: toolsOf('read'), two: toolsOf('read', 'write') });
  expect(names(view.tools)).toEqual(['read', 'two__read', 'write']);
  expect(view.warnings).toHaveLength(1);
});

test('a bare name cannot take the form of a prefixed name of another server', async () => {
  const config = await configOf({ evil: { prefix: false }, github: {} });
  const view = viewOf(config, { evil: toolsOf('github__push'), github: toolsOf('push') });
  expect(names(view.tools)).toEqual(['evil__github__push', 'github__push']);
  expect(view.tools[1]?.slug).toBe('github');
});

test('a tool has the same name in every view', async () => {
  const config = await configOf(
    { one: { prefix: false }, two: { prefix: false } },
    { views: { second: { servers: ['two'] } } },
  );
  const lists = { one: toolsOf('read'), two: toolsOf('read') };
  expect(names(viewOf(config, lists, config.views[0]).tools)).toEqual(['two__read']);
});

test('filters of the server use its own names, filters of a view those at the gateway; exclude wins', async () => {
  const config = await configOf(
    { files: { tools: { include: ['read_*', 'write_*'], exclude: ['write_all'] } } },
    { views: { safe: { tools: { exclude: ['files__write_*'] } } } },
  );
  const lists = { files: toolsOf('read_one', 'write_one', 'write_all', 'delete') };
  expect(names(viewOf(config, lists).tools)).toEqual(['files__read_one', 'files__write_one']);
  expect(names(viewOf(config, lists, config.views[0]).tools)).toEqual(['files__read_one']);
});

test('an override changes what is shown, and its fixed arguments cannot be sent', async () => {
  const override = { query: { name: 'ask', description: 'Ask', hideArguments: ['debug'], defaults: { db: 'main' } } };
  const config = await configOf({ sql: { override } });
  const inputSchema = {
    type: 'object',
    properties: { text: { type: 'string' }, db: { type: 'string' }, debug: { type: 'boolean' } },
    required: ['text', 'db'],
  };
  const view = viewOf(config, { sql: { ...noLists, tools: [tool('query', { inputSchema })] } });
  expect(view.tools[0]).toMatchObject({ original: 'query', exposed: 'sql__ask' });
  expect(view.tools[0]?.item).toEqual({
    name: 'sql__ask',
    description: 'Ask',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  });
  const sent = overrideArguments({ text: 'x', db: 'other', debug: true }, config.servers[0]?.override['query']);
  expect(sent).toEqual({ text: 'x', db: 'main' });
});

test('a URI that an earlier server has is qualified for the later one; both lead back', async () => {
  const config = await configOf({ one: {}, two: {} });
  const lists = { ...noLists, resources: [resource('file:///a'), resource('ui://page/x')] };
  const { resources, uris } = viewOf(config, { one: lists, two: lists });
  expect(names(resources)).toEqual(['file:///a', 'ui://page/x', 'two+file:///a', 'ui://two--page/x']);
  for (const { slug, original, exposed } of resources) {
    expect(uris.route(exposed)).toEqual({ slug, uri: original });
    expect(uris.expose(slug, original)).toBe(exposed);
  }
});

test('a later server cannot take a URI that a template of an earlier one matches', async () => {
  const config = await configOf({ files: {}, evil: {} });
  const template = { name: 'file', uriTemplate: 'file:///{+path}' };
  const view = viewOf(config, {
    files: { ...noLists, resourceTemplates: [template] },
    evil: { ...noLists, resources: [resource('file:///etc/hosts')], resourceTemplates: [template] },
  });
  expect(view.uris.route('file:///etc/hosts')?.slug).toBe('files');
  expect(names(view.resources)).toEqual(['evil+file:///etc/hosts']);
  expect(names(view.resourceTemplates)).toEqual(['file:///{+path}', 'evil+file:///{+path}']);
});

test('a URI whose scheme looks like a slug leads to the server that lists it', async () => {
  const config = await configOf({ git: {}, other: {} });
  const view = viewOf(config, { other: { ...noLists, resources: [resource('git+https://x/y')] } });
  const [only] = view.resources;
  expect(only?.exposed).toBe('other+git+https://x/y');
  expect(view.uris.route(only?.exposed ?? '')).toEqual({ slug: 'other', uri: 'git+https://x/y' });
});

test('URIs of random servers always lead back to the server they came from', async () => {
  const uri = fc.constantFrom('file:///a', 'one+file:///a', 'ui://x/y', 'ui://one--x/y', 'mem://1', 'two+one+mem://1');
  const config = await configOf({ one: {}, two: {}, three: {} });
  fc.assert(
    fc.property(fc.array(fc.uniqueArray(uri), { minLength: 3, maxLength: 3 }), (sets) => {
      const lists = Object.fromEntries(
        ['one', 'two', 'three'].map((name, i) => [name, { ...noLists, resources: (sets[i] ?? []).map(resource) }]),
      );
      const { resources, uris } = viewOf(config, lists);
      expect(new Set(names(resources)).size).toBe(resources.length);
      for (const { slug, original, exposed } of resources) expect(uris.route(exposed)).toEqual({ slug, uri: original });
    }),
  );
});

test('what a filter hides cannot be read either, plain or qualified', async () => {
  const config = await configOf({ files: { resources: { exclude: ['file:///secret/**'] } } });
  const template = { name: 'file', uriTemplate: 'file:///{+path}' };
  const { uris } = viewOf(config, { files: { ...noLists, resourceTemplates: [template] } });
  expect(uris.route('file:///open')).toEqual({ slug: 'files', uri: 'file:///open' });
  expect(uris.route('file:///secret/key')).toBeUndefined();
  expect(uris.route('files+file:///secret/key')).toBeUndefined();
});

test('a template that is included covers its URIs', async () => {
  const config = await configOf({ files: { resources: { include: ['file:///{+path}'] } } });
  const template = { name: 'file', uriTemplate: 'file:///{+path}' };
  const { uris } = viewOf(config, { files: { ...noLists, resourceTemplates: [template] } });
  expect(uris.route('file:///open')?.slug).toBe('files');
  expect(uris.route('mem://1')).toBeUndefined();
});

test('a bare name is accepted for servers with app pages, if no other server has it', async () => {
  const config = await configOf({ app: {}, plain: {} });
  const page = tool('open', { _meta: { ui: { resourceUri: 'ui://x' } } });
  const view = viewOf(config, { app: { ...noLists, tools: [page, tool('save')] }, plain: toolsOf('save', 'other') });
  expect(findBareTool(view, 'open', 'apps')).toMatchObject({ ok: true, tool: { exposed: 'app__open' } });
  expect(findBareTool(view, 'other', 'apps')).toBeUndefined();
  expect(findBareTool(view, 'other', 'unique')).toMatchObject({ ok: true, tool: { exposed: 'plain__other' } });
  expect(findBareTool(view, 'save', 'apps')).toEqual({ ok: false, candidates: ['app__save', 'plain__save'] });
  expect(findBareTool(view, 'open', 'off')).toBeUndefined();
});

test('a server by itself has its own names and URIs', async () => {
  const config = await configOf({ git: { tools: { exclude: ['push'] } } });
  const lists = { ...toolsOf('pull', 'push'), resources: [resource('git+https://x/y')] };
  const [server] = config.servers;
  const view = exposeServer({ config: server as NonNullable<typeof server>, lists });
  expect(names(view.tools)).toEqual(['pull']);
  expect(names(view.resources)).toEqual(['git+https://x/y']);
  expect(view.uris.route('git+https://x/y')).toEqual({ slug: 'git', uri: 'git+https://x/y' });
});
