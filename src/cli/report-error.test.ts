import { afterEach, expect, test, vi } from 'vitest';
import { reportError } from './report-error.ts';

afterEach(() => void vi.restoreAllMocks());

test('the remedy of an error is printed after its message', () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const error = Object.assign(new Error('Directory not allowed'), { remedy: 'Set runAs.' });
  expect(reportError(error, false)).toBe(1);
  expect(reportError(Object.assign(new Error('Busy'), { remedy: '' }), false)).toBe(1);
  expect(written.mock.calls.map(([text]) => text)).toEqual([
    'mooring: Directory not allowed\nSet runAs.\n',
    'mooring: Busy\n',
  ]);
});
