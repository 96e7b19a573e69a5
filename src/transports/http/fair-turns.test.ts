import { expect, test } from 'vitest';
import { FairTurns } from './fair-turns.ts';

const megabyte = 1024 * 1024;
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('no request waits while responses are small', () => {
  const turns = new FairTurns();
  expect(turns.busy).toBe(false);
  turns.spent(megabyte);
  expect([turns.busy, turns.mustWait('ada')]).toEqual([false, false]);
});

test('after many bytes were sent, requests wait for the next turn', async () => {
  const turns = new FairTurns();
  turns.spent(megabyte + 1);
  expect(turns.mustWait('ada')).toBe(true);
  await nextTurn();
  expect([turns.busy, turns.mustWait('ada')]).toEqual([false, false]);
});

test('callers take turns: one with many large responses does not delay the other', async () => {
  const turns = new FairTurns();
  const served: string[] = [];
  turns.spent(2 * megabyte);
  for (let n = 0; n < 3; n++) {
    turns.wait('mallory', () => {
      served.push(`mallory ${n}`);
      turns.spent(2 * megabyte);
    });
  }
  turns.wait('ada', () => served.push('ada 0'));
  turns.wait('ada', () => served.push('ada 1'));
  expect(served).toEqual([]);
  await nextTurn();
  expect(served).toEqual(['mallory 0', 'ada 0']);
  // Who waits for nothing is served between two turns; a further request of who does keeps its place.
  expect(turns.mustWait('ada')).toBe(true);
  await nextTurn();
  expect(served).toEqual(['mallory 0', 'ada 0', 'mallory 1', 'ada 1']);
  await nextTurn();
  expect(served.at(-1)).toBe('mallory 2');
  expect(turns.busy).toBe(true);
  await nextTurn();
  expect(turns.busy).toBe(false);
});

test('small requests that had to wait are all served in one turn, in order', async () => {
  const turns = new FairTurns();
  const served: number[] = [];
  turns.spent(2 * megabyte);
  for (let n = 0; n < 50; n++) turns.wait('ada', () => served.push(n));
  await nextTurn();
  expect(served).toEqual(Array.from({ length: 50 }, (_, n) => n));
});

test('a request that stopped waiting is not served', async () => {
  const turns = new FairTurns();
  let ran = false;
  turns.spent(2 * megabyte);
  turns.wait('ada', () => {
    ran = true;
  })();
  await nextTurn();
  expect([ran, turns.busy]).toEqual([false, false]);
});
