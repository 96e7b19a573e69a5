import { describe, expect, test, vi } from 'vitest';
import { inSlices, nextSlice } from './slices.ts';

const busy = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

/** Counts turns of the event loop until it is stopped. */
function countTurns(): () => number {
  let turns = 0;
  let counting = true;
  const count = (): void => {
    turns++;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  return () => {
    counting = false;
    return turns;
  };
}

describe('work in slices', () => {
  test('that is short is done immediately', () => {
    const done: number[] = [];
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    expect(inSlices([1, 2, 3], (each) => void done.push(each))).toBeUndefined();
    clock.mockRestore();
    expect(done).toEqual([1, 2, 3]);
  });

  test('that is long continues in later turns, and includes items added in between', async () => {
    const items = new Set(Array.from({ length: 20 }, (_, n) => n));
    const done: number[] = [];
    const stop = countTurns();
    const rest = inSlices(items, (each) => {
      busy(4);
      done.push(each);
    });
    expect(done.length).toBeLessThan(20);
    items.add(20);
    items.delete(19);
    await rest;
    expect(stop()).toBeGreaterThan(4);
    expect(done).toEqual([...Array.from({ length: 19 }, (_, n) => n), 20]);
  });

  test('of many together takes turns: one slice per turn of the event loop', async () => {
    const stop = countTurns();
    const works = Array.from({ length: 10 }, () => inSlices([1, 2, 3], () => busy(11)));
    await Promise.all(works);
    expect(stop()).toBeGreaterThan(25);
  });

  test('leaves time between the slices, in which the event loop turns often', async () => {
    const works = Array.from({ length: 10 }, () => inSlices([1, 2, 3], () => busy(11)));
    const stop = countTurns();
    await Promise.all(works);
    expect(stop()).toBeGreaterThan(100);
  });

  test('that fails rejects, and does not affect other work', async () => {
    const failing = inSlices([1, 2, 3], (each) => {
      busy(11);
      if (each === 2) throw new Error('on purpose');
    });
    const other = nextSlice();
    await expect(failing).rejects.toThrow('on purpose');
    await other;
  });
});
