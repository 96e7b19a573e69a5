// mooring skills: lists, single skills, their files, and servers that lie.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Listening, startListening } from '../client/third-party.ts';
import { useHome } from '../support/program.ts';

const home = useHome();
const script = fileURLToPath(new URL('../client/servers/sdk-skills.mjs', import.meta.url));
let served: Listening;
let official = '';
beforeAll(async () => {
  served = await startListening([script, 'http']);
  official = served.url;
});
afterAll(() => served.close());
const uri = 'skill://acme/refunds/SKILL.md';

/** Its skills: two of one name, one whose SKILL.md is another file, and one that is not valid. */
const liar = `
import { createInterface } from 'node:readline';
const digest = 'sha256:' + '0'.repeat(64);
const entry = (uri, name, resources) => ({ uri, frontmatter: { name, description: 'About \\u001b[31m' + name }, resources });
const skills = [
  entry('skill://a/same/SKILL.md', 'same', 'dynamic'),
  entry('skill://b/same/SKILL.md', 'same', 'dynamic'),
  entry('skill://wrong/SKILL.md', 'wrong', [{ uri: 'skill://wrong/SKILL.md', digest, size: 4 }]),
  entry('skill://out/SKILL.md', 'out', [{ uri: 'skill://out/../../etc/passwd', digest, size: 1 }]),
];
const text = '---\\nname: same\\ndescription: "About \\\\e[31msame"\\n---\\nGenerated\\n';
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    serverInfo: { name: 'liar', version: '1' },
    capabilities: { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } },
  }),
  'skills/list': () => ({ skills }),
  'skills/get': ({ uri }) => ({ skill: skills.find((each) => each.uri === uri) }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: uri.includes('wrong') ? 'evil' : text }] }),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = answers[method];
  const error = { code: -32601, message: 'Method not found' };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(answer ? { result: answer(params) } : { error }) }));
});
`;

function liarTarget(): string {
  writeFileSync(home.file('liar.mjs'), liar);
  return `${process.execPath} ${home.file('liar.mjs')}`;
}

test('skills are listed with their files, sizes and URIs', async () => {
  // Each command would start it anew on a pipe; one does.
  const { code, stdout, stderr } = await home.run(['skills', `${process.execPath} ${script}`]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^skill +files +size +description and URI$/m);
  expect(stdout).toMatch(/^refunds +4 +\d+ bytes +Refunds a customer$/m);
  expect(stdout).toMatch(/^ +skill:\/\/acme\/refunds\/SKILL\.md$/m);
  const all = JSON.parse((await home.run(['skills', official, '--json'])).stdout);
  expect(all).toHaveLength(4);
  expect(all[3]).toMatchObject({ uri, frontmatter: { name: 'refunds' }, resources: expect.any(Array) });
});

test.each(['refunds', uri])('%s is shown with its SKILL.md', async (name) => {
  const { code, stdout } = await home.run(['skills', official, name]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^refunds {2}skill:\/\/acme\/refunds\/SKILL\.md\nRefunds a customer\n/);
  expect(stdout).toMatch(/^ {2}license +MIT$/m);
  expect(stdout).toMatch(/^ {2}\d+ bytes +templates\/letter\.md$/m);
  expect(stdout).toMatch(/\n---\nname: refunds\n.*\n# Refunds\n$/s);
  const shown = JSON.parse((await home.run(['skills', official, name, '--json'])).stdout);
  expect(shown).toMatchObject({
    skill: { uri },
    file: { uri, verified: true, text: expect.stringContaining('# Refunds') },
  });
});

test('other files are printed unchanged', async () => {
  const letter = await home.run(['skills', official, 'refunds', '--file', 'templates/my letter.md']);
  expect(letter).toEqual({ code: 0, stdout: 'Dear you\n', stderr: '' });
  const logo = await home.run(['skills', official, 'refunds', '--file', 'logo.png', '--json']);
  expect(JSON.parse(logo.stdout).file.blob).toBe('iVBORwD/');
});

test('skills and files that do not exist are errors', async () => {
  const typo = await home.run(['skills', official, 'refund']);
  expect(typo).toMatchObject({ code: 2, stderr: 'mooring: There is no skill "refund"; did you mean refunds?\n' });
  const unknown = await home.run(['skills', official, 'skill://no/SKILL.md']);
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toMatch(/^mooring: There is no skill "skill:\/\/no\/SKILL\.md"/);
  const file = await home.run(['skills', official, 'refunds', '--file', '../a/SKILL.md']);
  expect(file).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `mooring: "../a/SKILL.md" does not match the entry of its skill: it is none of the 4 files that the entry lists\n`,
  });
  expect((await home.run(['skills', official, '--file', 'x'])).code).toBe(2);
});

test('a server without skills has none', async () => {
  const { code, stdout, stderr } = await home.run(['skills', 'reference']);
  expect([code, stdout, stderr]).toEqual([0, '', 'This server lists no skills.\n']);
});

test('what a server lies about is not printed', async () => {
  const target = liarTarget();
  const list = await home.run(['skills', target]);
  expect(list.code).toBe(0);
  expect(list.stderr).toBe(
    'warning: the skill skill://out/SKILL.md is left out: skill://out/../../etc/passwd is not in its folder\n',
  );
  expect(list.stdout).not.toContain('\u001b');
  expect(list.stdout).toMatch(/^same +generated +About /m);

  const wrong = await home.run(['skills', target, 'skill://wrong/SKILL.md']);
  expect(wrong).toMatchObject({ code: 1, stdout: '' });
  expect(wrong.stderr).toMatch(/does not match the entry of its skill: its digest is sha256:\w+, not sha256:0+\n$/);
  const json = await home.run(['skills', target, 'skill://wrong/SKILL.md', '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'skill-mismatch', exitCode: 1 } });

  const same = await home.run(['skills', target, 'same']);
  expect(same.code).toBe(2);
  expect(same.stderr).toContain(
    'mooring: 2 skills have the name "same"; use a URI:\n  skill://a/same/SKILL.md\n  skill://b/same/SKILL.md\n',
  );
  const one = await home.run(['skills', target, 'skill://b/same/SKILL.md']);
  expect(one.stdout).toContain('Its files are generated, so that they cannot be verified.');
  expect(one.stdout).toContain('\nGenerated\n');
});
