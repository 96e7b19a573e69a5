import { expect, test } from 'vitest';
import type { Skill } from '../../protocol/skills.ts';
import { resolveSkillFile } from './file-uri.ts';

const folder = 'skill://acme/refunds';
const digest = `sha256:${'0'.repeat(64)}`;
const paths = ['SKILL.md', 'a/b.md', 'my%20file.md', 'sharp%231.md', '100%25.md', '%C3%A9.md'];
const skill: Skill = {
  uri: `${folder}/SKILL.md`,
  frontmatter: { name: 'refunds', description: 'x' },
  resources: paths.map((path) => ({ uri: `${folder}/${path}`, digest, size: 1 })),
};
const dynamic: Skill = { ...skill, resources: 'dynamic' };

test.each([
  ['SKILL.md', 'SKILL.md'],
  ['./a/b.md', 'a/b.md'],
  ['a/../a//b.md', 'a/b.md'],
  ['a/b.md#section', 'a/b.md'],
  [`${folder}/a/b.md`, 'a/b.md'],
  [`${folder}/a/b.md#section`, 'a/b.md'],
  ['my file.md', 'my%20file.md'],
  ['my%20file.md', 'my%20file.md'],
  [`${folder}/my file.md`, 'my%20file.md'],
  ['sharp#1.md', 'sharp%231.md'],
  ['100%.md', '100%25.md'],
  ['é.md', '%C3%A9.md'],
])('%s is a file that the entry lists', (file, path) => {
  expect(resolveSkillFile(skill, file)).toBe(`${folder}/${path}`);
});

const outside = [
  '../other/SKILL.md',
  '/SKILL.md',
  'a/../../x',
  '%2e%2e/x',
  'a\\..\\x',
  '',
  'skill://acme/other/SKILL.md',
];

test.each([...outside, 'a', 'b.md', 'skill.md', `${folder}/a/../SKILL.md`, `${folder}/a%2Fb.md`, '\ud800.md'])(
  '%j is not listed',
  (file) => {
    expect(resolveSkillFile(skill, file)).toBeUndefined();
  },
);

test('a skill without a list has every file of its folder, and no other', () => {
  expect(resolveSkillFile(dynamic, 'today/é 1.md#top')).toBe(`${folder}/today/%C3%A9%201.md`);
  expect(resolveSkillFile(dynamic, `${folder}/x.md`)).toBe(`${folder}/x.md`);
  for (const file of [...outside, `${folder}/a/../x`, `${folder}/x?y`, 'a/%2F', 'a/%5c']) {
    expect(resolveSkillFile(dynamic, file), file).toBeUndefined();
  }
});
