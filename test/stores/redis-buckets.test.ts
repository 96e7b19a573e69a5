// Rate limits that several processes share through Redis.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/index.ts';
import { rateLimit } from '../../src/security/limits/index.ts';
import { openRedis, type RedisBuckets, type RedisStores } from '../../src/stores/redis/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import { hasRedis, patient, type RedisServer, startRedis } from '../support/redis.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const closers = useClosers();

describe.skipIf(!hasRedis())('rate limits in Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());

  async function open(name: string, port = redis.port): Promise<RedisStores> {
    const stores = await openRedis({ url: `redis://127.0.0.1:${port}`, name, ...patient });
    closers.push(() => stores.close());
    return stores;
  }

  /** A bucket that is not refilled during a test. */
  const slow = (key: string, burst: number, exact = false) => [{ key, intervalMs: 60_000, burst, exact }];
  const take = (buckets: RedisBuckets, given: ReturnType<typeof slow>) => buckets.find(given).take(performance.now());

  test('what one process used is missing in the others soon', async () => {
    const [a, b] = [await open('soon'), await open('soon')];
    const bucket = slow('caller', 10);
    for (let n = 0; n < 10; n++) expect(take(a.buckets, bucket)).toBe(0);
    expect(take(a.buckets, bucket)).toBeGreaterThan(0);
    // Whatever it admits before it knows is taken from later requests.
    let admitted = 0;
    await expect
      .poll(() => {
        const waitMs = take(b.buckets, bucket) as number;
        if (waitMs === 0) admitted++;
        return waitMs;
      })
      .toBeGreaterThan(0);
    expect(admitted).toBeLessThanOrEqual(10);
    await expect.poll(() => take(b.buckets, bucket) as number).toBeGreaterThan(60_000);
  });

  test('an exact limit admits not one too many, however many processes are asked at the same time', async () => {
    const all = [await open('exact'), await open('exact'), await open('exact')];
    const bucket = slow('caller', 25, true);
    const waits = await Promise.all(
      Array.from({ length: 90 }, (_, n) => take((all[n % 3] as RedisStores).buckets, bucket)),
    );
    expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(25);
    expect(Math.min(...waits.filter((waitMs) => waitMs > 0))).toBeGreaterThan(50_000);
  });

  test('a request takes from all its buckets or from none', async () => {
    const { buckets } = await open('several');
    for (const exact of [false, true]) {
      const [one, two] = [slow(`one ${exact}`, 1, exact), slow(`two ${exact}`, 5, exact)];
      expect(await take(buckets, [...one, ...two])).toBe(0);
      for (let n = 0; n < 3; n++) expect(await take(buckets, [...one, ...two])).toBeGreaterThan(0);
      for (let n = 0; n < 4; n++) expect(await take(buckets, two)).toBe(0);
      expect(await take(buckets, two)).toBeGreaterThan(0);
    }
  });

  test('while Redis is away, each process admits its share', async () => {
    const proxy = await startTcpProxy(redis.port);
    closers.push(() => proxy.close());
    const [a, b] = [await open('apart', proxy.port), await open('apart')];
    await expect.poll(() => a.bus.processes.size).toBe(2);
    proxy.cut();
    // Until it is known that nothing is exchanged.
    expect(take(a.buckets, slow('first', 1_000))).toBe(0);
    let admitted = 0;
    await expect
      .poll(() => {
        // Two tokens for each request, since there are two processes.
        const key = `probe ${admitted++}`;
        return [1, 2, 3, 4].map(() => take(a.buckets, slow(key, 4)) === 0);
      })
      .toEqual([true, true, false, false]);
    expect(await take(a.buckets, slow('exact', 4, true))).toBe(0);
    expect(b.bus.processes.size).toBe(2);
  });

  test('servers reject a caller that has used up its requests elsewhere, and calls ask nothing', async () => {
    const start = async () => {
      const stores = await open('servers');
      const server: Server = createServer({ name: 'servers', version: '1', logger: false });
      server.tool('echo', { run: () => 'x' });
      server.around(rateLimit([{ per: 'principal', requests: 5, windowMs: 600_000 }], { store: stores.buckets }));
      return { ...(await startHttp(closers, server)), stores };
    };
    const [a, b] = [await start(), await start()];
    const call = async ({ client }: typeof a): Promise<number> => (await client.modern('tools/list')).status;
    for (let n = 0; n < 5; n++) expect(await call(a)).toBe(200);
    expect(await call(a)).toBe(429);
    await expect.poll(() => call(b)).toBe(429);
    const before = a.stores.commands;
    for (let n = 0; n < 20; n++) expect(await call(a)).toBe(429);
    // At most an exchange that was under way.
    expect(a.stores.commands - before).toBeLessThanOrEqual(1);
  });
});
