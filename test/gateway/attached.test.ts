// A server that shows the servers of a gateway besides its own tools: `mooring serve <profile> --gateway FILE`.

import { afterEach, expect, test } from 'vitest';
import { inMemory } from '../../src/client/index.ts';
import { silentLogger } from '../../src/common/logger.ts';
import { createGateway, type Gateway, type UpstreamConfig } from '../../src/gateway/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { clientOf, gatewayConfig, upstream, view } from './fixture.ts';
import { addSkill, getSkill, listSkills, verifySkill } from './skill-server.ts';

const closers = useClosers(afterEach);
const shared = 'note:///shared';

function serverOf(name: string, instructions?: string): Server {
  const server = createServer({ name, version: '1.0.0', logger: false, ...(instructions && { instructions }) });
  for (const tool of ['read', `only_${name}`]) server.tool(tool, { run: () => `${tool} of ${name}` });
  server.prompt('hello', { get: () => `hello of ${name}` });
  server.resource(shared, { name: 'shared', read: () => `text of ${name}` });
  server.resource(`note:///${name}`, { name, read: () => `text of ${name}` });
  return server;
}

interface Attached {
  readonly gateway: Gateway;
  readonly profile: Server;
  readonly behind: Server;
  readonly warnings: string[];
}

async function attached(given: Partial<UpstreamConfig> = {}, config: object = {}): Promise<Attached> {
  const [profile, behind] = [serverOf('profile', 'Text of the profile.'), serverOf('behind', 'Text of the server.')];
  const more = createServer({ name: 'more', version: '1.0.0', logger: false });
  more.resource('more:///1', { name: 'more', read: () => 'more' });
  const warnings: string[] = [];
  const servers = [upstream('notes', { prefix: false, ...given }), upstream('more')];
  const gateway = createGateway(gatewayConfig(servers, config), {
    logger: { ...silentLogger, warn: (text) => void warnings.push(text) },
    target: ({ slug }) => inMemory(slug === 'more' ? more : behind),
  });
  closers.push(() => gateway.close());
  gateway.attach(profile);
  await gateway.readLists();
  return { gateway, profile, behind, warnings };
}

const textOf = (result: { readonly content: readonly unknown[] }): unknown =>
  (result.content[0] as { readonly text: string }).text;

test('the name of a tool of its own stays its own; that of a server gets the prefix, with one warning', async () => {
  const { gateway, profile, warnings } = await attached({}, { views: [view('only', { servers: ['notes'] })] });
  const client = await clientOf(closers, profile);
  const names = (await client.listTools()).map(({ name }) => name);
  expect(names.sort()).toEqual(['notes__read', 'only_behind', 'only_profile', 'read']);
  expect(textOf(await client.callTool('read'))).toBe('read of profile');
  expect(textOf(await client.callTool('notes__read'))).toBe('read of behind');
  await gateway.restart('notes');
  expect(warnings.filter((each) => each.includes('"read" of notes is called notes__read'))).toHaveLength(1);
  expect(warnings.filter((each) => each.includes('not shown'))).toEqual([]);
  // The same tool has the same name in all views.
  const other = await clientOf(closers, gateway.serverAt('/v/only') as Server);
  expect((await other.listTools()).map(({ name }) => name).sort()).toEqual(['notes__read', 'only_behind']);
});

test('prompts and resources of its own stay its own, too', async () => {
  const { profile } = await attached();
  const client = await clientOf(closers, profile);
  expect((await client.listPrompts()).map(({ name }) => name).sort()).toEqual(['hello', 'notes__hello']);
  const uris = (await client.listResources()).map(({ uri }) => uri).sort();
  expect(uris).toEqual(['more:///1', 'note:///behind', 'note:///profile', shared, `notes+${shared}`]);
  const read = async (uri: string): Promise<unknown> => (await client.readResource(uri)).contents[0];
  expect(await read(shared)).toMatchObject({ text: 'text of profile' });
  expect(await read(`notes+${shared}`)).toMatchObject({ text: 'text of behind' });
});

test('clients can follow resources of its own, and those of the servers', async () => {
  const { profile, behind } = await attached();
  const client = await clientOf(closers, profile, { revision: '2025-11-25' });
  for (const [uri, update] of [
    ['note:///profile', () => profile.resourceUpdated('note:///profile')],
    ['note:///behind', () => behind.resourceUpdated('note:///behind')],
  ] as const) {
    const changed = (await client.subscribe(uri))[Symbol.asyncIterator]().next();
    update();
    expect((await changed).value).toMatchObject({ uri });
  }
});

test.each(['2025-11-25', '2026-07-28'])('the instructions of servers follow its own (%s)', async (revision) => {
  const { profile } = await attached({}, { defaultView: view('', { instructions: 'Text of the view.' }) });
  const client = await clientOf(closers, profile, { revision });
  expect(client.instructions).toBe('Text of the profile.\n\nText of the view.\n\n## notes\nText of the server.');
});

test('a template of its own is used before servers are asked for what they do not list', async () => {
  const { profile, behind } = await attached();
  behind.resource('own:///1', { name: 'one', listed: false, read: () => 'text of behind' });
  profile.resourceTemplate('own:///{id}', { name: 'own', read: ({ id }) => `${id} of profile` });
  const client = await clientOf(closers, profile);
  expect(await client.readResource('own:///1')).toMatchObject({ contents: [{ text: '1 of profile' }] });
  expect(await client.readResource('notes+own:///1')).toMatchObject({ contents: [{ text: 'text of behind' }] });
});

test('its own skills are listed with those of servers', async () => {
  const { gateway, profile, behind } = await attached();
  addSkill(profile, 'skill://acme/refunds', 'profile');
  addSkill(behind, 'skill://acme/refunds', 'behind');
  const other = addSkill(behind, 'skill://acme/other', 'behind');
  await gateway.restart('notes');
  const client = await clientOf(closers, profile);
  const skills = await listSkills(client);
  expect(skills.map(({ uri }) => uri).sort()).toEqual([
    'notes+skill://acme/refunds/SKILL.md',
    other.uri,
    'skill://acme/refunds/SKILL.md',
  ]);
  for (const skill of skills) {
    await verifySkill(client, skill);
    expect(await getSkill(client, skill.uri)).toEqual(skill);
  }
});
