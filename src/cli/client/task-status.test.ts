import { expect, test } from 'vitest';
import { toProgress } from './task-status.ts';

test('a bar shows how far a task is, if its status message says so', () => {
  const table: [string, number | undefined, number | undefined][] = [
    ['3/8', 3, 8],
    ['page 3 of 8', 3, 8],
    ['12.5 % done', 12.5, 100],
    ['40%', 40, 100],
    ['Gathering sources...', undefined, undefined],
    ['0/0', undefined, undefined],
    ['version 3', undefined, undefined],
  ];
  for (const [message, progress, total] of table) {
    expect(toProgress(message)).toEqual(progress === undefined ? { message } : { progress, total, message });
  }
});
