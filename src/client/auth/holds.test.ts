import { expect, test } from 'vitest';
import { Holds } from './holds.ts';

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

test('clocks stand still while a person is asked, and only then, also of those who come later', async () => {
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
  // Whoever does not wait any more is not held.
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
