// Skills: our client with our server, with servers that lie, and with the official SDK on either side.

import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client as OfficialClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type Client,
  ClientError,
  type ClientErrorCode,
  type ConnectOptions,
  connect,
  inMemory,
  ResponseCache,
  type Skill,
  type SkillFile,
} from '../../src/client/index.ts';
import { type ScriptedAnswer, ScriptedServer, scriptError } from '../../src/client/testing/scripted-server.ts';
import { createServer, type Server, serveHttp } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';

const closers = useClosers(afterEach);
const extension = 'io.modelcontextprotocol/skills';
const revisions = ['2025-11-25', '2026-07-28'] as const;
type Revision = (typeof revisions)[number];

const folder = 'skill://acme/refunds';
const uri = `${folder}/SKILL.md`;
const frontmatter = { name: 'refunds', description: 'Refunds a customer', details: { regions: ['eu', 'us'], v: 2 } };
const markdown = `---
name: refunds
description: Refunds a customer
details:
  v: 2
  regions: [eu, us]
---

# Refunds ä
`;
const letter = 'Dear customer\n';
const logo = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);

function fileOf(path: string, content: string | Buffer): SkillFile {
  const bytes = Buffer.from(content as string);
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  return { uri: `${folder}/${path}`, digest, size: bytes.length };
}

const resources = [
  fileOf('SKILL.md', markdown),
  fileOf('templates/my%20letter.md', letter),
  fileOf('logo.png', logo),
] as const;
const skill: Skill = { uri, frontmatter, resources };

async function open(target: Parameters<typeof connect>[0], revision: Revision, options: ConnectOptions = {}) {
  const client = await connect(target, { revision, ...options });
  closers.push(() => client.close());
  expect(client.revision).toBe(revision);
  return client;
}

async function failureOf(work: Promise<unknown>, code: ClientErrorCode): Promise<ClientError> {
  const error = await work.then(
    () => expect.unreachable('should have failed'),
    (each: unknown) => each,
  );
  expect(error).toBeInstanceOf(ClientError);
  expect(error).toMatchObject({ code });
  return error as ClientError;
}

describe.each(revisions)('our server, %s', (revision) => {
  function serve(): Server {
    const server = createServer({ name: 'ours', version: '1.0.0', logger: false, limits: { pageSize: 2 } });
    server.skill(skill);
    for (const name of ['x', 'y']) {
      const each = `skill://acme/${name}/SKILL.md`;
      server.skill({ uri: each, frontmatter: { name, description: 'x' }, resources: 'dynamic' });
      server.resource(each, { name, read: () => `---\nname: ${name}\ndescription: x\n---\n` });
    }
    server.resource(uri, { name: 'refunds', mimeType: 'text/markdown', read: () => markdown });
    server.resource(`${folder}/templates/my%20letter.md`, { name: 'letter', read: () => letter });
    server.resource(`${folder}/logo.png`, { name: 'logo', mimeType: 'image/png', read: () => logo });
    return server;
  }

  test('skills are listed, found and read', async () => {
    const client = await open(inMemory(serve()), revision);
    const listed = await client.skills.list();
    expect(listed.map((each) => each.uri)).toEqual([uri, 'skill://acme/x/SKILL.md', 'skill://acme/y/SKILL.md']);
    expect(listed[0]).toEqual(skill);
    expect(await client.skills.get(uri)).toEqual(skill);

    const bytes = new TextEncoder().encode(markdown);
    const read = { uri, mimeType: 'text/markdown', text: markdown, bytes, verified: true };
    expect(await client.skills.read(skill)).toEqual(read);
    expect(await client.skills.read(skill, uri)).toEqual(read);
    expect(await client.skills.read(skill, './templates/my letter.md#top')).toMatchObject({ text: letter });
    const image = await client.skills.read(skill, 'logo.png');
    expect(image).toEqual({ ...image, mimeType: 'image/png', bytes: new Uint8Array(logo), verified: true });
    expect(image.text).toBeUndefined();

    const dynamic = await client.skills.get('skill://acme/x/SKILL.md');
    expect(await client.skills.read(dynamic)).toMatchObject({ verified: false, uri: dynamic.uri });
  });

  test('folders are read', async () => {
    const client = await open(inMemory(serve()), revision);
    const names = async (each: string) => (await client.skills.directory(each)).map(({ name }) => name);
    expect(await names(folder)).toEqual(['SKILL.md', 'templates', 'logo.png']);
    expect(await names(`${folder}/templates`)).toEqual(['my letter.md']);
    await failureOf(client.skills.directory(uri), 'server-error');
  });

  test('a skill that does not exist has an error of its own', async () => {
    const client = await open(inMemory(serve()), revision);
    const error = await failureOf(client.skills.get('skill://no/SKILL.md'), 'skill-not-found');
    expect(error.message).toBe('There is no skill "skill://no/SKILL.md": Unknown skill: skill://no/SKILL.md, -32602');
  });

  test('the official client lists, reads and verifies them', async () => {
    const http = await serveHttp(serve(), { port: 0, graceMs: 100 });
    closers.push(() => http.close());
    const mode = revision === '2026-07-28' ? { pin: revision } : ('legacy' as const);
    const official = new OfficialClient({ name: 'official', version: '1' }, { versionNegotiation: { mode } });
    await official.connect(new StreamableHTTPClientTransport(new URL(http.url)));
    closers.push(() => official.close());
    expect(official.getNegotiatedProtocolVersion()).toBe(revision);
    const skills = new SkillsClient(official);
    expect([skills.supported, skills.directoryRead]).toEqual([true, true]);
    const { skills: listed } = await skills.list();
    expect(listed[0]).toEqual(skill);
    expect(listed).toHaveLength(3);
    expect(await skills.get(uri)).toMatchObject({ skill });
    const held = listed[0] as (typeof listed)[0];
    expect(await skills.read(held)).toMatchObject({ text: markdown, verified: true, frontmatter });
    expect(await skills.read(held, 'logo.png')).toMatchObject({ bytes: new Uint8Array(logo), verified: true });
    expect((await skills.readDirectory(folder)).resources).toHaveLength(3);
  });
});

/** What a server sends instead of what it should. */
interface Lies {
  readonly entries?: readonly unknown[];
  readonly files?: Readonly<Record<string, object>>;
  readonly settings?: object;
  readonly answers?: Record<string, ScriptedAnswer>;
}

const hint = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'private' };

function lying(revision: Revision, { entries = [skill], files = {}, settings = {}, answers = {} }: Lies) {
  const capabilities = { resources: {}, extensions: { [extension]: settings } };
  const opening: Record<string, ScriptedAnswer> =
    revision === '2026-07-28'
      ? { 'server/discover': () => ({ ...hint, supportedVersions: [revision], capabilities, ttlMs: 0 }) }
      : {
          initialize: () => ({ protocolVersion: revision, capabilities, serverInfo: { name: 'lying', version: '1' } }),
        };
  const honest: Readonly<Record<string, object>> = {
    [uri]: { text: markdown },
    [`${folder}/templates/my%20letter.md`]: { text: letter },
    [`${folder}/logo.png`]: { blob: logo.toString('base64') },
  };
  return new ScriptedServer(revision === '2026-07-28' ? 'stateless' : 'handshake', {
    ...opening,
    'skills/list': () => ({ ...hint, skills: entries }),
    'skills/get': ({ params }) => {
      const found = entries.find((each) => (each as Skill).uri === params?.['uri']);
      return found === undefined ? scriptError(-32602, 'No such skill') : { ...hint, skill: found };
    },
    'resources/read': ({ params }) => {
      const asked = params?.['uri'] as string;
      const content = files[asked] ?? honest[asked];
      if (content === undefined) scriptError(-32602, 'No such file', { uri: asked });
      return { ...hint, contents: [{ uri: asked, ...content }] };
    },
    ...answers,
  });
}

function warnings() {
  const lines: unknown[] = [];
  const none = (): void => {};
  const logger = {
    ...{ debug: none, info: none, notice: none, error: none, enabled: () => true, child: () => logger },
    warn: (message: string, fields?: object) => void lines.push([message, fields]),
  };
  return { lines, logger };
}

describe.each(revisions)('servers that lie, %s', (revision) => {
  const mismatch = async (client: Client, held: Skill, file?: string): Promise<string> =>
    (await failureOf(client.skills.read(held, file), 'skill-mismatch')).message;

  test('nothing is read before it is asked for', async () => {
    const server = lying(revision, {});
    const client = await open(server.target, revision);
    await client.skills.list();
    const held = await client.skills.get(uri);
    expect(server.of('resources/read')).toEqual([]);
    await client.skills.read(held);
    expect(server.of('resources/read').map(({ params }) => params?.['uri'])).toEqual([uri]);
  });

  test.each([
    [
      'digest',
      { text: markdown.replace('# Refunds', '# Refusal') },
      /: its digest is sha256:[0-9a-f]{64}, not sha256:/,
    ],
    ['size', { text: `${markdown} ` }, /: it has 105 bytes, not 104\./],
    ['size of a blob', { blob: 'AAAA' }, /: it has 3 bytes, not 104\./],
    ['blob', { blob: '*' }, /: its blob is not base64\./],
  ])('a file with another %s is not returned', async (_what, content, message) => {
    const server = lying(revision, { files: { [uri]: content } });
    const client = await open(server.target, revision);
    const text = await mismatch(client, skill);
    expect(text).toMatch(message);
    expect(text).toContain(`client.skills.get("${uri}") fetches the current entry`);
  });

  test('SKILL.md may arrive as a blob, and is text nevertheless', async () => {
    const blob = Buffer.from(markdown).toString('base64');
    const server = lying(revision, { files: { [uri]: { blob } } });
    const client = await open(server.target, revision);
    expect(await client.skills.read(skill)).toMatchObject({ text: markdown, verified: true });
  });

  test.each([
    ['nothing', []],
    ['no content', [{ uri }]],
    [
      'two other files',
      [
        { uri: 'a:b', text: markdown },
        { uri: 'c:d', text: markdown },
      ],
    ],
    ['null', [null]],
    ['a number', [{ uri, text: 1 }]],
  ])('%s instead of a file is an error', async (_what, contents) => {
    const server = lying(revision, { answers: { 'resources/read': () => ({ ...hint, contents }) } });
    const client = await open(server.target, revision);
    await failureOf(client.skills.read(skill), 'invalid-result');
  });

  test.each([
    ['another value', markdown.replace('a customer', 'everything'), 'its YAML differs in "description"'],
    ['another field', markdown.replace('details', 'allowed-tools: Bash\ndetails'), 'differs in "allowed-tools"'],
    ['a field less', markdown.replace(/details.*\]\n/s, ''), 'differs in "details"'],
    ['another type', markdown.replace('v: 2', 'v: "2"'), 'differs in "details"'],
    ['another order', markdown.replace('[eu, us]', '[us, eu]'), 'differs in "details"'],
    ['no YAML', '# Refunds', 'its YAML cannot be read: it does not begin with'],
    ['wrong YAML', '---\na: [\n---\n', 'its YAML cannot be read: '],
    ['an alias', '---\na: &a [1]\nb: *a\n---\n', 'its YAML cannot be read: '],
    ['endless YAML', `---\n${'a: [\n'.repeat(100_000)}`, 'its YAML cannot be read: '],
    [
      'long YAML',
      markdown.replace('---\n\n', `long: ${'x'.repeat(17_000)}\n---\n\n`),
      ', in its first 16384 characters',
    ],
    ['bytes that are not text', Buffer.from([0xff]), 'it is not UTF-8'],
  ])('SKILL.md with %s is not what the entry says', async (_what, content, message) => {
    const part = typeof content === 'string' ? { text: content } : { blob: content.toString('base64') };
    for (const files of [[fileOf('SKILL.md', content)], 'dynamic'] as const) {
      const held = { ...skill, resources: files };
      const server = lying(revision, { entries: [held], files: { [uri]: part } });
      const client = await open(server.target, revision);
      expect(await mismatch(client, held)).toContain(message);
    }
  });

  test('the SKILL.md of a skill inside another is a file like others', async () => {
    const inner = fileOf('inner/SKILL.md', '# no YAML');
    const held = { ...skill, resources: [...resources, inner] };
    const server = lying(revision, { entries: [held], files: { [inner.uri]: { text: '# no YAML' } } });
    const client = await open(server.target, revision);
    expect(await client.skills.read(held, 'inner/SKILL.md')).toMatchObject({ text: '# no YAML', verified: true });
  });

  test('files that the entry does not list are not requested', async () => {
    const server = lying(revision, {});
    const client = await open(server.target, revision);
    for (const file of ['new.md', '../other/SKILL.md', 'file:///etc/passwd', `${folder}/templates/../logo.png`]) {
      expect(await mismatch(client, skill, file)).toContain('it is none of the 3 files that the entry lists');
    }
    const dynamic = { ...skill, resources: 'dynamic' } as const;
    for (const file of ['../other/SKILL.md', 'file:///etc/passwd', '%2e%2e/x']) {
      expect(await mismatch(client, dynamic, file)).toContain(`it is not in the folder ${folder}`);
    }
    const wrong = { ...skill, resources: [{ ...resources[0], digest: 'sha256:0' }] };
    await failureOf(client.skills.read(wrong), 'configuration');
    expect(server.of('resources/read')).toEqual([]);
  });

  test('a skill without a list of its files has 16 MiB', async () => {
    const dynamic = { ...skill, resources: 'dynamic' } as const;
    const half = { text: 'x'.repeat(2 ** 23) };
    const files = { [`${folder}/1`]: half, [`${folder}/2`]: half, [`${folder}/3`]: { text: 'x' } };
    const server = lying(revision, { entries: [dynamic], files });
    const client = await open(server.target, revision);
    for (const file of ['1', '2', '1']) expect((await client.skills.read(dynamic, file)).verified).toBe(false);
    expect(await mismatch(client, dynamic, '3')).toContain('have more than 16777216 bytes');
    expect(await client.skills.read({ ...dynamic }, '3')).toMatchObject({ text: 'x' });
  });

  test('entries that are not valid are left out, with a warning', async () => {
    const many = Array.from({ length: 513 }, (_, at) => ({ ...fileOf(`${at}.md`, ''), size: 0 }));
    const out = [...resources, { ...resources[0], uri: `${folder}/../../etc/passwd` }];
    const entries = [
      { ...skill, resources: [...many, resources[0]] },
      { ...skill, resources: out },
      { ...skill, resources: undefined },
      { ...skill, uri: 'skill://evil\u001b[2J/SKILL.md' },
      null,
      skill,
      { ...skill, frontmatter: { name: 'refunds', description: 'another' } },
    ];
    const server = lying(revision, { entries });
    const { lines, logger } = warnings();
    const client = await open(server.target, revision, { logger });
    const told: unknown[] = [];
    expect(await client.skills.list({ onInvalid: (each) => void told.push(each) })).toEqual([skill]);
    const left = 'left out an item of skills/list';
    expect(lines).toEqual([
      [left, { name: uri, why: 'it has more than 512 files' }],
      [left, { name: uri, why: `${folder}/../../etc/passwd is not in its folder` }],
      [left, { name: uri, why: '"resources" must be the list of its files, or "dynamic"' }],
      [left, { name: 'skill://evil [2J/SKILL.md', why: expect.stringContaining('its folder must have its name') }],
      [left, { name: undefined, why: 'everything is missing' }],
      ['a skill is listed twice', { uri }],
    ]);
    expect(told).toHaveLength(4);
    expect(told[0]).toEqual({ uri, why: 'it has more than 512 files' });
    const error = await failureOf(client.skills.get(uri), 'invalid-result');
    expect(error.message).toContain('it has more than 512 files');
  });

  test('the entry of another skill is not the one that was asked for', async () => {
    const server = lying(revision, { answers: { 'skills/get': () => ({ ...hint, skill }) } });
    const client = await open(server.target, revision);
    await failureOf(client.skills.get('skill://acme/other/SKILL.md'), 'invalid-result');
  });

  test('cursors that repeat end the list', async () => {
    const page = { ...hint, ttlMs: 0, nextCursor: 'again' };
    const server = lying(revision, {
      settings: { directoryRead: true },
      answers: {
        'skills/list': () => ({ ...page, skills: [] }),
        'resources/directory/read': () => ({ ...page, resources: [] }),
      },
    });
    const client = await open(server.target, revision);
    expect((await failureOf(client.skills.list(), 'invalid-result')).message).toContain('its cursors repeat');
    expect((await failureOf(client.skills.directory(folder), 'invalid-result')).message).toContain(
      'its cursors repeat',
    );
    const [first, second] = server.of('resources/directory/read').map(({ params }) => params);
    expect([first?.['uri'], first?.['cursor'], second?.['uri'], second?.['cursor']]).toEqual([
      ...[folder, undefined],
      ...[folder, 'again'],
    ]);
  });

  test('nothing is sent to a server that does not declare it', async () => {
    const server = lying(revision, {});
    const client = await open(server.target, revision);
    const error = await failureOf(client.skills.directory(folder), 'not-offered');
    expect(error.message).toBe(
      `According to its capabilities, this server does not offer resources/directory/read ("directoryRead" of ${extension})`,
    );
    const without = new ScriptedServer(revision === '2026-07-28' ? 'stateless' : 'handshake');
    const other = await open(without.target, revision);
    expect(await other.skills.list()).toEqual([]);
    await failureOf(other.skills.get(uri), 'not-offered');
    expect([...server.sent, ...without.sent].map(({ method }) => method)).not.toContainEqual(
      expect.stringMatching(/skills|directory/),
    );
  });

  test('what is cached is used while it fits, and is fetched again when it does not', async () => {
    let current = skill;
    let text = markdown;
    const server = lying(revision, {
      answers: {
        'skills/list': () => ({ ...hint, skills: [current] }),
        'skills/get': () => ({ ...hint, skill: current }),
        'resources/read': () => ({ ...hint, contents: [{ uri, text }] }),
      },
    });
    const client = await open(server.target, revision, { cache: new ResponseCache() });
    const reads = () => server.of('resources/read').length;
    const [held = skill] = await client.skills.list();
    await client.skills.get(uri);
    await client.skills.read(held);
    await client.skills.read(held);
    expect([reads(), server.of('skills/get').length]).toEqual([1, 1]);

    // The skill changes. The old entry fits the file in the cache; a new entry does not, so that the file is fetched.
    text = `${markdown}\n`;
    current = { ...skill, resources: [fileOf('SKILL.md', text)] };
    await client.skills.read(held);
    expect(reads()).toBe(1);
    expect(await client.skills.read(await client.skills.get(uri, { cache: 'refresh' }))).toMatchObject({ text });
    expect(reads()).toBe(2);

    // The old entry does not fit any more; as the error says, the next entry is the current one.
    await mismatch(client, held);
    expect(reads()).toBe(3);
    const gets = server.of('skills/get').length;
    expect(await client.skills.get(uri)).toEqual(current);
    expect(await client.skills.list()).toEqual([current]);
    expect(server.of('skills/get')).toHaveLength(gets + 1);
    server.say({ method: 'notifications/resources/list_changed' });
    await client.skills.list();
    expect(server.of('skills/list')).toHaveLength(3);
  });
});

test('the extension does not exist before 2025-11-25', async () => {
  const server = createServer({ name: 'ours', version: '1.0.0', logger: false });
  server.skill(skill);
  const client = await connect(inMemory(server), { revision: '2025-06-18' });
  closers.push(() => client.close());
  expect(await client.skills.list()).toEqual([]);
  await failureOf(client.skills.get(uri), 'not-offered');
});

test.each(revisions)('the official server, %s: skills are listed, found, read and verified', async (revision) => {
  const script = fileURLToPath(new URL('servers/sdk-skills.mjs', import.meta.url));
  const client = await open(['node', script], revision);
  const listed = await client.skills.list();
  expect(listed.map((each) => each.frontmatter.name)).toEqual(['a', 'b', 'c', 'refunds']);
  const held = await client.skills.get(uri);
  expect(held).toEqual(listed[3]);
  expect(await client.skills.read(held)).toMatchObject({ text: expect.stringContaining('# Refunds'), verified: true });
  expect(await client.skills.read(held, 'templates/letter.md')).toMatchObject({ text: 'Dear customer, ä\n' });
  expect(await client.skills.read(held, 'templates/my letter.md')).toMatchObject({ text: 'Dear you\n' });
  expect((await client.skills.read(held, 'logo.png')).bytes).toEqual(new Uint8Array(logo));
  await failureOf(client.skills.read(held, 'no.md'), 'skill-mismatch');
  await failureOf(client.skills.get('skill://acme/no/SKILL.md'), 'skill-not-found');
  const children = await client.skills.directory(folder);
  expect(children.map(({ name }) => name).sort()).toEqual(['SKILL.md', 'logo.png', 'templates']);
});
