import { describe, expect, test } from 'vitest';
import { formats } from './formats.ts';

const cases: Record<string, { good: string[]; bad: string[] }> = {
  email: {
    good: [
      'a@b.example',
      'first.last+tag@sub.example.org',
      "o'hara@x-y.example",
      'żółw@łąka.example',
      'root@localhost',
    ],
    bad: [
      '',
      '@',
      'a@',
      '@b',
      'a b@c.example',
      '.a@b.example',
      'a.@b.example',
      'a..b@c.example',
      'a@-b.example',
      'a@b..example',
      'a@b@c.example',
      `${'x'.repeat(65)}@b.example`,
      `a@${'x'.repeat(64)}.example`,
    ],
  },
  uri: {
    good: [
      'https://example.com',
      'https://example.com:8080/a?b=c#d',
      'mailto:a@b.example',
      'urn:isbn:0451450523',
      'file:///a/b',
      'http://[::1]/',
      'https://e.example/%20',
    ],
    bad: [
      '',
      'example.com',
      '/a/b',
      '//example.com',
      'https://',
      'https://exa mple.com',
      'https://e.example/%zz',
      'https://e.example/ł',
      'http://a:99999/',
      '1http://a',
      'https://a/{x}',
    ],
  },
  date: {
    good: ['2026-07-28', '2024-02-29', '2000-02-29', '0001-01-01'],
    bad: [
      '',
      '2026-7-28',
      '2026-13-01',
      '2026-00-01',
      '2026-04-31',
      '2026-01-00',
      '2023-02-29',
      '1900-02-29',
      '2026-07-28T00:00:00Z',
      '２０２６-07-28',
    ],
  },
  'date-time': {
    good: [
      '2026-07-28T09:30:00Z',
      '2026-07-28t09:30:00z',
      '2026-07-28 09:30:00.123456+05:30',
      '2016-12-31T23:59:60Z',
      '2017-01-01T05:29:60+05:30',
      '2016-12-31T15:59:60-08:00',
    ],
    bad: [
      '',
      '2026-07-28',
      '2026-07-28T09:30:00',
      '2026-07-28T24:00:00Z',
      '2026-07-28T09:60:00Z',
      '2026-07-28T09:30:61Z',
      '2026-07-28T09:30:60Z',
      '2026-02-30T09:30:00Z',
      '2026-07-28T09:30:00+24:00',
      '2026-07-28T09:30:00.Z',
    ],
  },
};

describe.each(Object.entries(cases))('%s', (name, { good, bad }) => {
  test.each(good)('accepts %j', (text) => {
    expect(formats.get(name)?.(text)).toBe(true);
  });
  test.each(bad)('rejects %j', (text) => {
    expect(formats.get(name)?.(text)).toBe(false);
  });
});

test('a long text is validated without backtracking', () => {
  // Quadratic or exponential patterns would never come back from a megabyte.
  const long = 'a'.repeat(1_000_000);
  for (const name of formats.keys()) {
    expect(formats.get(name)?.(`${long}@${long}`)).toBe(false);
    expect(formats.get(name)?.(`a@${'a-'.repeat(100_000)}`)).toBe(false);
  }
});
