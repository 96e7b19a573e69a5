import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { TestClient } from '../../../test/support/test-client.ts';
import { silentLogger } from '../../common/logger.ts';
import { createServer, type Server } from '../../engine/server.ts';
import { type HealthPart, HealthRegistry } from '../serving/health.ts';
import type { PluginSettings, Settings } from '../settings/settings.ts';
import { plugins } from './plugins.ts';

let root: string;
let server: Server;
let health: HealthRegistry;
const closing: (() => Promise<void>)[] = [];

beforeEach(() => {
  root = temporaryFolder();
  server = createServer({ name: 'host', version: '1.0.0' });
  health = new HealthRegistry();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0)) await close();
});

/** Writes a plugin; `module` is the body of its index.js. */
function write(name: string, module: string, manifest: object = {}): string {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  const described = { name, version: '1.0.0', ...manifest };
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'mooring-plugin.json'), JSON.stringify(described));
  writeFileSync(join(folder, 'index.js'), module);
  return folder;
}

const greeter = (text: string): string => `
export const pack = (host) => ({
  name: 'greeter',
  install(server) {
    server.tool('greet', { run: () => ${JSON.stringify(text)} });
  },
});
`;

async function load(entries: readonly PluginSettings[], changes: Partial<Settings> = {}): Promise<void> {
  const settings: Settings = {
    profile: 'test',
    dataDir: join(root, 'data'),
    roots: [],
    skills: [],
    allowedCommands: undefined,
    enable: { commands: false, workers: false },
    audit: undefined,
    packs: {},
    plugins: entries,
    ...changes,
  };
  const pack = plugins({ settings, logger: silentLogger, health, from: [root] });
  closing.push(async () => pack.close?.());
  await server.use(pack);
}

const partOf = async (name: string): Promise<HealthPart | undefined> =>
  (await health.check()).find((part) => part.name === name);

async function textOf(tool: string): Promise<string | undefined> {
  const answer = await (await TestClient.open(server)).call(tool);
  return answer.result?.content[0].text;
}

test('a plugin from a folder registers its tools and reports its health', async () => {
  await load([{ source: write('greeter', greeter('hello')) }]);
  expect(await textOf('greet')).toBe('hello');
  expect(await partOf('plugin greeter')).toEqual({
    name: 'plugin greeter',
    status: 'ok',
    detail: 'version 1.0.0 is running',
  });
});

test('a plugin that is not installed is reported with the command that installs it', async () => {
  write('plugins/near', greeter('x'));
  await load([{ source: '@me/absent' }, { source: 'plugins/near' }]);
  expect(await partOf('plugin @me/absent')).toMatchObject({
    status: 'failed',
    detail: expect.stringMatching(
      / is not installed in \S+ or a folder above it\. In \S+, run: npm install @me\/absent$/,
    ),
  });
  expect(await partOf('plugin plugins/near')).toMatchObject({
    status: 'failed',
    detail: expect.stringMatching(/^there is no package plugins\/near\. .* write "source": ".\/plugins\/near"$/),
  });
});

test('a plugin from a package is found in node_modules, its manifest in package.json', async () => {
  const folder = join(root, 'node_modules/@me/hello');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: '@me/hello', version: '2.1.0', type: 'module', main: 'main.js', mooring: { needs: [] } }),
  );
  writeFileSync(join(folder, 'main.js'), greeter('from a package').replace('export const pack =', 'export default'));
  await load([{ source: '@me/hello' }]);
  expect(await textOf('greet')).toBe('from a package');
  expect(await partOf('plugin @me/hello')).toMatchObject({ status: 'ok', detail: 'version 2.1.0 is running' });
});

test.each<[string, string, object, Partial<PluginSettings>, RegExp]>([
  ['does not parse', 'export const pack = (', {}, {}, /./],
  ['parses wrong JSON', 'JSON.parse("{")', {}, {}, /JSON/],
  [
    'imports a package that is not installed',
    "import '@acme/missing'",
    {},
    {},
    /^it imports the package @acme\/missing, which is not installed\. In \S+bad, run: npm install @acme\/missing$/,
  ],
  ['throws when it is loaded', 'throw new Error("boom")', {}, {}, /boom/],
  ['throws when it is started', 'export const pack = () => { throw new Error("no station") }', {}, {}, /no station/],
  ['exports nothing', 'export const other = 1', {}, {}, /does not export a function "pack"/],
  ['gives no pack', 'export const pack = () => ({})', {}, {}, /no "install" function/],
  ['lacks a version', greeter('x'), { version: undefined }, {}, /version/],
  ['names a module outside', greeter('x'), { main: '../../../../etc/hostname' }, {}, /points outside of|is missing/],
  [
    'needs what was not granted',
    greeter('x'),
    { needs: ['network:api.example', 'data'] },
    { grant: ['data'] },
    /"grant": \["network:api.example"\]/,
  ],
  [
    'needs something unknown',
    greeter('x'),
    { needs: ['everything'] },
    {},
    /unknown capability in "needs": everything; use/,
  ],
  [
    'was granted something unknown',
    greeter('x'),
    {},
    { grant: ['everything'] },
    /unknown capability in "grant": everything/,
  ],
  [
    'is configured wrongly',
    greeter('x'),
    { config: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
    {},
    /"config" is invalid: city/,
  ],
])('a plugin that %s is not loaded and reported, the others work', async (_what, module, manifest, entry, reason) => {
  const good = write('good', greeter('still here'));
  await load([{ source: write('bad', module, manifest), ...entry }, { source: good }]);
  const [bad, other] = await health.check();
  expect(bad?.status).toBe('failed');
  expect(bad?.detail).toMatch(reason);
  expect(other).toMatchObject({ name: 'plugin good', status: 'ok' });
  expect(await textOf('greet')).toBe('still here');
});

test('a missing folder is reported by the last part of its source: callers see no paths', async () => {
  await load([{ source: join(root, 'nowhere') }]);
  expect(await health.check()).toEqual([
    { name: 'plugin …/nowhere', status: 'failed', detail: 'the folder …/nowhere does not exist' },
  ]);
});

test('the registrations of a failing plugin are removed', async () => {
  const module = `export const pack = () => ({ install(server) {
    server.tool('first', { run: () => 'x' });
    server.tool('taken', { run: () => 'x' });
  } })`;
  server.tool('taken', { run: () => 'mine' });
  await load([{ source: write('clash', module) }]);
  expect(await partOf('plugin clash')).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining('taken'),
  });
  expect([...server.catalog.tools.keys()]).toEqual(['taken']);
  expect(await textOf('taken')).toBe('mine');
});

test('a plugin that failed or was unloaded cannot register anything later', async () => {
  const module = (then: string) => `export const pack = () => ({ install(server) {
    globalThis.late = () => server.tool('late', { run: () => 'x' });
    ${then}
  } })`;
  const late = (): unknown => (globalThis as unknown as { late: () => unknown }).late();
  await load([{ source: write('failing', module('throw new Error("no station");')) }]);
  expect(late).toThrow('was unloaded');
  await load([{ source: write('working', module('')) }]);
  await closing.pop()?.();
  expect(late).toThrow('was unloaded');
  expect(server.catalog.tools.has('late')).toBe(false);
});

test('a plugin receives its configuration and only what it was granted', async () => {
  const module = `export const pack = (host) => ({ install(server) {
    server.tool('look', { run: () => JSON.stringify({
      config: host.config, env: host.env, dataDir: host.dataDir, fetch: typeof host.fetch, files: typeof host.files,
      commands: typeof host.commands, around: typeof server.around, observe: typeof server.observe,
    }) });
  } })`;
  vi.stubEnv('PLUGIN_TEST_SECRET', 's3');
  const source = write('curious', module, { needs: ['data', 'env:PLUGIN_TEST_SECRET'] });
  await load([{ source, config: { city: 'Gdynia' }, grant: ['data', 'env:PLUGIN_TEST_SECRET', 'network'] }]);
  delete process.env['PLUGIN_TEST_SECRET'];
  expect(JSON.parse((await textOf('look')) ?? '')).toEqual({
    config: { city: 'Gdynia' },
    env: { PLUGIN_TEST_SECRET: 's3' },
    dataDir: join(root, 'data/plugins/curious'),
    fetch: 'function',
    files: 'undefined',
    commands: 'undefined',
    around: 'undefined',
    observe: 'undefined',
  });
});

test('a grant of one host does not reach others', async () => {
  const module = `export const pack = (host) => ({ install(server) {
    server.tool('go', { run: () => host.fetch('https://elsewhere.example/').then(() => 'reached', (e) => e.message) });
  } })`;
  await load([{ source: write('narrow', module), grant: ['network:api.example'] }]);
  expect(await textOf('go')).toMatch(/elsewhere\.example/);
  expect(await textOf('go')).not.toBe('reached');
});

test('plugins are closed in reverse order, and one that throws does not keep the others open', async () => {
  const module = (name: string, more = '') => `export const pack = (host) => {
    globalThis.closedPlugins ??= [];
    return { install() {}, close() { globalThis.closedPlugins.push('${name} ' + host.signal.aborted); ${more} } };
  }`;
  const names = ['a', 'b', 'c'];
  await load(names.map((name) => ({ source: write(name, module(name, name === 'b' ? 'throw new Error("no")' : '')) })));
  await server.close();
  expect((globalThis as Record<string, unknown>)['closedPlugins']).toEqual(['c false', 'b false', 'a false']);
});

test('a changed plugin is reloaded and clients are notified', async () => {
  const folder = write('greeter', greeter('one'));
  await load([{ source: folder }]);
  const client = await TestClient.open(server);
  expect((await client.call('greet')).result.content[0].text).toBe('one');
  writeFileSync(join(folder, 'mooring-plugin.json'), JSON.stringify({ name: 'greeter', version: '1.1.0' }));
  writeFileSync(join(folder, 'index.js'), `import { text } from './text.js';\n${greeter('')}`.replace('""', 'text'));
  writeFileSync(join(folder, 'text.js'), `export const text = 'two';`);
  await client.next((message) => message.method === 'notifications/tools/list_changed');
  await expect.poll(() => textOf('greet')).toBe('two');
  expect(await partOf('plugin greeter')).toMatchObject({ status: 'ok', detail: 'version 1.1.0 is running' });
  // Modules that it imports are reloaded too.
  writeFileSync(join(folder, 'text.js'), `export const text = 'three';`);
  await expect.poll(() => textOf('greet')).toBe('three');
});

test('if a changed version cannot be loaded, the old one keeps running and health reports it', async () => {
  const folder = write('greeter', greeter('good'));
  await load([{ source: folder }]);
  writeFileSync(join(folder, 'index.js'), 'export const pack = (');
  await expect.poll(async () => (await partOf('plugin greeter'))?.status).toBe('degraded');
  expect((await partOf('plugin greeter'))?.detail).toMatch(
    /^version 1\.0\.0 is running; the changed version cannot be loaded: /,
  );
  expect(await textOf('greet')).toBe('good');
});
