// Profile `system` through the wire: files as resources, their bounds, their changes; services of the bus beside them.

import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { haveBus, startBus, TestService } from '../../support/private-bus.ts';
import { makeFolder, useProfiles } from '../../support/profile.ts';
import { TestClient } from '../../support/test-client.ts';
import { noBus, open, uriOf } from './session.ts';

useProfiles();

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const nginx = 'user nginx;\nworker_processes auto;\n';

async function named() {
  const folder = makeFolder();
  const path = join(folder, 'nginx.conf');
  writeFileSync(path, nginx);
  const file = { path, name: 'Nginx Configuration', description: 'Main nginx config file', mimeType: 'text/plain' };
  const { client } = await open({ packs: { ...noBus, system: { files: [file] } } }, { roots: {} });
  return { client, uri: uriOf(path) };
}

test('S4-12 S4-14: a file named by the operator is listed and read as the document shows', async () => {
  const { client, uri } = await named();
  expect((await client.request('resources/list')).result).toEqual({
    resources: [{ uri, name: 'Nginx Configuration', description: 'Main nginx config file', mimeType: 'text/plain' }],
  });
  expect((await client.request('resources/read', { uri })).result).toEqual({
    contents: [{ uri, mimeType: 'text/plain', text: nginx }],
  });
});

test('files below a root are listed with their types; bytes that are no text come as a blob', async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'sub/read me.md'), '# hi');
  writeFileSync(join(folder, 'data'), Buffer.from([0, 1, 255]));
  const { client } = await open({ roots: [folder] });
  const { resources } = (await client.request('resources/list')).result;
  expect(resources).toMatchObject([
    { uri: uriOf(join(folder, 'data')), name: 'data', mimeType: 'text/plain' },
    { uri: uriOf(join(folder, 'sub/read me.md')), name: 'sub/read me.md', mimeType: 'text/markdown' },
  ]);
  const { result } = await client.request('resources/read', { uri: uriOf(join(folder, 'data')) });
  expect(result.contents[0]).toMatchObject({ mimeType: 'application/octet-stream', blob: 'AAH/' });
});

test('S4-48: what is outside, however its path is written, is not found', async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'root'));
  writeFileSync(join(folder, 'secret'), 'secret');
  writeFileSync(join(folder, 'root/a'), 'a');
  symlinkSync('../secret', join(folder, 'root/link'));
  linkSync(join(folder, 'secret'), join(folder, 'root/hard'));
  const { client } = await open({ roots: [join(folder, 'root')] });
  const base = uriOf(join(folder, 'root'));
  for (const uri of [
    ...[`${base}/../secret`, `${base}/%2e%2e/secret`, `${base}/..%2fsecret`, `${base}/%252e%252e/secret`],
    ...[`${base}/link`, `${base}/hard`, `${base}-evil`, 'file:///etc/passwd', 'file:///proc/self/environ'],
    ...[`${base}/a?x`, `${base}/a#x`, `file://localhost${base.slice(7)}/a`, base, `${base}/`, `${base}/a%00`],
  ]) {
    expect((await client.request('resources/read', { uri })).error?.code, uri).toBe(-32002);
  }
  const { resources } = (await client.request('resources/list')).result;
  expect(resources.map(({ name }: { name: string }) => name)).toEqual(['a']);
});

test('S4-16: there is no method that writes', async () => {
  const { client, uri } = await named();
  for (const method of ['resources/write', 'resources/create', 'resources/update', 'resources/delete']) {
    expect((await client.request(method, { uri, text: 'x' })).error?.code, method).toBe(-32601);
  }
});

test('S4-33 S4-34 S4-35: a long list comes in pages; each item once, cursors are opaque, wrong ones rejected', async () => {
  const folder = makeFolder();
  for (let n = 0; n < 250; n++) writeFileSync(join(folder, `file-${n}.txt`), '');
  const { client } = await open({ roots: [folder] });
  const seen: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const { result } = await client.request('resources/list', cursor === undefined ? {} : { cursor });
    seen.push(...result.resources.map(({ uri }: { uri: string }) => uri));
    cursor = result.nextCursor;
    pages++;
  } while (cursor !== undefined);
  expect(pages).toBe(3);
  expect(seen).toHaveLength(250);
  expect(new Set(seen).size).toBe(250);
  for (const wrong of ['page_2_token', 'x', '']) {
    expect((await client.request('resources/list', { cursor: wrong })).error?.code).toBe(-32602);
  }
  const tools = await client.request('tools/list', { cursor: 'page_2_token' });
  expect(tools.error?.code).toBe(-32602);
});

const told = (client: TestClient, method: string) => client.received.filter((each) => each.method === method);

test('S4-18 S4-19: a change of a subscribed file is announced, once and with its URI', async () => {
  const folder = makeFolder();
  const path = join(folder, 'system.log');
  writeFileSync(path, 'one\n');
  writeFileSync(join(folder, 'other'), 'x');
  const { client } = await open({ roots: [folder] });
  const uri = uriOf(path);
  expect((await client.request('resources/subscribe', { uri })).result).toEqual({});
  writeFileSync(join(folder, 'other'), 'y');
  writeFileSync(path, 'two\n');
  expect((await client.next((each) => each.method === 'notifications/resources/updated')).params).toEqual({
    uri,
  });
  expect((await client.request('resources/unsubscribe', { uri })).result).toEqual({});
  const before = told(client, 'notifications/resources/updated').length;
  writeFileSync(path, 'three\n');
  await wait(200);
  expect(told(client, 'notifications/resources/updated')).toHaveLength(before);
  expect(told(client, 'notifications/resources/updated').every(({ params }) => params.uri === uri)).toBe(true);
});

test('a file that is replaced, as editors do it, is announced as changed; a named file is watched too', async () => {
  const folder = makeFolder();
  const path = join(folder, 'nginx.conf');
  writeFileSync(path, 'a');
  const file = { path, name: 'Nginx' };
  const { client } = await open({ packs: { ...noBus, system: { files: [file] } } });
  await client.request('resources/subscribe', { uri: uriOf(path) });
  writeFileSync(join(folder, 'new'), 'b');
  renameSync(join(folder, 'new'), path);
  await client.next((each) => each.method === 'notifications/resources/updated');
  expect((await client.request('resources/read', { uri: uriOf(path) })).result.contents[0].text).toBe('b');
});

test('files that come and go change the list, in new folders as well', async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'first'), '');
  const { client } = await open({ roots: [folder] });
  const names = async () =>
    (await client.request('resources/list')).result.resources.map(({ name }: { name: string }) => name);
  const changes = () => told(client, 'notifications/resources/list_changed').length;
  const nextChange = async (known: number) => void (await client.next(() => changes() > known));
  await client.request('resources/subscribe', { uri: uriOf(join(folder, 'first')) });
  writeFileSync(join(folder, 'second'), '');
  await nextChange(0);
  expect(await names()).toEqual(['first', 'second']);
  let known = changes();
  mkdirSync(join(folder, 'sub'));
  await nextChange(known);
  known = changes();
  writeFileSync(join(folder, 'sub/third'), '');
  await nextChange(known);
  expect(await names()).toEqual(['first', 'second', 'sub/third']);
  known = changes();
  unlinkSync(join(folder, 'second'));
  rmSync(join(folder, 'sub'), { recursive: true });
  await nextChange(known);
  await expect.poll(names).toEqual(['first']);
});

test('the same for a subscription of the stateless revision', async () => {
  const folder = makeFolder();
  const path = join(folder, 'a');
  writeFileSync(path, '1');
  const { server } = await open({ roots: [folder] });
  const client = new TestClient(server);
  const notifications = { resourceSubscriptions: [uriOf(path)] };
  void client.stateless('subscriptions/listen', { notifications });
  await client.next((each) => each.method?.endsWith('acknowledged') === true);
  writeFileSync(path, '2');
  const { params } = await client.next((each) => each.method === 'notifications/resources/updated');
  expect(params.uri).toBe(uriOf(path));
});

test.skipIf(!haveBus)(
  'S4-13 S4-31: services of the bus stand beside files, and indexing one is logged to the client',
  async () => {
    const { address, path } = await startBus();
    await TestService.start(path, 'org.freedesktop.NetworkManager', {
      'org.freedesktop.NetworkManager': { Version: { signature: 's', value: '1.42' } },
    });
    const { client } = await open({ packs: { dbus: { buses: [address] } } });
    const { resources } = (await client.request('resources/list')).result;
    const service = (name: string) => ({
      uri: `dbus://service/org.freedesktop.${name}`,
      name: `${name} Service Info`,
      mimeType: 'application/json',
    });
    expect(resources).toHaveLength(2);
    expect(resources).toEqual(expect.arrayContaining([service('DBus'), service('NetworkManager')]));
    await client.request('resources/read', { uri: service('NetworkManager').uri });
    const { params } = await client.next((each) => each.method === 'notifications/message');
    expect(params).toMatchObject({
      level: 'info',
      logger: 'dbus-indexer',
      data: expect.stringMatching(/^Indexed 1 objects/),
    });
  },
);
