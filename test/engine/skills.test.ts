// Skills of a server: the list, single skills and folders, on each revision and for each caller.

import { expect, test } from 'vitest';
import { createServer, type Server, type SkillDefinition } from '../../src/index.ts';
import { type Message, TestClient } from '../support/test-client.ts';

const extension = 'io.modelcontextprotocol/skills';
const digest = `sha256:${'0'.repeat(64)}`;

function refunds(more: Partial<SkillDefinition> = {}): SkillDefinition {
  const folder = 'skill://acme/refunds';
  const files = ['SKILL.md', 'templates/letter.md', 'templates/eu/letter.md'];
  return {
    uri: `${folder}/SKILL.md`,
    frontmatter: { name: 'refunds', description: 'Refunds a customer', license: 'MIT' },
    resources: files.map((path) => ({ uri: `${folder}/${path}`, digest, size: 7 })),
    ...more,
  };
}

function serve(...skills: SkillDefinition[]): Server {
  const server = createServer({ name: 'skills', version: '1.0.0', logger: false });
  for (const skill of skills) {
    server.skill(skill);
    const options = skill.visible === undefined ? {} : { visible: skill.visible };
    server.resource(skill.uri, {
      name: skill.frontmatter.name,
      mimeType: 'text/markdown',
      read: () => 'text',
      ...options,
    });
  }
  return server;
}

/** The items of a list in a result. */
function listOf<Item>(result: Message['result'], member: string): readonly Item[] {
  return (result?.[member] ?? []) as readonly Item[];
}

type Request = (method: string, params?: object) => Promise<Message>;

const eras: Readonly<Record<string, (server: Server, id?: string) => Promise<Request>>> = {
  '2025-11-25': async (server, id) => {
    const client = await TestClient.open(server, '2025-11-25', {}, peerOf(id));
    return (method, params) => client.request(method, params);
  },
  '2026-07-28': async (server, id) => {
    const client = new TestClient(server, peerOf(id));
    return (method, params) => client.stateless(method, params);
  },
};

function peerOf(id: string | undefined) {
  return { transport: 'memory', ...(id === undefined ? {} : { principal: { id } }) } as const;
}

test.each(Object.entries(eras))('%s: skills are listed and found by their URI', async (_revision, open) => {
  const skill = refunds();
  const hidden = refunds({ uri: 'skill://old/refunds/SKILL.md', resources: 'dynamic', listed: false });
  const request = await open(serve(skill, hidden));
  expect((await request('skills/list')).result).toMatchObject({ skills: [skill] });
  expect((await request('skills/get', { uri: skill.uri })).result).toMatchObject({ skill });
  expect((await request('skills/get', { uri: hidden.uri })).result).toMatchObject({
    skill: { uri: hidden.uri, resources: 'dynamic' },
  });
  expect((await request('skills/get', { uri: 'skill://other/SKILL.md' })).error).toEqual({
    code: -32602,
    message: 'Unknown skill: skill://other/SKILL.md',
  });
});

test('2026-07-28: results say how long they may be cached', async () => {
  const client = new TestClient(serve(refunds()));
  const hint = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  expect((await client.stateless('skills/list')).result).toMatchObject(hint);
  expect((await client.stateless('skills/get', { uri: refunds().uri })).result).toMatchObject(hint);
  // Not in the specification of the extension, but the official client requires it.
  const folder = await client.stateless('resources/directory/read', { uri: 'skill://acme/refunds' });
  expect(folder.result).toMatchObject(hint);
});

test.each(Object.entries(eras))('%s: a folder has its files and its folders', async (_revision, open) => {
  const request = await open(serve(refunds()));
  const read = async (uri: string) => (await request('resources/directory/read', { uri })).result?.['resources'];
  expect(await read('skill://acme/refunds')).toEqual([
    { uri: 'skill://acme/refunds/SKILL.md', name: 'SKILL.md', mimeType: 'text/markdown', size: 7 },
    { uri: 'skill://acme/refunds/templates', name: 'templates', mimeType: 'inode/directory' },
  ]);
  expect(await read('skill://acme/refunds/templates')).toEqual([
    { uri: 'skill://acme/refunds/templates/letter.md', name: 'letter.md', size: 7 },
    { uri: 'skill://acme/refunds/templates/eu', name: 'eu', mimeType: 'inode/directory' },
  ]);
  for (const uri of ['skill://acme/refunds/SKILL.md', 'skill://acme/refunds/', 'skill://other', 'skill:', 'skill:/']) {
    expect((await request('resources/directory/read', { uri })).error).toMatchObject({
      code: -32602,
      message: `Not a folder of a skill: ${uri}`,
    });
  }
});

test('the folder of a skill that is generated has what is registered and what templates list', async () => {
  const server = serve(refunds({ resources: 'dynamic' }));
  server.resource('skill://acme/refunds/a/one.md', { name: 'one', listed: false, read: () => '1' });
  server.resource('skill://acme/refunds-2/no.md', { name: 'no', read: () => '' });
  server.resourceTemplate('skill://acme/refunds/today/{day}', {
    name: 'today',
    list: () => [{ uri: 'skill://acme/refunds/today/1.md', name: 'first' }],
    read: ({ day }) => day,
  });
  const client = new TestClient(server);
  const { result } = await client.stateless('resources/directory/read', { uri: 'skill://acme/refunds' });
  expect(listOf<{ name: string }>(result, 'resources').map(({ name }) => name)).toEqual(['SKILL.md', 'a', 'today']);
});

test('lists and folders have pages', async () => {
  const server = createServer({ name: 'many', version: '1.0.0', logger: false, limits: { pageSize: 2 } });
  for (const name of ['a', 'b', 'c']) {
    const folder = `skill://all/${name}`;
    const paths = ['SKILL.md', '1.md', '2.md'];
    const resources = paths.map((path) => ({ uri: `${folder}/${path}`, digest, size: 1 }));
    server.skill({ uri: `${folder}/SKILL.md`, frontmatter: { name, description: 'x' }, resources });
  }
  const client = new TestClient(server);
  const pages = async (method: string, params: object, member: string): Promise<number[]> => {
    const lengths: number[] = [];
    let cursor: unknown;
    do {
      const { result } = await client.stateless(method, { ...params, ...(cursor === undefined ? {} : { cursor }) });
      lengths.push(listOf(result, member).length);
      cursor = result?.['nextCursor'];
    } while (cursor !== undefined);
    return lengths;
  };
  expect(await pages('skills/list', {}, 'skills')).toEqual([2, 1]);
  expect(await pages('resources/directory/read', { uri: 'skill://all/b' }, 'resources')).toEqual([2, 1]);
  // A cursor belongs to its folder.
  const { result } = await client.stateless('resources/directory/read', { uri: 'skill://all/b' });
  const params = { uri: 'skill://all/c', cursor: result?.['nextCursor'] };
  expect((await client.stateless('resources/directory/read', params)).error?.code).toBe(-32602);
});

test('a page ends before it has more files than clients read', async () => {
  const server = createServer({ name: 'many', version: '1.0.0', logger: false });
  for (let n = 0; n < 30; n++) {
    const folder = `skill://all/s${n}`;
    const resources = Array.from({ length: 500 }, (_, i) => ({
      uri: `${folder}/${i === 0 ? 'SKILL.md' : i}`,
      digest,
      size: 1,
    }));
    server.skill({ uri: `${folder}/SKILL.md`, frontmatter: { name: `s${n}`, description: 'x' }, resources });
  }
  const first = (await new TestClient(server).stateless('skills/list')).result;
  expect(listOf(first, 'skills')).toHaveLength(20);
  const params = { cursor: first?.['nextCursor'] };
  expect(listOf((await new TestClient(server).stateless('skills/list', params)).result, 'skills')).toHaveLength(10);
  // A cursor is bound to its caller, so that others get their own page.
  const ada = new TestClient(server, peerOf('ada'));
  expect((await ada.stateless('skills/list', params)).error?.code).toBe(-32602);
  const own = (await ada.stateless('skills/list')).result;
  expect((await ada.stateless('skills/list', { cursor: own?.['nextCursor'] })).error).toBeUndefined();
});

test('the extension is declared where there are skills, from 2025-11-25 on', async () => {
  const server = serve(refunds());
  const declared = async (protocolVersion: string): Promise<unknown> => {
    const clientInfo = { name: 'test', version: '1' };
    const { result } = await new TestClient(server).request('initialize', {
      protocolVersion,
      capabilities: {},
      clientInfo,
    });
    return result?.['capabilities'];
  };
  const resources = { subscribe: true, listChanged: true };
  const extensions = { [extension]: { directoryRead: true } };
  expect(await declared('2025-11-25')).toEqual({ resources, logging: {}, extensions });
  expect(await declared('2025-06-18')).toEqual({ resources, logging: {} });
  const { result } = await new TestClient(server).stateless('server/discover');
  expect(result?.['capabilities']).toEqual({ resources, logging: {}, extensions });
  const older = await TestClient.open(server, '2025-06-18');
  expect((await older.request('skills/list')).error?.code).toBe(-32601);
  const without = new TestClient(createServer({ name: 'none', version: '1.0.0', logger: false }));
  expect((await without.stateless('skills/list')).error?.code).toBe(-32601);
});

test.each(Object.entries(eras))(
  '%s: a skill that is hidden from a caller does not exist for it',
  async (_revision, open) => {
    const server = serve(refunds({ visible: (principal) => principal?.id === 'ada' }));
    server.skill(refunds({ uri: 'skill://secret/refunds/SKILL.md', resources: 'dynamic' }));
    server.restrict(
      (kind, key, principal) => kind !== 'resources' || !key.includes('secret') || principal?.id === 'bob',
    );
    const seen = async (id: string): Promise<unknown> => {
      const request = await open(server, id);
      const { result } = await request('skills/list');
      const uris = listOf<{ uri: string }>(result, 'skills').map(({ uri }) => uri);
      for (const uri of ['skill://acme/refunds/SKILL.md', 'skill://secret/refunds/SKILL.md']) {
        const found = (await request('skills/get', { uri })).error === undefined;
        expect(found).toBe(uris.includes(uri));
      }
      const folder = await request('resources/directory/read', { uri: 'skill://acme/refunds' });
      expect(folder.error === undefined).toBe(uris.includes('skill://acme/refunds/SKILL.md'));
      return uris;
    };
    expect(await seen('ada')).toEqual(['skill://acme/refunds/SKILL.md']);
    expect(await seen('bob')).toEqual(['skill://secret/refunds/SKILL.md']);
    expect(await seen('eve')).toEqual([]);
  },
);

test('clients are notified that resources changed when a skill is added or removed', async () => {
  const server = serve(refunds());
  const client = await TestClient.open(server);
  const { remove } = server.skill(refunds({ uri: 'skill://new/refunds/SKILL.md', resources: 'dynamic' }));
  await client.next(({ method }) => method === 'notifications/resources/list_changed');
  client.received.length = 0;
  remove();
  await client.next(({ method }) => method === 'notifications/resources/list_changed');
});

test.each([
  ['uri', { uri: 'skill://acme/refunds' }, 'must be the URI of a SKILL.md'],
  ['uri in lower case', { uri: 'skill://acme/refunds/skill.md' }, 'must be the URI of a SKILL.md'],
  ['uri without a folder', { uri: 'skill:///SKILL.md' }, 'must be the URI of a SKILL.md'],
  ['name', { frontmatter: { name: 'Refunds', description: 'x' } }, '"name" in its frontmatter'],
  ['another folder', { frontmatter: { name: 'returns', description: 'x' } }, 'its folder must have its name'],
  ['description', { frontmatter: { name: 'refunds', description: ' ' } }, '"description" in its frontmatter'],
  ['no files', { resources: [] }, 'lacks its SKILL.md'],
  ['other files', { resources: [{ uri: 'skill://acme/other.md', digest, size: 1 }] }, 'is not in its folder'],
  ['a way out', { resources: [{ uri: 'skill://acme/refunds/%2E%2e/x', digest, size: 1 }] }, 'is not in its folder'],
  ['digest', { resources: [{ uri: 'skill://acme/refunds/x', digest: 'sha256:1', size: 1 }] }, '"digest" must be'],
  ['size', { resources: [{ uri: 'skill://acme/refunds/x', digest, size: -1 }] }, '"size" must be'],
  ['a large file', { resources: [{ uri: refunds().uri, digest, size: 2 ** 24 + 1 }] }, 'more than 16777216 bytes'],
] as [string, Partial<SkillDefinition>, string][])('a skill with a wrong %s is rejected', (_what, wrong, message) => {
  expect(() => createServer({ name: 'x', version: '1' }).skill(refunds(wrong))).toThrow(message);
});
