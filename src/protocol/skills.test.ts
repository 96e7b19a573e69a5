import { expect, test } from 'vitest';
import { skillProblem } from './skills.ts';

const skillAt = (folder: string) => ({
  uri: `${folder}/SKILL.md`,
  frontmatter: { name: 'notes', description: 'Takes notes' },
  resources: 'dynamic',
});

test.each([['skill://notes'], ['skill://team/notes'], ['far+skill://team/a.b/..c/%20/notes']])(
  'a skill may be in the folder %s',
  (folder) => {
    expect(skillProblem(skillAt(folder))).toBeUndefined();
  },
);

test.each([
  ['skill://team/../notes'],
  ['skill://team/./notes'],
  ['skill://team/%2e%2E/notes'],
  ['skill://team/.%2e/notes'],
  ['skill://../notes'],
  ['skill://%2e./notes'],
  ['skill://team/a%2f../notes'],
  ['skill://team/a\\..\\notes'],
  ['skill://team//notes'],
  ['skill:///notes'],
  ['skill://team/notes?x=/notes'],
  ['skill://team/#/notes'],
  ['skill:notes'],
])('a skill may not be in the folder %s', (folder) => {
  expect(skillProblem(skillAt(folder))).toContain('"uri" must be the URI of a SKILL.md in a folder');
});
