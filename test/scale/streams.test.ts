// One change, announced in one process, reaches all open streams of all processes once.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { useClosers } from '../support/closers.ts';
import { isFullRun } from '../support/full.ts';
import { modernBody, modernHeaders } from '../support/http-client.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { childrenOf } from '../support/workers.ts';
import { ManyStreams } from './support/many-streams.ts';
import { startScheduleProgram } from './support/program.ts';

const closers = useClosers(afterEach);
/** MOORING_STREAMS=10000 for as many as one process accepts by default. */
const asked = Number(process.env['MOORING_STREAMS']);
const timeout = 240_000;
const token = (stream: number): string => `principal${stream % 10}-token-${'x'.repeat(20)}`;
const tokens = Array.from({ length: 10 }, (_, n) => `principal${n}:${token(n)}`).join(',');

describe.skipIf(process.platform !== 'linux')('on two processes', () => {
  const count = asked || (isFullRun ? 2_000 : 400);
  test(`a change reaches ${count} streams of workers, each of them once`, { timeout }, async () => {
    const program = await startScheduleProgram(['--workers', '2'], { MOORING_TOKEN: tokens });
    closers.push(() => program.close());
    const many = await ManyStreams.open([program.address], 'memo://1', count, token);
    closers.push(() => many.close());
    const pids = childrenOf(program.child.pid as number);
    for (let change = 1; change <= 3; change++) await announce(many, program.address, pids);
    expect(new Set(many.streams.map(({ told }) => told))).toEqual(new Set([3]));
  });

  const shared = asked || (isFullRun ? 2_000 : 200);
  test.skipIf(!hasRedis())(
    `a change reaches ${shared} streams with Redis, and is written once`,
    { timeout },
    async () => {
      const redis = await startRedis();
      closers.push(() => redis.close());
      const env = {
        MOORING_TOKEN: tokens,
        MOORING_KEY: randomBytes(32).toString('base64'),
        MOORING_REDIS_URL: redis.url,
      };
      const programs = [await startScheduleProgram([], env), await startScheduleProgram([], env)];
      for (const program of programs) closers.push(() => program.close());
      const addresses = programs.map(({ address }) => address);
      const many = await ManyStreams.open(addresses, 'memo://1', shared, token);
      closers.push(() => many.close());
      const addedEntries = async (): Promise<number> =>
        Number(/cmdstat_xadd:calls=(\d+)/.exec(await redis.command('INFO', 'commandstats'))?.[1]);
      const pids = programs.map(({ child }) => child.pid as number);
      // When all have been told of the first change, nothing more is written about their opening.
      await announce(many, addresses[0] as string, pids);
      const before = await addedEntries();
      await announce(many, addresses[0] as string, pids);
      await announce(many, addresses[1] as string, pids);
      expect(await redis.command('EVAL', countChanges, '1', '{mooring:everything}:bus')).toBe(':3\r\n');
      // Nothing for each stream. A process that was stopped for a while tells the others that it is still there.
      expect((await addedEntries()) - before).toBeLessThan(10);
      expect(new Set(many.streams.map(({ told }) => told))).toEqual(new Set([3]));
    },
  );
});

/** Counts the entries of the bus that announce a change. */
const countChanges = `
  local count = 0
  for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do
    if string.find(entry[2][10] or '', '"changes ', 1, true) then count = count + 1 end
  end
  return count`;

/** Announces a change and waits until all streams have been told once more. `pids`: the processes that tell them. */
async function announce({ streams }: ManyStreams, url: string, pids: readonly number[]): Promise<void> {
  const change = 1 + Math.min(...streams.map(({ told }) => told));
  const [cpuBefore, ownBefore] = [cpuMs(pids), cpuMs([process.pid])];
  const sentAtMs = performance.now();
  await touch(url);
  await expect.poll(() => streams.filter(({ told }) => told < change).length, { timeout: 60_000 }).toBe(0);
  const lastMs = Math.max(...streams.map(({ lastToldAtMs }) => lastToldAtMs)) - sentAtMs;
  const cpu = cpuMs(pids).map((ms, n) => ms - (cpuBefore[n] as number));
  const own = (cpuMs([process.pid])[0] as number) - (ownBefore[0] as number);
  const figures = `within ${Math.round(lastMs)} ms; CPU of the servers ${cpu.join(' and ')} ms, of the clients ${own} ms`;
  console.info(`change ${change}: ${streams.length} streams were told ${figures}`);
}

/** The CPU time of processes so far, in steps of 10 ms. */
const cpuMs = (pids: readonly number[]): number[] =>
  pids.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  });

/** By a stateless request, which needs nothing that processes share. */
async function touch(url: string): Promise<void> {
  const params = { name: 'touch', arguments: { uri: 'memo://1' } };
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token(0)}` };
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...modernHeaders('tools/call', params), ...headers },
    body: JSON.stringify(modernBody('tools/call', params)),
  });
  expect(response.status).toBe(200);
  await response.text();
}
