// mooring notes: who keeps what in the data folder, and deleting some of it.

import { expect, test } from 'vitest';
import { openDataFolder } from '../../src/stores/sqlite/index.ts';
import { useHome } from '../support/program.ts';

const home = useHome();

async function fill(): Promise<string> {
  const folder = home.file('data');
  const data = await openDataFolder(folder);
  for (let n = 1; n <= 12; n++) await data.notes.add('', { content: `note ${n}`, tags: ['t'] });
  await data.notes.add('\u0000ada', { content: 'hers', tags: [] });
  await data.notes.add('https://id.example\u0000ada\u001b[2J', { content: 'of another user', tags: [] });
  await data.close();
  return folder;
}

test('callers are listed with their notes, and their names cannot send control sequences to the terminal', async () => {
  const folder = await fill();
  const { stdout, code } = await home.run(['notes', '--data', folder]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\(unauthenticated\) +12 +\d+ +–$/m);
  expect(stdout).toMatch(/^ada +1 +\d+ +–$/m);
  expect(stdout).toMatch(/^ada.* +1 +\d+ +https:\/\/id\.example$/m);
  expect(stdout).not.toContain('\u001b[2J');
  const callers = JSON.parse((await home.run(['notes', 'list', '--json', '--data', folder])).stdout);
  expect(callers).toHaveLength(3);
  expect(callers[0]).toMatchObject({ notes: 12 });
});

test('notes are deleted by id, or all notes of one caller', async () => {
  const folder = await fill();
  const left = async (): Promise<number[]> =>
    JSON.parse((await home.run(['notes', '--json', '--data', folder])).stdout).map(
      (each: { notes: number }) => each.notes,
    );
  const some = await home.run(['notes', 'delete', '3', '12', '99', '--data', folder]);
  expect(some.code).toBe(1);
  expect(some.stderr).toContain('2 notes deleted.');
  expect(some.stderr).toContain('There is no note 99');
  expect(await left()).toEqual([10, 1, 1]);
  const hers = await home.run(['notes', 'delete', '--all', '--caller', 'ada', '--data', folder, '--json']);
  expect(JSON.parse(hers.stdout)).toEqual({ deleted: ['1'] });
  expect(await left()).toEqual([10, 0, 1]);
  expect((await home.run(['notes', 'delete', '--all', '--data', folder])).stderr).toContain('10 notes deleted.');
  expect(await left()).toEqual([0, 0, 1]);
});

test('usage errors have a short message', async () => {
  const folder = await fill();
  for (const [args, said] of [
    [['delete'], 'Name the notes:'],
    [['delete', '1', '--all'], 'Name the notes:'],
    [['remove'], 'Unknown action "remove". Use list or delete'],
    [['delete', '1', '--issuer', 'x'], '--issuer works only together with --caller'],
  ] as const) {
    const { code, stderr } = await home.run(['notes', ...args, '--data', folder]);
    expect(code, said).toBe(2);
    expect(stderr).toContain(said);
  }
  const nothing = await home.run(['notes', '--data', home.file('nothing')]);
  expect(nothing.code).toBe(2);
  expect(nothing.stderr).toContain('There are no notes in');
});
