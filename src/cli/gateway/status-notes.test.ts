import { expect, test } from 'vitest';
import { statusNotes } from './status-notes.ts';

test('input requests that could belong to several callers, and text on stdout, are noted', () => {
  expect(statusNotes({ slug: 'a' })).toEqual([]);
  const [input, noise] = statusNotes({ slug: 'a', ambiguousInput: true, noise: 'hello\u001b[2J' });
  expect(input).toMatch(/^a: input requests could belong to several callers .*"isolation": "session"/);
  expect(noise).toMatch(/^a: prints text that is not a message: hello/);
  expect(noise).not.toContain('\u001b');
});
