import { expect, test } from 'vitest';
import { LongBodies } from './long-bodies.ts';

const kilobytes = (count: number): number => count * 1024;

test('a few are read at a time, the others in order', async () => {
  const bodies = new LongBodies();
  const all = Array.from({ length: 6 }, () => bodies.begin());
  expect(all.map(({ turn }) => turn === undefined)).toEqual([true, true, true, true, false, false]);
  const turns: number[] = [];
  all.forEach(({ turn }, n) => {
    void turn?.then(() => turns.push(n));
  });
  all[5]?.end();
  all[0]?.end();
  await all[4]?.turn;
  expect(turns).toEqual([4]);
  for (const n of [1, 2, 3, 4]) all[n]?.end();
  expect(bodies.begin().turn).toBeUndefined();
});

test('while long bodies wait, shorter ones are counted too', () => {
  const bodies = new LongBodies();
  for (let n = 0; n < 4; n++) bodies.begin();
  expect([kilobytes(128), kilobytes(129)].map((length) => bodies.isLong(length))).toEqual([false, true]);
  const waiting = bodies.begin();
  expect([kilobytes(16), kilobytes(17)].map((length) => bodies.isLong(length))).toEqual([false, true]);
  waiting.end();
  expect(bodies.isLong(kilobytes(17))).toBe(false);
});
