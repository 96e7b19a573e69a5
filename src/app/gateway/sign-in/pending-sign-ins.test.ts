import { expect, test } from 'vitest';
import { PendingSignIns } from './pending-sign-ins.ts';

const owner = { principalKey: 'ada', slug: 'mail', server: 'https://mail.example.com/mcp' };
const { signal } = new AbortController();
const visit = { url: new URL('https://login.example.com/'), signal, validate: () => {} };

test('a sign-in has finished when its server is listed for the user', async () => {
  let list = (): void => {};
  const listed = new Promise<void>((resolve) => {
    list = resolve;
  });
  const pending = new PendingSignIns(
    () => true,
    () => listed,
  );
  const { link } = pending.begin(owner, visit, (ticket) => ticket, Promise.resolve(true));
  let isFinished = false;
  void link.finished.then(() => {
    isFinished = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect([isFinished, pending.of('ada')]).toEqual([false, []]);
  list();
  expect(await link.finished).toBe(true);
});

test('one that failed is not listed', async () => {
  const pending = new PendingSignIns(
    () => true,
    () => Promise.reject(new Error('It must not be called')),
  );
  const { link } = pending.begin(owner, visit, (ticket) => ticket, Promise.resolve(false));
  expect(await link.finished).toBe(false);
});
