// Skills of servers behind a gateway: lists are joined, every file can be read and is what its entry says, and what hides a
// resource hides a skill.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Client, connect, inMemory, type Transport } from '../../src/client/index.ts';
import { silentLogger } from '../../src/common/logger.ts';
import { createCatalogCache, createGateway } from '../../src/gateway/index.ts';
import { createServer, type HttpRequest, type Server, serveHttp } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Fields, scripted } from './answers.ts';
import { clientOf, gatewayConfig, gatewayOf, upstream, view } from './fixture.ts';
import { privateUpstream, toolOf } from './private-upstream.ts';
import { addSkill, entryOf, filesOf, getSkill, listAll, listSkills, skillServer, verifySkill } from './skill-server.ts';

const closers = useClosers(afterEach);
const extension = 'io.modelcontextprotocol/skills';
const refunds = 'skill://acme/refunds/SKILL.md';
const eras = ['2025-11-25', '2026-07-28'] as const;
const pairs = eras.flatMap((up) => eras.map((down) => [up, down] as const));
const unknown = { serverError: { code: -32602 } };

const cli = join(import.meta.dirname, '../../dist/cli.js');
const script = (name: string): string => join(import.meta.dirname, 'servers', name);

async function overHttp(up: string, down: string): Promise<Client> {
  const configs = await Promise.all(
    ['one', 'two'].map(async (owner) => {
      const served = await serveHttp(skillServer(owner, 'skill://acme/refunds'), { port: 0, graceMs: 100 });
      closers.push(() => served.close());
      return upstream(owner, { entry: { url: served.url }, revision: up });
    }),
  );
  const gateway = createGateway(gatewayConfig(configs), { logger: false });
  const front = await serveHttp(gateway.server, { port: 0, graceMs: 100 });
  closers.push(async () => {
    await front.close();
    await gateway.close();
  });
  return connect(front.url, { revision: down });
}

async function overStdio(up: string, down: string): Promise<Client> {
  const folder = temporaryFolder();
  const entry = (owner: string) => ({
    command: process.execPath,
    args: [script('skills.mjs'), owner],
    mooring: { revision: up },
  });
  const config = join(folder, 'servers.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { one: entry('one'), two: entry('two') } }), { mode: 0o600 });
  return connect([process.execPath, cli, 'gateway', '--config', config], {
    env: { XDG_DATA_HOME: folder, XDG_RUNTIME_DIR: folder },
    revision: down,
  });
}

describe.each([
  ['HTTP', overHttp],
  ['stdio', overStdio],
] as const)('over %s', (_transport, open) => {
  test.each(pairs)('two servers at %s with skills of one name, and a client at %s', async (up, down) => {
    const client = await open(up, down);
    closers.push(() => client.close());
    const skills = await listSkills(client);
    expect(skills.map(({ uri, frontmatter }) => [uri, frontmatter.description])).toEqual([
      [refunds, 'refunds of one'],
      [`two+${refunds}`, 'refunds of two'],
    ]);
    expect(client.capabilities['extensions']).toMatchObject({ [extension]: { directoryRead: true } });
    for (const skill of skills) {
      await verifySkill(client, skill);
      expect(await getSkill(client, skill.uri)).toEqual(skill);
    }
    for (const folder of ['skill://acme/refunds', 'two+skill://acme/refunds']) {
      const children = await listAll<{ uri: string; mimeType?: string }>(
        client,
        'resources/directory/read',
        'resources',
        { uri: folder },
      );
      expect(children.map(({ uri }) => uri)).toContain(`${folder}/SKILL.md`);
      expect(children).toContainEqual({
        uri: `${folder}/references`,
        name: 'references',
        mimeType: 'inode/directory',
      });
    }
    await expect(getSkill(client, 'skill://acme/other/SKILL.md')).rejects.toMatchObject(unknown);
    await expect(getSkill(client, 'two+skill://acme/other/SKILL.md')).rejects.toMatchObject(unknown);
  });
});

test.each(pairs)('the official SDK at %s beside another server, with a client at %s', async (up, down) => {
  const sdk = { command: process.execPath, args: [script('skills-sdk.mjs')] };
  const servers = [upstream('one', { revision: up }), upstream('sdk', { entry: sdk, revision: up })];
  const gateway = createGateway(gatewayConfig(servers), {
    logger: false,
    target: ({ slug }) => (slug === 'one' ? inMemory(skillServer('one', 'skill://acme/refunds')) : undefined),
  });
  closers.push(() => gateway.close());
  for (const [server, uri] of [
    [gateway.server, `sdk+${refunds}`],
    [gateway.single('sdk') as Server, refunds],
  ] as const) {
    const client = await clientOf(closers, server, { revision: down });
    const skill = (await listSkills(client)).find((each) => each.uri === uri);
    expect(skill).toMatchObject({ frontmatter: { name: 'refunds', description: 'refunds of sdk', license: 'MIT' } });
    await verifySkill(client, skill as never);
    expect(await getSkill(client, uri)).toEqual(skill);
    await expect(getSkill(client, uri.replace('acme', 'none'))).rejects.toMatchObject(unknown);
  }
});

describe.each(pairs)('a server at %s, a client at %s', (up, down) => {
  test('its own address has what a direct connection has', async () => {
    const server = skillServer('one', 'skill://acme/refunds', 'skill://other/refunds');
    addSkill(server, 'skill://acme/daily', 'one', { resources: 'dynamic' });
    const gateway = gatewayOf(closers, { one: server }, { revision: up });
    await gateway.readLists();
    const direct = await clientOf(closers, server, { revision: down });
    const through = await clientOf(closers, gateway.single('one') as Server, { revision: down });
    expect(through.capabilities['extensions']).toEqual(direct.capabilities['extensions']);
    expect(await listSkills(through)).toEqual(await listSkills(direct));
    expect(await getSkill(through, refunds)).toEqual(await getSkill(direct, refunds));
    for (const uri of ['skill://acme/refunds', 'skill://acme/daily', 'skill://acme/refunds/assets']) {
      const children = (client: Client) => listAll(client, 'resources/directory/read', 'resources', { uri });
      expect(await children(through)).toEqual(await children(direct));
    }
  });

  test('a skill that is in no list is found at its server', async () => {
    const one = createServer({ name: 'one', version: '1.0.0', logger: false });
    const skill = entryOf('skill://acme/refunds', filesOf('refunds', 'one'), 'refunds of one');
    one.skill({ ...skill, listed: false });
    for (const [path, content] of Object.entries(filesOf('refunds', 'one'))) {
      one.resource(`skill://acme/refunds/${path}`, { name: path, listed: false, read: () => content });
    }
    const gateway = gatewayOf(closers, { one, two: skillServer('two', 'skill://acme/other') }, { revision: up });
    const client = await clientOf(closers, gateway.server, { revision: down });
    expect((await listSkills(client)).map(({ uri }) => uri)).toEqual(['skill://acme/other/SKILL.md']);
    // As with resources: two servers have some, so that only the qualified URI says which is meant.
    await expect(getSkill(client, refunds)).rejects.toMatchObject(unknown);
    const found = await getSkill(client, `one+${refunds}`);
    expect(found.uri).toBe(`one+${refunds}`);
    await verifySkill(client, found);
    const uri = 'one+skill://acme/refunds';
    const children = await listAll<{ uri: string }>(client, 'resources/directory/read', 'resources', { uri });
    expect(children.map((each) => each.uri)).toEqual([`${uri}/SKILL.md`, `${uri}/references`, `${uri}/assets`]);
    // The qualified form works where it is not needed, too.
    const other = 'skill://acme/other/SKILL.md';
    expect(await getSkill(client, `two+${other}`)).toEqual(await getSkill(client, other));
    expect((await client.readResource(`two+${other}`)).contents).toEqual((await client.readResource(other)).contents);
  });

  test('the folder of a skill that is generated is read from its server', async () => {
    const [one, two] = ['one', 'two'].map((owner) => {
      const server = createServer({ name: owner, version: '1.0.0', logger: false });
      addSkill(server, 'skill://reports/daily', owner, { resources: 'dynamic' });
      server.resource(`skill://reports/daily/${owner}.md`, { name: owner, listed: false, read: () => owner });
      return server;
    }) as [Server, Server];
    const gateway = gatewayOf(closers, { one, two }, { revision: up });
    const client = await clientOf(closers, gateway.server, { revision: down });
    expect((await listSkills(client)).map(({ uri }) => uri)).toEqual([
      'skill://reports/daily/SKILL.md',
      'two+skill://reports/daily/SKILL.md',
    ]);
    for (const [owner, folder] of [
      ['one', 'skill://reports/daily'],
      ['two', 'two+skill://reports/daily'],
    ]) {
      const children = await listAll<{ uri: string }>(client, 'resources/directory/read', 'resources', { uri: folder });
      expect(children.map(({ uri }) => uri)).toContain(`${folder}/${owner}.md`);
      expect(await client.readResource(`${folder}/${owner}.md`)).toMatchObject({ contents: [{ text: owner }] });
    }
    const none = client.request('resources/directory/read', { uri: 'skill://reports/daily/none' });
    await expect(none).rejects.toMatchObject(unknown);
  });

  test('a skill that has changed is current at once, and in lists after the notification', async () => {
    const one = createServer({ name: 'one', version: '1.0.0', logger: false });
    let text = 'first';
    const listed = { mimeType: 'text/markdown', read: () => text };
    one.resource(refunds, { name: 'refunds', ...listed });
    const entry = () => entryOf('skill://acme/refunds', { 'SKILL.md': text }, 'refunds of one');
    const { remove } = one.skill(entry());
    const gateway = gatewayOf(closers, { one }, { revision: up });
    const kinds: string[] = [];
    const onListChanged = (kind: string): void => void kinds.push(kind);
    const client = await clientOf(closers, gateway.server, { revision: down, onListChanged });
    const [before] = await listSkills(client);
    text = 'second, longer';
    remove();
    one.skill(entry());
    const now = await getSkill(client, refunds);
    expect(now).not.toEqual(before);
    expect(now).toEqual(entry());
    await expect.poll(() => listSkills(client)).toEqual([entry()]);
    await expect.poll(() => kinds).toContain('resources');
  });
});

test('servers and clients of revisions without the extension: nothing is requested, nothing is declared', async () => {
  const requests: Fields[] = [];
  const capabilities = { resources: {}, tools: {}, extensions: { [extension]: {} } };
  const old = scripted({ 'tools/list': () => ({ tools: [] }) }, requests, { capabilities });
  const servers = [upstream('old', { revision: '2025-06-18' })];
  const gateway = createGateway(gatewayConfig(servers), { logger: false, target: () => old });
  closers.push(() => gateway.close());
  await gateway.readLists();
  const client = await clientOf(closers, gateway.server);
  expect(JSON.stringify(client.capabilities)).not.toContain(extension);
  await expect(client.request('skills/list')).rejects.toMatchObject({ serverError: { code: -32601 } });
  const methods = requests.map(({ method }) => method);
  expect(methods).toContain('resources/list');
  expect(methods).not.toContain('skills/list');
});

describe('what hides a resource hides its skill', () => {
  const open = () => skillServer('one', 'skill://acme/refunds', 'skill://acme/returns');
  const returns = 'skill://acme/returns/SKILL.md';

  async function expectOnlyRefunds(server: Server): Promise<void> {
    for (const revision of eras) {
      const client = await clientOf(closers, server, { revision });
      expect((await listSkills(client)).map(({ uri }) => uri)).toEqual([refunds]);
      for (const uri of [returns, `one+${returns}`]) {
        await expect(getSkill(client, uri)).rejects.toMatchObject(unknown);
        await expect(client.readResource(uri)).rejects.toMatchObject({ code: 'resource-not-found' });
      }
      const folder = client.request('resources/directory/read', { uri: 'skill://acme/returns' });
      await expect(folder).rejects.toMatchObject(unknown);
    }
  }

  test('a filter of the server', async () => {
    const gateway = gatewayOf(closers, { one: open() }, { resources: { exclude: ['skill://acme/returns/**'] } });
    await expectOnlyRefunds(gateway.server);
  });

  test('a filter of a view', async () => {
    const views = [view('small', { resources: { include: ['skill://acme/refunds/**'], exclude: [] } })];
    const gateway = gatewayOf(closers, { one: open() }, {}, { config: { views } });
    await expectOnlyRefunds(gateway.view('small') as Server);
    const client = await clientOf(closers, gateway.server);
    expect(await listSkills(client)).toHaveLength(2);
  });

  test('a filter that hides one of its files: what is shown can be read', async () => {
    const gateway = gatewayOf(closers, { one: open() }, { resources: { exclude: ['skill://acme/returns/assets/*'] } });
    const client = await clientOf(closers, gateway.server);
    expect((await listSkills(client)).map(({ uri }) => uri)).toEqual([refunds]);
    await expect(getSkill(client, returns)).rejects.toMatchObject(unknown);
  });

  test('a policy', async () => {
    const prepareServer = (each: Server): void => {
      each.restrict((kind, key) => kind !== 'resources' || !key.startsWith('skill://acme/returns'));
    };
    const gateway = gatewayOf(closers, { one: open() }, {}, { prepareServer });
    await expectOnlyRefunds(gateway.server);
  });
});

test('a view that shows few tools shows all skills', async () => {
  const config = { defaultView: view('', { mode: 'search' }) };
  const gateway = gatewayOf(closers, { one: skillServer('one', 'skill://acme/refunds') }, {}, { config });
  const client = await clientOf(closers, gateway.server);
  expect((await listSkills(client)).map(({ uri }) => uri)).toEqual([refunds]);
});

test('a server behind which nothing is any more: its skills stay listed, and a request says why', async () => {
  let isUp = true;
  const server = inMemory(skillServer('one', 'skill://acme/refunds'));
  const gateway = createGateway(gatewayConfig([upstream('one'), upstream('two')]), {
    logger: false,
    target: ({ slug }) => {
      if (slug === 'two') return inMemory(skillServer('two', 'skill://acme/other'));
      return () => {
        if (!isUp) throw new Error('gone');
        return (server as () => Transport)();
      };
    },
  });
  closers.push(() => gateway.close());
  const client = await clientOf(closers, gateway.server);
  expect(await listSkills(client)).toHaveLength(2);
  isUp = false;
  await gateway.restart('one');
  expect(await listSkills(client)).toHaveLength(2);
  const failed = { serverError: { code: -32603, data: { server: 'one' } } };
  await expect(getSkill(client, refunds)).rejects.toMatchObject(failed);
  await expect(client.readResource(refunds)).rejects.toMatchObject(failed);
  await verifySkill(client, await getSkill(client, 'skill://acme/other/SKILL.md'));
});

test('the next start shows the skills that were stored', async () => {
  const cache = createCatalogCache(temporaryFolder());
  const server = skillServer('one', 'skill://acme/refunds');
  const first = gatewayOf(closers, { one: server }, {}, { cache });
  const skills = await listSkills(await clientOf(closers, first.server));
  await first.close();
  const never = () => new Promise<never>(() => {});
  const second = createGateway(gatewayConfig([upstream('one')]), {
    logger: false,
    cache,
    target: () => () => ({ kind: 'memory', address: 'x', open: never, send: () => {}, close: async () => {} }),
  });
  closers.push(() => second.close());
  const client = await clientOf(closers, second.server);
  expect(client.capabilities['extensions']).toMatchObject({ [extension]: {} });
  expect(await listSkills(client)).toEqual(skills);
});

test.each(eras)('callers with lists of their own have skills, and warnings, of their own (%s)', async (revision) => {
  const far = await privateUpstream(closers);
  const skillOf = (user: string) => entryOf(`skill://${user}/notes`, filesOf('notes', user), `notes of ${user}`);
  const invalidOf = (user: string) => ({ uri: `skill://${user}/invalid/SKILL.md` });
  for (const user of ['ada', 'bob']) {
    far.users.set(user, { tools: [toolOf('work')], skills: [skillOf(user), invalidOf(user)] });
  }
  const warn = vi.fn();
  const isolated = { isolation: 'principal', forwardHeaders: ['x-user'] } as const;
  const config = gatewayConfig([upstream('far', { entry: { url: far.url }, ...isolated })]);
  const gateway = createGateway(config, { logger: { ...silentLogger, warn } });
  const authenticate = (request: HttpRequest) => ({ id: String(request.get('x-user')) });
  const front = await serveHttp(gateway.server, { port: 0, graceMs: 100, authenticate });
  closers.push(async () => {
    await front.close();
    await gateway.close();
  });
  for (const [user, other] of [
    ['ada', 'bob'],
    ['bob', 'ada'],
  ] as const) {
    const client = await connect(front.url, { revision, headers: { 'X-User': user } });
    closers.push(() => client.close());
    expect(await listSkills(client)).toEqual([skillOf(user)]);
    expect(await getSkill(client, skillOf(user).uri)).toEqual(skillOf(user));
    await expect(getSkill(client, skillOf(other).uri)).rejects.toMatchObject(unknown);
    // Only the user has it, and only in the list of the user.
    const { cacheScope = 'private' } = await client.request('skills/list');
    expect(cacheScope).toBe('private');
    await listSkills(client);
    const warned = warn.mock.calls.map(([text]) => text as string).filter((text) => text.includes(`://${user}/`));
    expect(warned).toEqual([
      expect.stringMatching(`^far: skills are left out: "skill://${user}/invalid/SKILL.md": "name" in its frontmatter`),
    ]);
  }
});
