import { expect, test } from 'vitest';
import { Confirmations } from './confirmations.ts';

/** Processes that respond when they are told to. */
function start() {
  const asked: { readonly process: string; respond(): void }[] = [];
  const confirmations = new Confirmations(
    (process) => new Promise<void>((respond) => asked.push({ process, respond })),
  );
  return { asked, confirmations };
}

/** Whether a promise resolves without anything else happening. */
async function isResolved(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  let late: Promise<unknown> = Promise.resolve();
  for (let turns = 0; turns < 20; turns++) late = late.then(() => pending);
  return (await Promise.race([promise.then(() => true), late])) !== pending;
}

test('each process is asked, and all have to respond', async () => {
  const { asked, confirmations } = start();
  const confirmed = confirmations.from(['a', 'b']);
  expect(asked.map(({ process }) => process)).toEqual(['a', 'b']);
  asked[0]?.respond();
  expect(await isResolved(confirmed)).toBe(false);
  asked[1]?.respond();
  expect(await isResolved(confirmed)).toBe(true);
});

test('what is asked while a question is open waits for one more, which all of them share', async () => {
  const { asked, confirmations } = start();
  const first = confirmations.from(['a']);
  const later = [confirmations.from(['a']), confirmations.from(['a'])];
  expect(asked.length).toBe(1);
  asked[0]?.respond();
  expect(await isResolved(first)).toBe(true);
  expect(await isResolved(Promise.race(later))).toBe(false);
  expect(asked.length).toBe(2);
  asked[1]?.respond();
  expect(await isResolved(Promise.all(later))).toBe(true);
});

test('after the last response the next question is asked at once', async () => {
  const { asked, confirmations } = start();
  for (let n = 1; n <= 3; n++) {
    const confirmed = confirmations.from(['a']);
    expect(asked.length).toBe(n);
    asked.at(-1)?.respond();
    expect(await isResolved(confirmed)).toBe(true);
  }
});
