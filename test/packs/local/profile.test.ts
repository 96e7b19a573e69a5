// Profile `local`: what a person gets without asking for anything else.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultProfile } from '../../../src/app/profiles/index.ts';
import { localProfile } from '../../../src/app/profiles/local.ts';
import { HealthRegistry } from '../../../src/app/serving/health.ts';
import type { Settings } from '../../../src/app/settings/settings.ts';
import { silentLogger } from '../../../src/common/logger.ts';
import type { Server } from '../../../src/engine/server.ts';
import { ensureProgram } from '../../support/programs.ts';
import { settings } from '../../support/settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Message, TestClient } from '../../support/test-client.ts';

let folder = '';
const servers: Server[] = [];

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function open(changes: Partial<Settings> = {}): Promise<TestClient> {
  const { server } = await localProfile.assemble({
    logger: silentLogger,
    version: '9.9.9',
    health: new HealthRegistry(),
    settings: settings({ dataDir: join(folder, 'data'), packs: { clipboard: { backend: 'memory' } }, ...changes }),
  });
  servers.push(server);
  return TestClient.open(server);
}

const text = ({ result }: Message): string => result.content[0].text;
const names = ({ result }: Message): string[] => result.tools.map((each: { name: string }) => each.name);

test('it is the default, and supports every revision by the official rules', async () => {
  expect(defaultProfile).toBe('local');
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    await open();
    const client = new TestClient(servers.at(-1) as Server);
    const { result } = await client.request('initialize', { protocolVersion: revision });
    expect(result).toMatchObject({ protocolVersion: revision, serverInfo: { name: 'mooring', version: '9.9.9' } });
  }
});

test('clipboard, notes, time, arithmetic, search and meta are there; commands and files are not', async () => {
  const client = await open();
  const listed = names(await client.request('tools/list'));
  for (const name of ['get_clipboard', 'set_clipboard', 'add_note', 'get_notes', 'calculate', 'get_current_time']) {
    expect(listed).toContain(name);
  }
  for (const name of ['web_search', 'health_check', 'search_tools', 'list_categories']) expect(listed).toContain(name);
  const absent = ['execute_command', 'read_text_file', 'write_file', 'increment_counter', 'long_running_task'];
  for (const name of absent) expect(listed).not.toContain(name);
  const { result } = await client.request('resources/list');
  expect(result.resources.some((each: { uri: string }) => each.uri.startsWith('file:'))).toBe(false);
});

test('the clipboard and the notes work, and errors are results with plain messages', async () => {
  const client = await open();
  await client.call('set_clipboard', { text: 'copied' });
  expect(text(await client.call('get_clipboard'))).toBe('copied');
  expect(text(await client.call('add_note', { content: 'kept' }))).toBe('Note 1 added');
  expect(text(await client.call('get_current_time', { timezone: 'Asia/Tokyo' }))).toMatch(/\+09:00$/);
  expect((await client.call('calculate', { operation: 'divide', a: 1, b: 0 })).result).toEqual({
    content: [{ type: 'text', text: 'Division by zero' }],
    isError: true,
  });
  const again = await open();
  expect(text(await again.call('get_notes'))).toContain('kept');
});

test('demo tools can be enabled', async () => {
  const packs = { clipboard: { backend: 'memory' }, reference: { demoTools: true } };
  const listed = names(await (await open({ packs })).request('tools/list'));
  for (const name of ['increment_counter', 'long_running_task']) expect(listed).toContain(name);
});

test('files under a root can be read and searched with tools, and changed only with write', async () => {
  const root = join(folder, 'root');
  mkdirSync(root);
  writeFileSync(join(root, 'a.txt'), 'hello file');
  const reader = await open({ roots: [root] });
  expect(text(await reader.call('read_text_file', { path: join(root, 'a.txt') }))).toBe('hello file');
  expect(text(await reader.call('search_text', { path: root, text: 'hello' }))).toContain('a.txt:1: hello file');
  expect(names(await reader.request('tools/list'))).not.toContain('write_file');
  expect((await reader.call('write_file', { path: join(root, 'b.txt'), content: 'x' })).error?.code).toBe(-32602);
  const writer = await open({ roots: [root], write: true });
  expect(text(await writer.call('write_file', { path: join(root, 'b.txt'), content: 'x' }))).toContain('Successfully');
  expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('x');
  const { categories } = JSON.parse(text(await writer.call('list_categories')));
  expect(categories.find(({ name }: { name: string }) => name === 'files').tools).toContain('edit_file');
});

test('the data folder of the server is hidden from the file tools, wherever it is', async () => {
  const client = await open({ roots: [folder], write: true });
  await client.call('add_note', { content: 'private' });
  expect(text(await client.call('list_directory', { path: folder }))).toBe('');
  for (const [name, args] of Object.entries({
    read_media_file: { path: join(folder, 'data/mooring.db') },
    write_file: { path: join(folder, 'data/mooring.db'), content: '' },
    move_file: { source: join(folder, 'data'), destination: join(folder, 'moved') },
    delete_file: { path: join(folder, 'data/mooring.db') },
  }))
    expect((await client.call(name, args)).result.isError, name).toBe(true);
  expect(text(await client.call('get_notes'))).toContain('private');
});

test('files under a root are resources', async () => {
  const root = join(folder, 'root');
  mkdirSync(root);
  writeFileSync(join(root, 'a.txt'), 'hello file');
  const client = await open({ roots: [root] });
  const uri = pathToFileURL(join(root, 'a.txt')).href;
  const { result } = await client.request('resources/list');
  expect(result.resources.map((each: { uri: string }) => each.uri)).toContain(uri);
  const read = await client.request('resources/read', { uri });
  expect(read.result.contents[0].text).toBe('hello file');
  expect(names(await client.request('tools/list'))).not.toContain('execute_command');
});

const hasSandbox = ensureProgram('bwrap');

test.skipIf(!hasSandbox)('commands and workers come when they are enabled', async () => {
  const client = await open({
    enable: { commands: true, workers: true },
    allowedCommands: ['echo'],
    packs: { clipboard: { backend: 'memory' } },
  });
  const listed = names(await client.request('tools/list'));
  for (const name of ['execute_command', 'start_worker']) expect(listed).toContain(name);
  const said = await client.call('execute_command', { command: 'echo', args: ['from the sandbox'] });
  expect(text(said)).toContain('from the sandbox');
});

test('health_check lists the parts, list_categories the packs', async () => {
  const client = await open();
  const health = JSON.parse(text(await client.call('health_check')));
  const parts = new Map(health.parts.map((each: { name: string; status: string }) => [each.name, each.status]));
  expect(parts.get('clipboard')).toBe('ok');
  expect(parts.get('data')).toBe('ok');
  const { categories } = JSON.parse(text(await client.call('list_categories')));
  expect(categories.map((each: { name: string }) => each.name)).toEqual(['clipboard', 'reference', 'search', 'meta']);
});

test('a short list can be configured, and a mistake in the options of a pack is named', async () => {
  const client = await open({ packs: { clipboard: { backend: 'memory' }, meta: { shortList: ['get_notes'] } } });
  expect(names(await client.request('tools/list')).sort()).toEqual(
    ['get_notes', 'health_check', 'list_categories', 'search_tools'].sort(),
  );
  await expect(open({ packs: { clipboard: { backend: 'x12' } } })).rejects.toThrow('packs.clipboard: backend');
});

test('what another process adds to the notes is announced to subscribers', async () => {
  await (await open()).call('add_note', { content: 'first' });
  const [one, other] = [await open(), await open()];
  await other.request('resources/subscribe', { uri: 'server://notes' });
  await one.call('add_note', { content: 'second' });
  await other.next((each) => each.method === 'notifications/resources/updated');
});

test('a policy that bounds the network bounds web search, and health_check reports on the engine', async () => {
  let asked = 0;
  const engine = createHttpServer((_request, response) => {
    asked++;
    response.writeHead(500).end();
  });
  await new Promise<void>((done) => engine.listen(0, '127.0.0.1', done));
  try {
    const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`;
    const packs = {
      clipboard: { backend: 'memory' },
      search: { backend: 'searxng', url, limits: { attempts: 1, breakerThreshold: 1 } },
    };
    const partOf = async (client: TestClient) => {
      const { parts } = JSON.parse(text(await client.call('health_check')));
      return parts.find(({ name }: { name: string }) => name === 'search');
    };

    const bounded = await open({ packs, network: { hosts: ['search.example'] } });
    expect((await bounded.call('web_search', { query: 'x' })).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Search error: ') }],
    });
    expect(asked).toBe(0);

    const free = await open({ packs });
    expect(await partOf(free)).toEqual({ name: 'search', status: 'ok' });
    expect((await free.call('web_search', { query: 'x' })).result.isError).toBe(true);
    expect(asked).toBe(1);
    expect(await partOf(free)).toMatchObject({ status: 'failed', detail: expect.any(String) });
  } finally {
    engine.close();
  }
});
