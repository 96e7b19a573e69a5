// Ten principals with the same request ids on several processes: none may ever receive a byte that belongs to another.
import { afterAll, expect, test } from 'vitest';
import { useClosers } from '../support/closers.ts';
import { isFullRun } from '../support/full.ts';
import { hasRedis } from '../support/redis.ts';
import { failures, Load } from './support/load.ts';
import { startScheduleProgram } from './support/program.ts';
import { RedisPrograms } from './support/redis-programs.ts';

const closers = useClosers(afterAll);
const principals = Array.from({ length: 10 }, (_, n) => `principal${n}`);
const token = (client: number): string => `${principals[client % 10]}-token-${'x'.repeat(20)}`;
const calls = Number(process.env['MOORING_CROSSTALK_CALLS'] ?? (isFullRun ? 20_000 : 1_000));

const tokens = { MOORING_TOKEN: principals.map((name, n) => `${name}:${token(n)}`).join(',') };
const timeout = 300_000;

async function expectOwnResponses(url: string): Promise<void> {
  const load = new Load({ clients: { stateless: 20, session: 20, stream: 10 }, url: () => url, token });
  await load.more(calls);
  const requests = await load.stop();
  expect(requests.length).toBeGreaterThanOrEqual(calls);
  expect(failures(requests)).toEqual([]);
}

test(`${calls} mixed calls of ten principals with two workers: each receives its own`, { timeout }, async () => {
  const program = await startScheduleProgram(['--workers', '2'], tokens);
  closers.push(() => program.close());
  await expectOwnResponses(program.address);
});

test.skipIf(!hasRedis())(
  `${calls} mixed calls of ten principals through a random one of three processes with Redis: each receives its own`,
  { timeout },
  async () => {
    const all = await RedisPrograms.start(3, [], tokens);
    closers.push(() => all.close());
    await expectOwnResponses(all.router.url);
  },
);
