import { expect, test } from 'vitest';
import { pause } from '../../common/wait.ts';
import { retry } from './retry.ts';

const plan = (failures: number, options: Partial<Parameters<typeof retry>[1]> = {}) => {
  const waits: number[] = [];
  let tried = 0;
  const done = retry(
    async () => {
      if (++tried <= failures) throw new Error(`failure ${tried}`);
      return tried;
    },
    {
      attempts: 4,
      baseMs: 100,
      maxMs: 250,
      random: () => 1,
      isRetryable: () => true,
      wait: async (ms) => void waits.push(ms),
      ...options,
    },
  );
  return { done, waits };
};

test('waits grow by doubling up to the limit', async () => {
  const { done, waits } = plan(3);
  expect(await done).toBe(4);
  expect(waits).toEqual([100, 200, 250]);
});

test('jitter takes a random part of each wait', async () => {
  const { done, waits } = plan(2, { random: () => 0.25 });
  await done;
  expect(waits).toEqual([25, 50]);
});

test('the last error is thrown when the attempts are used up or it is not retryable', async () => {
  await expect(plan(9).done).rejects.toThrow('failure 4');
  await expect(plan(9, { isRetryable: () => false }).done).rejects.toThrow('failure 1');
});

test('a wait that the service asks for is honoured up to the limit, and ends the attempts beyond it', async () => {
  const within = plan(1, { isRetryable: () => 240 });
  await within.done;
  expect(within.waits).toEqual([240]);
  await expect(plan(1, { isRetryable: () => 251 }).done).rejects.toThrow('failure 1');
});

test('an abort ends the wait with its own reason', async () => {
  const abort = new AbortController();
  const done = plan(9, { signal: abort.signal, wait: pause, baseMs: 60_000, maxMs: 60_000 }).done;
  abort.abort(new Error('enough'));
  await expect(done).rejects.toThrow();
});
