import { expect, test } from 'vitest';
import { SingleFlight } from './single-flight.ts';

function gate() {
  let open = () => {};
  let fail = (_error: Error) => {};
  const promise = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}

test('those who come meanwhile share the outcome, good or bad', async () => {
  const flights = new SingleFlight();
  for (const outcome of ['good', 'bad'] as const) {
    const { promise, open, fail } = gate();
    let runs = 0;
    const task = () => {
      runs++;
      return promise;
    };
    const all = Promise.allSettled([flights.run('k', task), flights.run('k', task), flights.run('k', task)]);
    if (outcome === 'good') open();
    else fail(new Error('denied'));
    expect(new Set((await all).map(({ status }) => status))).toEqual(
      new Set([outcome === 'good' ? 'fulfilled' : 'rejected']),
    );
    expect(runs).toBe(1);
  }
});

test('the next one after the end starts again, and other keys are other flights', async () => {
  const flights = new SingleFlight();
  const runs: string[] = [];
  const task = (name: string) => async () => void runs.push(name);
  await flights.run('a', task('first'));
  await flights.run('a', task('second'));
  await Promise.all([flights.run('a', task('third')), flights.run('b', task('fourth'))]);
  expect(runs).toEqual(['first', 'second', 'third', 'fourth']);
});

test('one waiter leaving does not end it for the others; the last one does', async () => {
  const flights = new SingleFlight();
  const { promise } = gate();
  let ended: AbortSignal | undefined;
  const task = (signal: AbortSignal) => {
    ended = signal;
    return promise;
  };
  const [one, two] = [new AbortController(), new AbortController()];
  const waiting = [flights.run('k', task, one.signal), flights.run('k', task, two.signal)];
  one.abort(new Error('one left'));
  await expect(waiting[0]).rejects.toThrow('one left');
  expect(ended?.aborted).toBe(false);
  two.abort(new Error('two left'));
  await expect(waiting[1]).rejects.toThrow('two left');
  expect(ended?.aborted).toBe(true);
  let fresh = false;
  await flights.run('k', async () => {
    fresh = true;
  });
  expect(fresh).toBe(true);
});

test('a caller that was aborted before starts nothing', async () => {
  const task = () => Promise.reject(new Error('must not run'));
  await expect(new SingleFlight().run('k', task, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
});
