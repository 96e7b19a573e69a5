import { expect, test } from 'vitest';
import { chooseScopes, includesAll, type ScopeSources } from './scopes.ts';

const choose = (sources: Partial<ScopeSources>) =>
  chooseScopes({
    challenged: undefined,
    resource: undefined,
    server: undefined,
    configured: undefined,
    previous: undefined,
    offline: true,
    ...sources,
  });

test('the challenge decides, then the list of the resource, then nothing is asked for', () => {
  expect(choose({ challenged: ['a'], resource: ['b', 'c'] })).toEqual(['a']);
  expect(choose({ resource: ['b', 'c'] })).toEqual(['b', 'c']);
  expect(choose({})).toEqual([]);
});

test('an empty challenge is an answer', () => {
  expect(choose({ challenged: [], resource: ['b'] })).toEqual([]);
});

test('configured scopes replace the list of the resource but never the challenge', () => {
  expect(choose({ configured: ['mine'], resource: ['b'] })).toEqual(['mine']);
  expect(choose({ configured: ['mine'], challenged: ['a'] })).toEqual(['mine', 'a']);
});

test('a step-up keeps what was asked for before', () => {
  expect(choose({ previous: ['read'], challenged: ['write', 'read'] })).toEqual(['read', 'write']);
});

test('offline access is asked for exactly where the authorization server lists it', () => {
  expect(choose({ challenged: ['a'], server: ['a', 'offline_access'] })).toEqual(['a', 'offline_access']);
  expect(choose({ challenged: ['a'], server: ['a'] })).toEqual(['a']);
  expect(choose({ challenged: ['a', 'offline_access'], server: undefined })).toEqual(['a']);
  expect(choose({ previous: ['offline_access'], challenged: ['a'], server: ['a'] })).toEqual(['a']);
  expect(choose({ challenged: ['a'], server: ['offline_access'], offline: false })).toEqual(['a']);
});

test('everything wanted must be there', () => {
  expect(includesAll(['a', 'b'], ['a'])).toBe(true);
  expect(includesAll(['a'], [])).toBe(true);
  expect(includesAll([], ['a'])).toBe(false);
});
