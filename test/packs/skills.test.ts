// The pack `skills`: what is found in folders, what is left out, and what clients see when files change.

import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { silentLogger } from '../../src/common/logger.ts';
import { createServer, type Server } from '../../src/index.ts';
import { addSkill, type SkillsOptions, skills } from '../../src/packs/skills/index.ts';
import type { Skill, SkillFile } from '../../src/protocol/skills.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { TestClient } from '../support/test-client.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const head = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}\n${more}---\n# ${name}\n`;

function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = temporaryFolder();
  for (const [path, content] of Object.entries(files)) write(join(folder, path), content);
  return folder;
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

async function open(options: SkillsOptions) {
  const warnings: string[] = [];
  const warn = (message: string, fields?: object): void => void warnings.push(`${message} ${JSON.stringify(fields)}`);
  const logger = { ...silentLogger, warn, error: warn };
  const server = createServer({ name: 'skills', version: '1.0.0', logger });
  servers.push(server);
  const pack = skills(options);
  await server.use(pack);
  const client = new TestClient(server);
  const list = async (): Promise<readonly Skill[]> =>
    ((await client.stateless('skills/list')).result?.['skills'] ?? []) as readonly Skill[];
  return { server, pack, client, list, warnings };
}

/** The bytes of a file as a client reads them. */
async function bytesOf(client: TestClient, uri: string): Promise<Buffer> {
  const { result } = await client.stateless('resources/read', { uri });
  const [contents] = (result?.['contents'] ?? []) as { text?: string; blob?: string }[];
  return contents?.blob === undefined ? Buffer.from(contents?.text ?? '') : Buffer.from(contents.blob, 'base64');
}

const uris = (found: readonly Skill[]): string[] => found.map(({ uri }) => uri);
const filesOf = ({ resources }: Skill): readonly SkillFile[] => (resources === 'dynamic' ? [] : resources);

test('every folder with a SKILL.md is a skill, and its digests are those of what clients read', async () => {
  const folder = folderWith({
    'git/SKILL.md': head('git'),
    'acme/billing/refunds/SKILL.md': `\uFEFF${head('refunds', 'metadata:\n  version: "1.0"\n')}`,
    'acme/billing/refunds/templates/für alle+1.md': 'text\r\n',
    'acme/billing/refunds/logo.png': new Uint8Array([137, 80, 0, 255]),
    'acme/billing/refunds/.git/config': 'hidden',
    'acme/billing/readme.md': 'belongs to no skill',
  });
  const { client, list, warnings } = await open({ folders: [folder], watch: false });
  const found = await list();
  expect(uris(found)).toEqual(['skill://acme/billing/refunds/SKILL.md', 'skill://git/SKILL.md']);
  const [refunds] = found as [Skill];
  expect(refunds.frontmatter).toEqual({ name: 'refunds', description: 'Does refunds', metadata: { version: '1.0' } });
  expect(filesOf(refunds).map(({ uri }) => uri.slice('skill://acme/billing/refunds/'.length))).toEqual([
    'SKILL.md',
    'logo.png',
    'templates/f%C3%BCr%20alle+1.md',
  ]);
  for (const { uri, digest, size } of found.flatMap(filesOf)) {
    const bytes = await bytesOf(client, uri);
    expect(bytes.length).toBe(size);
    expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(digest);
  }
  const { result } = await client.stateless('resources/list');
  expect(result?.['resources']).toMatchObject([
    { uri: 'skill://acme/billing/refunds/SKILL.md', name: 'refunds', mimeType: 'text/markdown' },
    { uri: 'skill://git/SKILL.md', name: 'git', description: 'Does git' },
  ]);
  for (const uri of ['skill://acme/billing/readme.md', 'skill://acme/billing/refunds/.git/config']) {
    expect((await client.stateless('resources/read', { uri })).error?.code).toBe(-32602);
  }
  expect(warnings).toEqual([]);
});

test('a folder may be a skill itself, and skills may be in skills', async () => {
  const folder = folderWith({
    'outer/SKILL.md': head('outer'),
    'outer/inner/SKILL.md': head('inner'),
    'outer/inner/file.md': 'text',
  });
  const { list } = await open({ folders: [join(folder, 'outer')], prefix: 'team/a b', watch: false });
  const found = await list();
  expect(uris(found)).toEqual(['skill://team/a%20b/outer/SKILL.md', 'skill://team/a%20b/outer/inner/SKILL.md']);
  expect(found.map((each) => filesOf(each).length)).toEqual([3, 2]);
});

test.each([
  ['no frontmatter', { 'a/SKILL.md': '# Text' }, 'does not begin with YAML'],
  ['broken YAML', { 'a/SKILL.md': '---\nname: [\n---\n' }, 'Flow sequence'],
  ['another name', { 'a/SKILL.md': head('b') }, 'its folder must have its name, \\"b\\"'],
  ['no description', { 'a/SKILL.md': '---\nname: a\n---\n' }, '"description'],
  ['more than 16 MiB', { 'a/SKILL.md': head('a'), 'a/x': new Uint8Array(2 ** 24) }, 'more than 16777216 bytes'],
  [
    '513 files',
    { 'a/SKILL.md': head('a'), ...Object.fromEntries(Array.from({ length: 512 }, (_, n) => [`a/${n}`, ''])) },
    'more than 512 files',
  ],
] as [string, Record<string, string>, string][])(
  'a skill with %s is left out, the others are not',
  async (_what, files, why) => {
    const { list, warnings } = await open({
      folders: [folderWith({ ...files, 'good/SKILL.md': head('good') })],
      watch: false,
    });
    expect(uris(await list())).toEqual(['skill://good/SKILL.md']);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('a skill was left out');
    expect(warnings[0]?.replaceAll('\\"', '"')).toContain(why.replaceAll('\\"', '"'));
  },
);

test('links that lead out are not followed', async () => {
  const secret = folderWith({ 'secret/SKILL.md': head('secret'), 'key.txt': 'secret' });
  const folder = folderWith({ 'a/SKILL.md': head('a') });
  symlinkSync(join(secret, 'secret'), join(folder, 'secret'));
  symlinkSync(join(secret, 'key.txt'), join(folder, 'a/key.txt'));
  const { client, list } = await open({ folders: [folder], watch: false });
  expect((await list()).map((each) => filesOf(each).length)).toEqual([1]);
  // Also not a link that replaces a file later.
  write(join(folder, 'a/note.md'), 'text');
  const { client: later } = await open({ folders: [folder], watch: false });
  rmSync(join(folder, 'a/note.md'));
  symlinkSync(join(secret, 'key.txt'), join(folder, 'a/note.md'));
  expect((await later.stateless('resources/read', { uri: 'skill://a/note.md' })).error?.code).toBe(-32602);
  expect((await client.stateless('resources/read', { uri: 'skill://a/key.txt' })).error?.code).toBe(-32602);
});

test('of two skills with the same URI the first one counts, and there may be too many', async () => {
  const first = folderWith({ 'a/SKILL.md': head('a', 'license: first\n'), 'b/SKILL.md': head('b') });
  const second = folderWith({ 'a/SKILL.md': head('a', 'license: second\n') });
  const { list, warnings } = await open({ folders: [first, second], watch: false });
  expect((await list()).map(({ frontmatter }) => frontmatter['license'])).toEqual(['first', undefined]);
  expect(warnings).toEqual([expect.stringContaining('another folder has one with the same name')]);
  const few = await open({ folders: [first], watch: false, maxSkills: 1 });
  expect(await few.list()).toHaveLength(1);
  expect(few.warnings).toEqual([expect.stringContaining('further skills were left out')]);
});

test('changed, added and removed files are noticed, and clients are notified', async () => {
  const folder = folderWith({ 'a/SKILL.md': head('a'), 'a/file.md': 'one' });
  const { server, list } = await open({ folders: [folder] });
  const session = await TestClient.open(server);
  await session.request('resources/subscribe', { uri: 'skill://a/file.md' });
  const digests = async () => (await list()).flatMap(filesOf).map(({ digest }) => digest);
  const before = await digests();
  write(join(folder, 'a/file.md'), 'two');
  await vi.waitFor(async () => expect((await digests())[1]).not.toBe(before[1]), 20_000);
  expect((await digests())[0]).toBe(before[0]);
  const updated = await session.next(({ method }) => method === 'notifications/resources/updated');
  expect(updated.params).toMatchObject({ uri: 'skill://a/file.md' });
  await session.next(({ method }) => method === 'notifications/resources/list_changed');
  write(join(folder, 'b/SKILL.md'), head('b'));
  await vi.waitFor(
    async () => expect(uris(await list())).toEqual(['skill://a/SKILL.md', 'skill://b/SKILL.md']),
    20_000,
  );
  rmSync(join(folder, 'a'), { recursive: true });
  await vi.waitFor(async () => expect(uris(await list())).toEqual(['skill://b/SKILL.md']), 20_000);
});

test('a pack that does not watch reads the folders again on request', async () => {
  const folder = folderWith({ 'a/SKILL.md': head('a') });
  const { pack, list } = await open({ folders: [folder], watch: false });
  write(join(folder, 'b/SKILL.md'), head('b'));
  expect(await list()).toHaveLength(1);
  await pack.reload();
  expect(await list()).toHaveLength(2);
});

test('wrong options are errors that say what to do', async () => {
  await expect(open({} as SkillsOptions)).rejects.toThrow('skills() needs "folders"');
  await expect(open({ folders: ['/nonexistent/skills'] })).rejects.toThrow('/nonexistent/skills');
  await expect(open({ folders: [folderWith({})], prefix: '/a' })).rejects.toThrow('has an empty part');
});

test('a skill may be in the program', async () => {
  const server = createServer({ name: 'own', version: '1.0.0', logger: false });
  const contents = { 'SKILL.md': head('own'), 'data/table.csv': 'a,b\n', 'logo.png': new Uint8Array([0, 255]) };
  const { remove } = await addSkill(server, 'acme/own', contents);
  const client = new TestClient(server);
  const { result } = await client.stateless('skills/get', { uri: 'skill://acme/own/SKILL.md' });
  for (const { uri, digest } of filesOf(result?.['skill'] as Skill)) {
    expect(
      `sha256:${createHash('sha256')
        .update(await bytesOf(client, uri))
        .digest('hex')}`,
    ).toBe(digest);
  }
  remove();
  expect((await client.stateless('skills/list')).result?.['skills']).toEqual([]);
  expect((await client.stateless('resources/list')).result?.['resources']).toEqual([]);
  await expect(addSkill(server, 'acme/own', {})).rejects.toThrow('Skill "acme/own" needs a text SKILL.md');
  await expect(addSkill(server, 'acme/own', { 'SKILL.md': 'x' })).rejects.toThrow('does not begin with YAML');
  server.resource('skill://acme/own/logo.png', { name: 'taken', read: () => '' });
  await expect(addSkill(server, 'acme/own', contents)).rejects.toThrow('already registered');
  expect((await client.stateless('skills/list')).result?.['skills']).toEqual([]);
});
