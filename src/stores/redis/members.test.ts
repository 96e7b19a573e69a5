import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLogger } from '../../common/logger.ts';
import type { RedisConnection } from './connection.ts';
import { Members } from './members.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const place = (connection: string): string => JSON.stringify({ host: 'h', pid: 1, connection });

/** Redis with entries of other processes: an empty place means that the entry is not old. */
function fakeRedis(entries: Record<string, string>) {
  const redis = {
    entries,
    isKnown: true,
    epoch: 'epoch',
    connections: new Set(['1']),
    clientError: '',
    lists: 0,
    async send(...[, what, , ...ids]: readonly string[]): Promise<string | number> {
      if (redis.clientError !== '') throw new Error(redis.clientError);
      if (what === 'ID') return 1;
      redis.lists++;
      return ids.flatMap((id) => (redis.connections.has(id) ? [`id=${id} addr=127.0.0.1:1`] : [])).join('\n');
    },
    async run({ text }: { readonly text: string }, _keys: unknown, args: readonly (string | number)[]) {
      if (!text.includes('removed'))
        return ['ok', redis.epoch, redis.isKnown ? 1 : 0, ...Object.entries(entries).flat()];
      const removed = args.slice(1) as string[];
      for (const name of removed) delete entries[name];
      return removed;
    },
  };
  return redis;
}

function startMembers(redis: ReturnType<typeof fakeRedis>) {
  const options = { name: 'n', keys: [], prefix: '{p}:', mailbox: '{p}:to:me' };
  const members = new Members(redis as unknown as RedisConnection, 'me', options, silentLogger);
  const seen: { others: readonly string[]; forgotten: number } = { others: [], forgotten: 0 };
  members.start(
    (others) => {
      seen.others = others;
    },
    () => seen.forgotten++,
    () => seen.others,
  );
  return { members, seen };
}

/** Longer than other processes may take to connect again. */
const settledMs = 6_000;

test('a process whose entry is old and whose connection Redis has lost has ended', async () => {
  const redis = fakeRedis({ killed: '', slow: '', well: '' });
  const { seen } = startMembers(redis);
  await vi.advanceTimersByTimeAsync(settledMs);
  expect([seen.others, redis.lists]).toEqual([['killed', 'slow', 'well'], 0]);
  redis.connections.add('3');
  Object.assign(redis.entries, { killed: place('2'), slow: place('3') });
  await vi.advanceTimersByTimeAsync(500);
  expect(seen.others).toEqual(['slow', 'well']);
  expect(Object.keys(redis.entries)).toEqual(['slow', 'well']);
});

test('after it lost its own connection, a process gives the others time to connect again', async () => {
  const redis = fakeRedis({ other: '' });
  const { members, seen } = startMembers(redis);
  await vi.advanceTimersByTimeAsync(settledMs);
  members.connectionLost();
  redis.entries['other'] = place('2');
  await vi.advanceTimersByTimeAsync(4_000);
  expect([seen.others, redis.lists]).toEqual([['other'], 0]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(seen.others).toEqual([]);
});

test('without the permission to look at connections, old entries are only left to their time limit', async () => {
  const redis = fakeRedis({ other: place('2') });
  redis.clientError = 'NOPERM this user has no permissions to run the command';
  const { members, seen } = startMembers(redis);
  await vi.advanceTimersByTimeAsync(settledMs);
  expect(seen.others).toEqual(['other']);
  expect(members.freshUntilMs).toBeGreaterThan(0);
});

test('a process learns that the others took it for one that has ended', async () => {
  const redis = fakeRedis({});
  const { seen } = startMembers(redis);
  await vi.advanceTimersByTimeAsync(500);
  expect(seen.forgotten).toBe(0);
  redis.isKnown = false;
  await vi.advanceTimersByTimeAsync(500);
  expect(seen.forgotten).toBe(1);
});

test('a process whose entry was lost with the data of Redis, or was too old after an outage, has some seconds to renew it', async () => {
  for (const isEmptied of [true, false]) {
    const redis = fakeRedis({ alive: '', killed: '', left: '' });
    const { members, seen } = startMembers(redis);
    await vi.advanceTimersByTimeAsync(settledMs);
    for (const name of Object.keys(redis.entries)) delete redis.entries[name];
    if (isEmptied) redis.epoch = 'another';
    else members.connectionLost();
    await vi.advanceTimersByTimeAsync(500);
    expect(seen.others).toEqual(['alive', 'killed', 'left']);
    seen.others = ['alive', 'killed'];
    redis.entries['alive'] = '';
    await vi.advanceTimersByTimeAsync(3_500);
    expect(seen.others).toEqual(['alive', 'killed']);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(seen.others).toEqual(['alive']);
  }
});
