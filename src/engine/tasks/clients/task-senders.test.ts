import { expect, test } from 'vitest';
import { TaskSenders } from './task-senders.ts';

test('the first process that can reach a client comes first, until it no longer can', () => {
  const senders = new TaskSenders();
  expect(senders.processesOf('t')).toBeUndefined();
  senders.set('t', 'a', true);
  senders.set('t', 'b', true);
  senders.set('t', 'a', true);
  expect(senders.processesOf('t')).toEqual(['a', 'b']);
  senders.set('t', 'a', false);
  senders.set('t', 'a', true);
  expect(senders.processesOf('t')).toEqual(['b', 'a']);
});

test('a process that has ended reaches no client', () => {
  const senders = new TaskSenders();
  senders.set('one', 'a', true);
  senders.set('both', 'a', true);
  senders.set('both', 'b', true);
  senders.set('other', 'b', true);
  expect(senders.left('a')).toEqual(['one', 'both']);
  expect(senders.processesOf('one')).toBeUndefined();
  expect(senders.processesOf('both')).toEqual(['b']);
});
