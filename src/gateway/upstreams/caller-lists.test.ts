import { afterEach, expect, test, vi } from 'vitest';
import { upstream } from '../../../test/gateway/fixture.ts';
import type { Tool } from '../../protocol/model.ts';
import type { UpstreamLists } from '../contract.ts';
import { CallerLists } from './caller-lists.ts';

afterEach(() => {
  vi.useRealTimers();
});

const tool = (name: string, description = ''): Tool => ({ name, description, inputSchema: { type: 'object' } });
const listsOf = (...tools: Tool[]): UpstreamLists => ({
  tools,
  prompts: [],
  resources: [],
  resourceTemplates: [],
  cache: { ttlMs: 1_000, cacheScope: 'private' },
});
const newLists = (forwardHeaders: readonly string[] = []): CallerLists =>
  new CallerLists(upstream('one', { isolation: 'principal', forwardHeaders }), {});
const caller = { headers: undefined };
const namesOf = (lists: CallerLists, key: string) => lists.get(key)?.shown.tools.map(({ name }) => name);

test('each key has its own; equal lists are the same object, whatever time they may be cached', () => {
  const lists = newLists();
  lists.update('ada', listsOf(tool('a')), caller);
  lists.update('bob', listsOf(tool('b')), caller);
  lists.update('eve', { ...listsOf(tool('a')), cache: { ttlMs: 7, cacheScope: 'private' } }, caller);
  expect([namesOf(lists, 'ada'), namesOf(lists, 'bob'), namesOf(lists, 'none')]).toEqual([['a'], ['b'], undefined]);
  expect(lists.get('eve')).toBe(lists.get('ada'));
  expect([lists.size, lists.all.length]).toEqual([3, 2]);
});

test('reading the same again is no change', () => {
  const lists = newLists();
  expect(lists.update('ada', listsOf(tool('a')), caller)).toMatchObject({ before: undefined, isChange: false });
  const { before, after, isChange } = lists.update('ada', listsOf(tool('a')), caller);
  expect(before).toBe(after);
  expect(isChange).toBe(false);
  expect(lists.update('ada', listsOf(tool('b')), caller).isChange).toBe(true);
  expect(lists.all).toHaveLength(1);
});

test('a caller that got no lists is notified when they are there, once', () => {
  const lists = newLists();
  lists.missed('ada');
  expect(lists.update('ada', listsOf(tool('a')), caller).isChange).toBe(true);
  expect(lists.update('ada', listsOf(tool('a')), caller).isChange).toBe(false);
  lists.missed('bob');
  lists.delete('bob');
  expect(lists.update('bob', listsOf(tool('a')), caller).isChange).toBe(false);
});

test('lists that were read without a caller are not those of callers with headers', () => {
  const [plain, withHeaders] = [newLists(), newLists(['x-user'])];
  for (const lists of [plain, withHeaders]) lists.update('', listsOf(tool('a')), undefined);
  expect(namesOf(plain, '')).toEqual(['a']);
  expect(namesOf(withHeaders, '')).toBeUndefined();
  expect(withHeaders.all).toHaveLength(1);
  withHeaders.update('', listsOf(tool('a')), caller);
  expect(namesOf(withHeaders, '')).toEqual(['a']);
});

test('they expire when their server says so', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const lists = newLists();
  lists.update('ada', listsOf(tool('a')), caller);
  expect([lists.isExpired('ada'), lists.isExpired('none')]).toEqual([false, false]);
  vi.setSystemTime(Date.now() + 1_000);
  expect(lists.isExpired('ada')).toBe(true);
});

test('a thousand keys are kept, the least recently used go first and are notified when they come back', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const lists = newLists();
  for (let n = 0; n <= 1_000; n++) {
    vi.setSystemTime(n + 1);
    if (n === 1_000) lists.get('key 0');
    lists.update(`key ${n}`, listsOf(tool(`tool ${n}`)), caller);
  }
  expect([lists.size, lists.all.length]).toEqual([1_000, 1_000]);
  expect([namesOf(lists, 'key 0'), namesOf(lists, 'key 1')]).toEqual([['tool 0'], undefined]);
  expect(lists.update('key 1', listsOf(tool('tool 1')), caller)).toMatchObject({ before: undefined, isChange: true });
});

test('long lists are kept up to 64 Mi characters; those that callers share count once', () => {
  const lists = newLists();
  const long = (n: number): UpstreamLists => listsOf(tool('long', `${n}`.padEnd(24 * 1024 * 1024, ' ')));
  for (const key of ['a', 'b', 'c']) lists.update(key, long(1), caller);
  lists.update('d', long(2), caller);
  expect(lists.size).toBe(4);
  lists.update('e', long(3), caller);
  expect(lists.all).toHaveLength(2);
  // Even one that is longer than that is kept until the next one comes.
  lists.update('f', listsOf(tool('long', ' '.repeat(65 * 1024 * 1024))), caller);
  expect([lists.size, namesOf(lists, 'f')]).toEqual([1, ['long']]);
});

test('lists that were not used for an hour go when others are read', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const lists = newLists();
  lists.update('ada', listsOf(tool('a')), caller);
  lists.update('bob', listsOf(tool('b')), caller);
  vi.setSystemTime(Date.now() + 59 * 60_000);
  lists.get('bob');
  vi.setSystemTime(Date.now() + 2 * 60_000);
  lists.update('eve', listsOf(tool('e')), caller);
  expect([namesOf(lists, 'ada'), namesOf(lists, 'bob')]).toEqual([undefined, ['b']]);
});

test('other headers may give other lists; callers are notified of that once a minute', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(1_000_000);
  const lists = newLists(['x-team']);
  const read = (team: string): boolean =>
    lists.update('ada', listsOf(tool(team)), { headers: { 'x-team': team } }).isChange;
  expect([read('red'), read('blue'), read('red'), read('blue')]).toEqual([false, true, false, false]);
  vi.setSystemTime(Date.now() + 60_000);
  expect([read('red'), read('blue')]).toEqual([true, false]);
  // With the same headers, it is a change of the server.
  expect(lists.update('ada', listsOf(tool('new')), { headers: { 'x-team': 'blue' } }).isChange).toBe(true);
  // Without a caller, nothing that a caller sees is known.
  expect(lists.update('ada', listsOf(), undefined).isChange).toBe(false);
  expect(namesOf(lists, 'ada')).toEqual(['new']);
});
