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

const compute = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

test('after requests took long, others wait for the next turn', async () => {
  const turns = new FairTurns();
  let served = 0;
  while (!turns.arrive() && served < 20) {
    served++;
    compute(12);
  }
  expect(turns.mustWait('ada')).toBe(true);
  expect(served).toBeLessThan(8);
  await nextTurn();
  expect([turns.busy, turns.arrive()]).toEqual([false, false]);
});

test('the time between two turns does not count', async () => {
  const turns = new FairTurns();
  for (let n = 0; n < 12; n++) {
    expect(turns.arrive()).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 12));
  }
});

test('without turns, no request waits', () => {
  const turns = new FairTurns();
  turns.disable();
  turns.spent(2 * megabyte);
  for (let n = 0; n < 10; n++) {
    expect(turns.arrive()).toBe(false);
    compute(12);
  }
});

test('one turn at a time, also if requests are answered at once', async () => {
  const turns = new FairTurns();
  let served = 0;
  turns.spent(2 * megabyte);
  for (let n = 0; n < 20; n++) {
    turns.wait('mallory', () => {
      served++;
      turns.spent(2 * megabyte);
    });
  }
  for (let turn = 1; turn <= 10; turn++) {
    await nextTurn();
    expect(served).toBeLessThanOrEqual(turn);
  }
  await expect.poll(() => served).toBe(20);
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
  expect(served).toEqual(['mallory 0']);
  // Who waits for nothing is served between two turns; a further request of who does keeps its place.
  expect(turns.mustWait('ada')).toBe(true);
  await expect.poll(() => served.length).toBe(5);
  expect(served).toEqual(['mallory 0', 'ada 0', 'mallory 1', 'ada 1', 'mallory 2']);
  await expect.poll(() => turns.busy).toBe(false);
});

test('small requests that had to wait are served in order, many of them in one turn', async () => {
  const turns = new FairTurns();
  const served: number[] = [];
  turns.spent(2 * megabyte);
  for (let n = 0; n < 50; n++) turns.wait('ada', () => served.push(n));
  await nextTurn();
  await nextTurn();
  expect(served).toEqual(Array.from({ length: 50 }, (_, n) => n));
});

test('a request is served when the results of those before it are sent, not only started', async () => {
  const turns = new FairTurns();
  let inMemory = 0;
  let most = 0;
  let sent = 0;
  const serve = async (): Promise<void> => {
    most = Math.max(most, ++inMemory);
    for (let n = 0; n < 20; n++) await undefined;
    inMemory--;
    sent++;
    turns.spent(2 * megabyte);
  };
  turns.spent(2 * megabyte);
  for (let n = 0; n < 50; n++) turns.wait(n % 2 === 0 ? 'ada' : 'mallory', () => void serve());
  await expect.poll(() => sent).toBe(50);
  expect(most).toBe(1);
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
