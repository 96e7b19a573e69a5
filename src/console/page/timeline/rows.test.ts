import { expect, test } from 'vitest';
import type { FeedEntry } from '../../api.ts';
import { parseFilter } from './filter.ts';
import { Rows } from './rows.ts';

const entry = (number: number, changes: Partial<FeedEntry> = {}): FeedEntry => ({
  number,
  at: '2026-01-01T00:00:00.000Z',
  direction: 'in',
  side: 'client',
  peer: 1,
  kind: 'request',
  bytes: 10,
  text: '{}',
  ...changes,
});

const response = (number: number, requestEntry: number, changes: Partial<FeedEntry> = {}): FeedEntry =>
  entry(number, { kind: 'response', direction: 'out', requestEntry, outcome: 'ok', durationMs: 5, ...changes });

function rowsOf(...entries: FeedEntry[]): Rows {
  const rows = new Rows();
  rows.add({ entries, peers: [{ number: 1, transport: 'stdio', client: 'claude' }], dropped: 0, calls: [] });
  return rows;
}

const keys = (rows: Rows, query = '', open: readonly number[] = []): number[] =>
  rows.shown(parseFilter(query), (row) => open.includes(row.key)).rows.map(({ row }) => row.key);

test('a request and its response are one row', () => {
  const rows = rowsOf(entry(1), entry(2), response(3, 1));
  expect(keys(rows)).toEqual([1, 2]);
  expect(rows.find(3)?.entry.number).toBe(1);
});

test('a response to an unknown request is a row of its own', () => {
  expect(keys(rowsOf(response(9, 4)))).toEqual([9]);
});

test('a group is one row that opens', () => {
  const rows = rowsOf(entry(1, { group: 'g' }), entry(2), entry(3, { group: 'g' }), response(4, 3, { group: 'g' }));
  expect(keys(rows)).toEqual([1, 2]);
  expect(keys(rows, '', [1])).toEqual([1, 3, 2]);
});

test('a group is shown if one of its rows matches', () => {
  const rows = rowsOf(entry(1, { group: 'g' }), entry(2), entry(3, { group: 'g', method: 'tasks/get' }));
  expect(keys(rows, 'method:tasks/*')).toEqual([1]);
});

test('a message that arrives twice is counted once', () => {
  const rows = rowsOf(entry(1), entry(2));
  rows.add({ entries: [entry(2), entry(3)], peers: [], dropped: 0, calls: [] });
  expect([keys(rows), rows.received]).toEqual([[1, 2, 3], 3]);
});

test('memory is limited, and what was removed or not received is counted', () => {
  const rows = new Rows();
  for (let at = 0; at < 100; at++) {
    const entries = Array.from({ length: 1_000 }, (_, index) => entry(at * 1_000 + index + 1));
    rows.add({ entries, peers: [], dropped: 1, calls: [] });
  }
  expect(rows.received).toBe(100_000);
  expect(rows.kept).toBeLessThanOrEqual(20_000);
  expect(rows.kept + rows.removed).toBe(100_000);
  expect(rows.dropped).toBe(100);
});

test.each([
  ['method:tools/*', [1, 2]],
  ['method:tools/call', [1, 2]],
  ['name:add', [1]],
  ['-name:add', [2, 3, 4]],
  ['is:error', [2, 4]],
  ['is:invalid', [4]],
  ['code:-32602', [2]],
  ['ms>100', [2]],
  ['ms>=5 ms<100', [1]],
  ['text:"two words"', [3]],
  ['peer:claude', [1, 2, 3, 4]],
  ['peer:cursor', []],
  ['is:open', [3]],
  ['two words', [3]],
  ['is:error method:tools/call', [2]],
  ['', [1, 2, 3, 4]],
  ['method:', [1, 2, 3, 4]],
  ['https://example.com', [4]],
])('filter %j', (query, expected) => {
  const rows = rowsOf(
    entry(1, { method: 'tools/call', name: 'add' }),
    entry(2, { method: 'tools/call', name: 'fail' }),
    entry(3, { method: 'ping', text: '{"a":"two words"}' }),
    entry(4, { kind: 'invalid', reason: 'see https://example.com' }),
    response(5, 1),
    response(6, 2, { outcome: 'rejected', code: -32602, durationMs: 250 }),
  );
  expect(keys(rows, query)).toEqual(expected);
});

test('a response changes whether its row matches', () => {
  const rows = rowsOf(entry(1));
  expect(keys(rows, 'is:error')).toEqual([]);
  rows.add({ entries: [response(2, 1, { outcome: 'failed' })], peers: [], dropped: 0, calls: [] });
  expect(keys(rows, 'is:error')).toEqual([1]);
});

test('a server that does not know a request with which a client probes it is no error', () => {
  const rows = rowsOf(
    entry(1, { method: 'server/discover' }),
    response(2, 1, { outcome: 'unsupported', code: -32601 }),
  );
  expect([keys(rows, 'is:error'), keys(rows, 'is:ok'), keys(rows, 'code:-32601')]).toEqual([[], [1], [1]]);
  expect(rows.errors).toBe(0);
});

test('a word without a meaning is named', () => {
  expect(parseFilter('is:blue ms>x').problems).toHaveLength(2);
});

test('a filter is tried on the newest rows first, and on the others the next time', () => {
  const rows = rowsOf(entry(1), entry(2), entry(3), entry(4));
  const filter = parseFilter('is:request');
  const isOpen = (): boolean => false;
  let left = 2;
  const search = (): unknown => {
    left = 2;
    const { rows: found, isComplete } = rows.shown(filter, isOpen, () => --left > 0);
    return [found.map(({ row }) => row.key), isComplete];
  };
  expect(search()).toEqual([[3, 4], false]);
  // What arrives meanwhile is searched, too.
  rows.add({ entries: [entry(5)], peers: [], dropped: 0, calls: [] });
  expect(search()).toEqual([[2, 3, 4, 5], false]);
  expect(search()).toEqual([[1, 2, 3, 4, 5], true]);
});
