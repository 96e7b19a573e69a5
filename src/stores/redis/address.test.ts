import { expect, test } from 'vitest';
import { parseRedisAddress, showAddress } from './address.ts';

test.each([
  ['redis://localhost', { kind: 'server', hosts: [{ host: 'localhost', port: 6379 }], tls: false }],
  ['rediss://[::1]:6380/2', { kind: 'server', hosts: [{ host: '::1', port: 6380 }], tls: true, database: 2 }],
  [
    'redis://ada:p%40ss%3A@db.example:7000/0',
    { kind: 'server', hosts: [{ host: 'db.example', port: 7000 }], username: 'ada', password: 'p@ss:', database: 0 },
  ],
  ['redis://:secret@db', { hosts: [{ host: 'db', port: 6379 }], password: 'secret' }],
  [
    'rediss-sentinel://a,b:26380/3#main',
    {
      kind: 'sentinel',
      hosts: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 26380 },
      ],
      tls: true,
      database: 3,
      master: 'main',
    },
  ],
  [
    'redis-cluster://a:1,b:2',
    {
      kind: 'cluster',
      hosts: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
    },
  ],
])('%s', (url, expected) => {
  expect(parseRedisAddress(url)).toMatchObject(expected);
});

test.each([
  ['http://localhost', 'is not valid'],
  ['redis://', 'is not valid'],
  ['redis://a,b', 'has several hosts'],
  ['redis://a:99999', 'names a host or port'],
  ['redis://a/name', 'has a database that is not a number'],
  ['redis://a#main', 'has a part after #'],
  ['redis-sentinel://a', 'lacks the name'],
  ['redis-cluster://a/1', 'has a database'],
  ['redis://x:se%zzcret@a', 'percent signs'],
])('%s is rejected, without showing a password', (url, why) => {
  expect(() => parseRedisAddress(url)).toThrow(why);
  expect(() => parseRedisAddress(url)).not.toThrow(/cret/);
});

test('an address is shown without user and password', () => {
  expect(showAddress(parseRedisAddress('rediss-sentinel://u:p@a,[::1]:5/0#main'))).toBe(
    'rediss-sentinel://a:26379,[::1]:5#main',
  );
});
