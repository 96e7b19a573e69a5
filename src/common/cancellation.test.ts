import { expect, test } from 'vitest';
import { Cancellation } from './cancellation.ts';

test('a cancellation calls every listener once, with its reason known', () => {
  const cancellation = new Cancellation();
  const seen: unknown[] = [];
  cancellation.addEventListener('abort', () => seen.push(['first', cancellation.reason]));
  cancellation.addEventListener('abort', () => seen.push(['second', cancellation.aborted]));
  cancellation.abort('why');
  cancellation.abort('again');
  expect(seen).toEqual([
    ['first', 'why'],
    ['second', true],
  ]);
  expect(cancellation.reason).toBe('why');
});

test('a removed listener is not called, whichever it was', () => {
  const cancellation = new Cancellation();
  const seen: string[] = [];
  const listeners = ['a', 'b', 'c'].map((name) => () => seen.push(name));
  for (const listener of listeners) cancellation.addEventListener('abort', listener);
  cancellation.removeEventListener('abort', listeners[0] as () => void);
  cancellation.removeEventListener('abort', listeners[2] as () => void);
  cancellation.abort('why');
  expect(seen).toEqual(['b']);
});

test('a listener that is added afterwards is not called, as with an AbortSignal', () => {
  const cancellation = new Cancellation();
  cancellation.abort('why');
  let isCalled = false;
  cancellation.addEventListener('abort', () => {
    isCalled = true;
  });
  expect([cancellation.aborted, isCalled]).toEqual([true, false]);
});
