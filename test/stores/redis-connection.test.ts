// How Redis is reached: passwords, TLS, Sentinel, clusters, and what is reported when it cannot be.
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { silentLogger } from '../../src/common/logger.ts';
import { openRedis, type RedisOptions, type RedisStores } from '../../src/stores/redis/index.ts';
import { createCertificate } from '../support/certificate.ts';
import { useClosers } from '../support/closers.ts';
import { freePort, hasRedis, patient, startRedis, startSentinel } from '../support/redis.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const closers = useClosers();

async function open(options: Omit<RedisOptions, 'name'>): Promise<RedisStores> {
  const stores = await openRedis({ name: 'test', ...patient, ...options });
  closers.push(() => stores.close());
  return stores;
}

async function start(...args: readonly string[]) {
  const redis = await startRedis(args);
  closers.push(() => redis.close());
  return redis;
}

/** Another program than Redis. Returns its port. */
async function listen(onData: (socket: Socket, data: string) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).on('data', (data) => onData(socket, data.toString())));
  });
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** On a busy machine a look-up may take longer than it may, and events are stored later than is waited for. */
const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, 20_000);

/** Everything that a server does with Redis, once. */
async function useAll({ store, bus, buckets, sharedEventLog, tasks }: RedisStores): Promise<void> {
  expect(await store.add('mark', true, 60_000)).toBe(true);
  expect(await store.add('mark', true, 60_000)).toBe(false);
  expect(await store.replace('state', undefined, { n: 1 }, 60_000)).toBe(true);
  await eventually(async () => expect(await store.get('state')).toEqual({ n: 1 }));
  expect(await bus.publish('topic', null)).toBeGreaterThan(0);
  expect(await buckets.find([{ key: 'k', intervalMs: 1_000, burst: 2, exact: true }]).take(0)).toBe(0);
  await sharedEventLog.begin('session', 'p1', [1]);
  sharedEventLog.append('session', 'p1', { sequence: 1, text: '{"n":1}' });
  await sharedEventLog.finish('session', 'p1');
  await eventually(async () =>
    expect(await sharedEventLog.read('session', 'p1')).toEqual({
      events: [
        { sequence: 0, text: '' },
        { sequence: 1, text: '{"n":1}' },
      ],
      requests: [1],
      finished: true,
    }),
  );
  expect(await tasks.count()).toEqual({ active: 0, kept: 0 });
}

// They mostly wait. Concurrent tests need the `expect` of their own.
describe.skipIf(!hasRedis())('Redis', { concurrent: true }, () => {
  test('one server', async ({ expect }) => {
    const { url } = await start();
    const stores = await open({ url });
    await useAll(stores);
    expect(stores.address).toBe(url);
  });

  test('a server with a password, which is needed', async ({ expect }) => {
    const { port } = await start('--requirepass', 'pass@word');
    await useAll(await open({ url: `redis://127.0.0.1:${port}/3`, password: 'pass@word' }));
    await useAll(await open({ url: `redis://:pass%40word@127.0.0.1:${port}`, prefix: 'other' }));
    const rejected = openRedis({ name: 'test', url: `redis://127.0.0.1:${port}`, password: 'wrong' });
    await expect(rejected).rejects.toThrow(/cannot be used: WRONGPASS/);
    await expect(rejected).rejects.not.toThrow(/pass@word|wrong/);
  });

  test('TLS, with an authority that is trusted', async ({ expect }) => {
    const folder = temporaryFolder();
    const { cert, key } = createCertificate('localhost', 10);
    writeFileSync(join(folder, 'cert.pem'), cert);
    writeFileSync(join(folder, 'key.pem'), key);
    const port = await freePort();
    await start(
      ...['--tls-port', String(port), '--tls-cert-file', join(folder, 'cert.pem')],
      ...['--tls-key-file', join(folder, 'key.pem'), '--tls-auth-clients', 'no'],
    );
    const url = `rediss://localhost:${port}`;
    await useAll(await open({ url, tls: { ca: cert } }));
    await expect(openRedis({ name: 'test', url })).rejects.toThrow(/cannot be used/);
  });

  test('an error of Redis has no full stop of its own, and a remedy', async ({ expect }) => {
    const { url } = await start('--requirepass', 'secret');
    await expect(openRedis({ name: 'test', url })).rejects.toThrow(/NOAUTH [^.]+\. It requires a password: set it$/);
  });

  test('a server that Sentinel names', { timeout: 60_000 }, async () => {
    const redis = await start();
    const sentinel = await startSentinel('main', redis.port);
    closers.push(() => sentinel.close());
    await useAll(await open({ url: `redis-sentinel://127.0.0.1:${sentinel.port}#main` }));
  });

  test('a server that Sentinel names, beside others that never respond', { timeout: 60_000 }, async ({ expect }) => {
    const redis = await start();
    const sentinel = await startSentinel('main', redis.port);
    closers.push(() => sentinel.close());
    let asked = '';
    const silent = await listen((_socket, data) => {
      asked += data;
    });
    const url = `redis-sentinel://127.0.0.1:${silent},127.0.0.1:${silent},127.0.0.1:${sentinel.port}#main`;
    const stores = await open({ url });
    const before = asked;
    await useAll(stores);
    // The Sentinels are asked every second, and commands wait for that: only those that respond may be asked.
    const connections = async (): Promise<number> =>
      Number(/total_connections_received:(\d+)/.exec(await sentinel.command('INFO', 'stats'))?.[1]);
    const known = await connections();
    let own = 0;
    await expect.poll(async () => (await connections()) - known - ++own, { timeout: 20_000 }).toBeGreaterThan(4);
    expect(asked).toBe(before);
  });

  test('after a failover the new server is used, and nothing that it has is lost', { timeout: 180_000 }, async ({
    expect,
  }) => {
    const first = await start();
    const second = await start('--replicaof', '127.0.0.1', String(first.port));
    const sentinel = await startSentinel('main', first.port);
    closers.push(() => sentinel.close());
    const { store, bus } = await open({ url: `redis-sentinel://127.0.0.1:${sentinel.port}#main`, waitReplicas: 1 });
    await expect
      .poll(() => store.add('mark', true, 600_000).then(String, () => 'later'), { timeout: 30_000 })
      .not.toBe('later');
    const heard: unknown[] = [];
    bus.listen('topic', (data) => void heard.push(data));
    const { epoch } = bus;
    await expect.poll(() => sentinel.command('SENTINEL', 'REPLICAS', 'main')).toContain(String(second.port));
    await first.kill();
    // A Sentinel that was stopped for two seconds does nothing for thirty.
    await expect
      .poll(() => sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main'), { timeout: 80_000 })
      .toContain(String(second.port));
    await expect.poll(() => store.get('mark').catch(() => 'away'), { timeout: 40_000 }).toBe(true);
    await bus.publish('topic', 'after');
    await expect.poll(() => heard, { timeout: 20_000 }).toEqual(['after']);
    expect(bus.epoch).toBe(epoch);
  });

  test('a cluster', { timeout: 60_000 }, async ({ expect }) => {
    const redis = await start('--cluster-enabled', 'yes');
    await redis.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await expect.poll(() => redis.command('CLUSTER', 'INFO'), { timeout: 20_000 }).toContain('cluster_state:ok');
    await useAll(await open({ url: `redis-cluster://127.0.0.1:${redis.port}` }));
  });

  test('a server that is not there is reported with its address', async ({ expect }) => {
    const port = await freePort();
    const opening = openRedis({ name: 'test', url: `redis://:secret@127.0.0.1:${port}` });
    await expect(opening).rejects.toThrow(`Redis at redis://127.0.0.1:${port} cannot be used: connect ECONNREFUSED`);
  });

  test('what is wrong with an address is reported in time, once, with what to do', { timeout: 60_000 }, async ({
    expect,
  }) => {
    const folder = temporaryFolder();
    const { cert, key } = createCertificate('localhost', 10);
    writeFileSync(join(folder, 'cert.pem'), cert);
    writeFileSync(join(folder, 'key.pem'), key);
    const tls = await freePort();
    const { port: plain } = await start(
      ...['--tls-port', String(tls), '--tls-cert-file', join(folder, 'cert.pem')],
      ...['--tls-key-file', join(folder, 'key.pem'), '--tls-auth-clients', 'no'],
    );
    const silent = await listen(() => {});
    const http = await listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const agreeing = await listen((socket, data) => {
      for (const _ of data.matchAll(/^\*\d+\r$/gm)) socket.write('+OK\r\n');
    });
    const cases: readonly [url: string, reported: RegExp][] = [
      [`redis://127.0.0.1:${tls}`, /: it closed the connection\. .*use rediss:\/\/ if it requires TLS$/],
      [`rediss://127.0.0.1:${plain}`, /: it does not use TLS\. .*use redis:\/\/ if it does not use TLS$/],
      [`rediss://127.0.0.1:${silent}`, /: it did not respond in time\. .*use redis:\/\/ if it does not use TLS$/],
      [`rediss://127.0.0.1:${http}`, /: it does not use TLS\. .*use redis:\/\/ if it does not use TLS$/],
      [`rediss://localhost:${tls}`, /self-signed certificate.*\. Set the authority of its certificate/],
      [`redis://127.0.0.1:${http}`, /: what responds there is not Redis\. Check the host and the port/],
      [`redis://127.0.0.1:${agreeing}`, /: what responds there is not Redis\. Check the host and the port/],
      [`redis://127.0.0.1:${silent}`, /: it did not respond in time\. Check the host and the port/],
      [`redis-sentinel://127.0.0.1:${silent}#main`, /: it did not respond in time\. Check the host and the port/],
      [`redis-sentinel://127.0.0.1:${plain}#main`, /It is not a Sentinel: use redis:\/\//],
      [`redis-cluster://127.0.0.1:${silent}`, /: it did not respond in time\. Check the host and the port/],
      [`redis-cluster://127.0.0.1:${plain}`, /It is not in a cluster: use redis:\/\/$/],
      [`redis://127.0.0.1:${plain}/99`, /It has no database 99: use a smaller number/],
      ['redis://unknown.invalid', /ENOTFOUND|EAI_AGAIN.*Check the name of the host$/],
    ];
    const logger = { ...silentLogger, warn: vi.fn() };
    const rejected = cases.map(async ([url, reported]) => {
      const { message } = await openRedis({ name: 'test', url, logger }).then(
        () => new Error('it was opened'),
        (error: Error) => error,
      );
      expect(message, url).toMatch(reported);
      expect(message, url).not.toContain('\n');
    });
    await Promise.all(rejected);
    // They are not tried again.
    expect(logger.warn).not.toHaveBeenCalled();
  });

  test('a look-up ends after its time limit, the next one fails at once, and it works again when Redis does', async ({
    expect,
  }) => {
    const redis = await start();
    const proxy = await startTcpProxy(redis.port);
    closers.push(() => proxy.close());
    const { store } = await open({ url: `redis://127.0.0.1:${proxy.port}`, lookUpTimeoutMs: 250 });
    await store.set('key', 1, 60_000);
    proxy.pause();
    const outcomes: string[] = [];
    const look = (name: string): Promise<unknown> => store.get('key').catch(() => outcomes.push(name));
    // Both are sent; the first one that fails makes later ones fail without being sent.
    await look('slow');
    await Promise.race([
      look('at once'),
      new Promise((resolve) => setTimeout(resolve, 200)).then(() => outcomes.push('late')),
    ]);
    expect(outcomes).toEqual(['slow', 'at once']);
    proxy.resume();
    await expect.poll(() => store.get('key').catch(() => 'away')).toBe(1);
  });

  test('a full Redis is reported as one that cannot be reached, and used again when it has space', async ({
    expect,
  }) => {
    const redis = await start('--maxmemory-policy', 'noeviction');
    const { store } = await open({ url: redis.url });
    await store.set('key', 1, 60_000);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    await expect(store.add('mark', true, 60_000)).rejects.toMatchObject({ http: { status: 503 } });
    await eventually(async () => expect(await store.get('key')).toBe(1));
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    expect(await store.add('mark', true, 60_000)).toBe(true);
  });

  test('a connection that is not used stays open', { timeout: 60_000 }, async ({ expect }) => {
    const redis = await start();
    await open({ url: redis.url });
    const ages = async (): Promise<number[]> =>
      [...(await redis.command('CLIENT', 'LIST')).matchAll(/name=mooring age=(\d+)/g)].map(([, age]) => Number(age));
    expect(await ages()).toHaveLength(3);
    // Longer than Redis may be silent.
    await expect.poll(async () => Math.min(...(await ages())), { timeout: 20_000, interval: 500 }).toBeGreaterThan(6);
    expect(await ages()).toHaveLength(3);
  });

  test('a look-up does not wait for what waits for replicas', { timeout: 60_000 }, async ({ expect }) => {
    const redis = await start();
    const proxy = await startTcpProxy(redis.port);
    closers.push(() => proxy.close());
    const { store } = await open({ url: `redis://127.0.0.1:${proxy.port}`, waitReplicas: 1 });
    await store.set('key', 1, 60_000);
    proxy.pause('WAIT');
    const done: string[] = [];
    const added = expect(store.add('mark', true, 60_000))
      .rejects.toMatchObject({ http: { status: 503 } })
      .then(() => done.push('mark'));
    await expect.poll(() => store.get('mark')).toBe(true);
    expect(await store.get('key')).toBe(1);
    done.push('look-up');
    proxy.resume();
    await added;
    expect(done).toEqual(['look-up', 'mark']);
  });

  test('a mark counts only if enough replicas have it', { timeout: 60_000 }, async ({ expect }) => {
    const redis = await start();
    const { store } = await open({ url: redis.url, waitReplicas: 1 });
    await expect(store.add('mark', true, 60_000)).rejects.toMatchObject({
      http: { status: 503 },
      cause: { message: 'Only 0 of 1 replicas of Redis have confirmed a change' },
    });
    await start('--replicaof', '127.0.0.1', String(redis.port));
    await expect
      .poll(() => store.add('other', true, 60_000).then(String, () => 'rejected'), { timeout: 20_000 })
      .toMatch(/true|false/);
  });
});

// It keeps this process busy, so nothing else may run.
describe.skipIf(!hasRedis())('Redis, beside other work', () => {
  test('a look-up whose reply has arrived does not fail because this process was busy', async () => {
    const redis = await start();
    // In this process, so a reply needs it several times.
    const proxy = await startTcpProxy(redis.port);
    closers.push(() => proxy.close());
    const { store } = await open({ url: `redis://127.0.0.1:${proxy.port}`, lookUpTimeoutMs: 500 });
    await store.set('key', 1, 60_000);
    const found = store.get('key');
    const until = performance.now() + 600;
    while (performance.now() < until);
    expect(await found).toBe(1);
  });
});
