import { afterEach, expect, test } from 'vitest';
import { followRedirect } from '../../../src/client/auth/grants/follow-redirect.ts';
import { createHookRedirector } from '../../../src/client/auth/grants/redirect.ts';
import { Holds } from '../../../src/client/auth/holds.ts';
import { caller, Worlds } from './setup.ts';

const worlds = new Worlds();
afterEach(() => worlds.stop());

function clock() {
  const state = { stopped: 0 };
  const hold = (): (() => void) => {
    state.stopped++;
    return () => {
      state.stopped--;
    };
  };
  return { state, hold };
}

test('time limits pause during a sign-in, and only then, also those of later requests', async () => {
  const holds = new Holds();
  const [first, second] = [clock(), clock()];
  let finish = (): void => {};
  const outcome = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const one = holds.waiting(first.hold, () => outcome);
  expect(first.state.stopped).toBe(0);
  const over = holds.asking();
  const two = holds.waiting(second.hold, () => outcome);
  const without = holds.waiting(undefined, () => outcome);
  expect([first.state.stopped, second.state.stopped]).toEqual([1, 1]);
  over();
  over();
  expect([first.state.stopped, second.state.stopped]).toEqual([0, 0]);
  const again = holds.asking();
  finish();
  await Promise.all([one, two, without]);
  // Both requests have ended, so there is nothing left to hold.
  expect([first.state.stopped, second.state.stopped]).toEqual([0, 0]);
  again();
});

test('clocks run on when asking fails', async () => {
  const holds = new Holds();
  const { state, hold } = clock();
  const failing = holds.waiting(hold, () => holds.ask(() => Promise.reject(new Error('no'))));
  expect(state.stopped).toBe(1);
  await expect(failing).rejects.toThrow('no');
  expect(state.stopped).toBe(0);
});

test('an authorizer pauses time limits while the user signs in, and not while it sends requests', async () => {
  const { rs } = await worlds.start();
  const log: string[] = [];
  const hold = (): (() => void) => {
    log.push('paused');
    return () => log.push('running');
  };
  const visit = followRedirect();
  const redirector = createHookRedirector('http://127.0.0.1:7777/callback', (url, context) => {
    log.push('person');
    return visit(url, context);
  });
  const { authorizer } = caller(rs, { redirector });
  expect(authorizer.holdsTime).toBe(true);
  const response = await fetch(rs.url, { method: 'POST', body: '{}' });
  expect(await authorizer.challenge(rs.url, response, { hold })).toBe('retry');
  // First for the lock, which another process may hold while a person signs in there.
  expect(log.join(' ')).toBe('paused running paused person running');
});
