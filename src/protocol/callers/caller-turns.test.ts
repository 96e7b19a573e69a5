import { expect, test } from 'vitest';
import { CallerTurns } from './caller-turns.ts';

const never = new AbortController().signal;

/** Work that runs until it is ended. */
function tasks(turns: CallerTurns) {
  const running = new Map<string, () => void>();
  const begin = (caller: string, name: string, signal = never): Promise<string> =>
    turns.run(caller, signal, () => new Promise((resolve) => running.set(name, () => resolve(name))));
  const end = (name: string): void => {
    running.get(name)?.();
    running.delete(name);
  };
  return { begin, end, running: () => [...running.keys()] };
}

test('each caller has its share, and one with much waiting work does not block another', async () => {
  const { begin, end, running } = tasks(new CallerTurns(3, 2));
  for (const name of ['m1', 'm2', 'm3', 'm4']) void begin('mallory', name);
  void begin('ada', 'a1');
  expect(running()).toEqual(['m1', 'm2', 'a1']);
  void begin('ada', 'a2');
  end('m1');
  await expect.poll(running).toEqual(['m2', 'a1', 'm3']);
  end('m2');
  end('m3');
  await expect.poll(running).toEqual(['a1', 'm4', 'a2']);
});

test('work that fails releases its slot', async () => {
  const turns = new CallerTurns(1, 1);
  await expect(turns.run('ada', never, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await turns.run('ada', never, async () => 'fine')).toBe('fine');
});

test('work that was cancelled while waiting is not started', async () => {
  const { begin, end, running } = tasks(new CallerTurns(1, 1));
  void begin('ada', 'a1');
  const controller = new AbortController();
  const second = begin('ada', 'a2', controller.signal);
  const third = begin('ada', 'a3');
  controller.abort(new Error('cancelled'));
  await expect(second).rejects.toThrow('cancelled');
  await expect(begin('ada', 'a4', controller.signal)).rejects.toThrow('cancelled');
  end('a1');
  await expect.poll(running).toEqual(['a3']);
  end('a3');
  expect(await third).toBe('a3');
});

test('after long work the next of the same caller waits for a turn of the event loop, also if it is requested later', async () => {
  const turns = new CallerTurns(8, 1);
  const log: string[] = [];
  const block = (name: string): Promise<void> =>
    turns.run('mallory', never, async () => {
      log.push(name);
      const until = performance.now() + 10;
      while (performance.now() < until);
    });
  await block('first');
  const rest = [block('second'), block('third')];
  setImmediate(() => log.push('others'));
  expect(log).toEqual(['first']);
  await Promise.all(rest);
  expect(log.slice(0, 2)).toEqual(['first', 'others']);
  expect(log.slice(2)).toEqual(['second', 'third']);
});
