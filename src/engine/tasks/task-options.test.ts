import { expect, test } from 'vitest';
import { createServer } from '../server.ts';
import { resolveTaskOptions, type TaskOptions } from './task-options.ts';

test('a name is short for an object, and defaults depend on the support', () => {
  expect(resolveTaskOptions('tool "a"', undefined)).toBeUndefined();
  expect(resolveTaskOptions('tool "a"', 'forbidden')).toBeUndefined();
  expect(resolveTaskOptions('tool "a"', 'optional')).toMatchObject({
    start: 'when-slow',
    recover: 'fail',
    inline: true,
  });
  expect(resolveTaskOptions('tool "a"', 'required')).toMatchObject({ start: 'immediately' });
  expect(resolveTaskOptions('tool "a"', { dedupe: () => 'k' })).toMatchObject({ start: 'immediately' });
  expect(resolveTaskOptions('tool "a"', { start: 'external' })).toMatchObject({ inline: false });
});

test.each<[TaskOptions, string]>([
  [{ support: 'maybe' as never }, 'support must be one of forbidden, optional, required, not "maybe"'],
  [{ start: 'later' as never }, 'start must be one of immediately, when-slow, on-detach, external, not "later"'],
  [{ recover: 'again' as never }, 'recover must be "fail" or "replay", not "again"'],
  [{ ttlMs: 0 }, 'ttlMs must be a number above 0, not 0'],
  [{ pollMs: [1_000, 10] }, 'pollMs must be two integers above 0'],
  [{ pollMs: 1_000 as never }, 'pollMs must be two integers above 0'],
  [{ dedupe: () => 'k', start: 'when-slow' }, 'dedupe needs start "immediately"'],
  [{ poll: () => ({ status: 'working' }) }, 'poll needs start "external"'],
  [{ start: 'external', inline: true }, 'a tool with start "external" cannot be called inline'],
])('%j is rejected when the tool is registered', (task, message) => {
  const server = createServer({ name: 'test', version: '1' });
  expect(() => server.tool('work', { task, run: () => 'done' })).toThrow(`tool "work", task: ${message}`);
});
