// The bus through Redis: order, large messages, lost connections, and what happens when Redis loses its data.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { Json } from '../../src/protocol/model.ts';
import { openRedis, type RedisOptions, type RedisStores } from '../../src/stores/redis/index.ts';
import { useClosers } from '../support/closers.ts';
import { hasRedis, patient, type RedisServer, startRedis } from '../support/redis.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const key = randomBytes(32);
const closers = useClosers();

// They mostly wait. Concurrent tests need the `expect` of their own.
describe.skipIf(!hasRedis())('the bus of Redis', { concurrent: true }, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());

  let names = 0;
  /** A server name of its own, so that tests do not see each other. */
  const newName = (): string => `bus-${++names}`;

  async function join(name: string, options: Partial<RedisOptions> = {}): Promise<RedisStores> {
    const stores = await openRedis({ url: redis.url, name, keys: [key], ...patient, ...options });
    closers.push(() => stores.close());
    return stores;
  }

  async function joinThrough(name: string): Promise<RedisStores & { readonly proxy: TcpProxy }> {
    const proxy = await startTcpProxy(redis.port);
    closers.push(() => proxy.close());
    const stores = await join(name, { url: `redis://127.0.0.1:${proxy.port}` });
    return { ...stores, proxy };
  }

  function listen({ bus }: Pick<RedisStores, 'bus'>, topic = 'topic'): Json[] {
    const heard: Json[] = [];
    bus.listen(topic, (data) => {
      heard.push(data);
    });
    return heard;
  }

  test('all processes receive all published messages in the same order, with the same growing positions', async ({
    expect,
  }) => {
    const name = newName();
    const all = [await join(name), await join(name), await join(name)];
    const heard = all.map(({ bus }) => {
      const messages: [Json, string, number][] = [];
      bus.listen('topic', (data, from, position) => void messages.push([data, from, position]));
      return messages;
    });
    const positions = await Promise.all(
      Array.from({ length: 300 }, (_, n) => (all[n % 3] as RedisStores).bus.publish('topic', n)),
    );
    await expect.poll(() => heard.map(({ length }) => length)).toEqual([300, 300, 300]);
    expect(heard[1]).toEqual(heard[0]);
    expect(heard[2]).toEqual(heard[0]);
    const received = (heard[0] ?? []).map(([, , position]) => position);
    expect(received).toEqual([...received].sort((a, b) => a - b));
    expect(new Set(received).size).toBe(300);
    expect([...positions].sort()).toEqual([...received].sort());
  });

  test('entries of another program are passed over', async ({ expect }) => {
    const name = newName();
    const [a, b] = [await join(name), await join(name)];
    const heard = listen(b);
    let gaps = 0;
    b.bus.onGap(() => gaps++);
    const stream = `${a.prefix}bus`;
    let position = Date.now() * 1_000;
    const add = async (...fields: readonly string[]): Promise<void> => {
      await a.bus.publish('topic', 'before');
      // A minute later than the last entry, so that nothing else has this position or a later one.
      position += 60_000_000;
      expect(await redis.command('XADD', stream, `${position}-0`, ...fields)).toMatch(/^\$/);
    };
    const numbers = ['v', '1', 'n', '1', 'f', '__proto__', 's', '1'];
    await add('any', 'thing');
    await add(...numbers, 'm', '{"type":');
    await add(...numbers, 'm', '{"type":"message","topic":"__proto__","data":{"__proto__":1}}');
    await add('v', '1', 'n', 'x', 'f', 'other', 's', 'y', 'm', '{"type":"response","to":{}}');
    // What it refers to is not a text.
    await add('v', '1', 'n', '2', 'f', 'third', 's', '1', 'k', stream);
    await a.bus.publish('topic', 'after');
    await expect.poll(() => heard.at(-1)).toBe('after');
    expect(gaps).toBeGreaterThan(0);
  });

  test('processes know each other at once, and notice when one has left', async ({ expect }) => {
    const name = newName();
    const [a, b] = [await join(name), await join(name)];
    await expect.poll(() => [...a.bus.processes].sort()).toEqual([a.bus.process, b.bus.process].sort());
    const left: string[] = [];
    a.bus.onLeave((process) => left.push(process));
    await b.close();
    await expect.poll(() => left).toEqual([b.bus.process]);
    await expect(a.bus.request(b.bus.process, 'topic', null, 20_000)).rejects.toThrow('has ended');
  });

  test('a process that the others took for one that has ended joins again, and is up to date', async ({ expect }) => {
    const name = newName();
    const [a, b] = [await join(name), await join(name)];
    await a.bus.publish('topic', 'the last one');
    const lastEntry = () => redis.command('XREVRANGE', `${b.prefix}bus`, '+', '-', 'COUNT', '1');
    expect(await lastEntry()).toContain('the last one');
    await redis.command('HDEL', `${b.prefix}processes`, b.bus.process);
    await expect.poll(lastEntry).toContain('joined');
    await expect.poll(() => performance.now() - b.bus.freshAtMs).toBeLessThan(1_000);
    await expect.poll(() => a.bus.processes.has(b.bus.process)).toBe(true);
  });

  test('a process that was killed is noticed after some seconds, and requests to it fail', async ({ expect }) => {
    const name = newName();
    const [a, b] = [await join(name), await joinThrough(name)];
    await expect.poll(() => a.bus.processes.has(b.bus.process)).toBe(true);
    b.proxy.cut();
    await expect(a.bus.request(b.bus.process, 'topic', null, 20_000)).rejects.toThrow('has ended');
    expect(a.bus.processes.has(b.bus.process)).toBe(false);
  });

  test('a request gets its response, an error, or a timeout', async ({ expect }) => {
    const name = newName();
    const [a, b] = [await join(name), await join(name)];
    b.bus.listen('double', (data) => Number(data) * 2);
    b.bus.listen('fail', () => {
      throw new Error('no luck');
    });
    b.bus.listen('never', () => new Promise<never>(() => {}));
    await expect.poll(() => a.bus.processes.has(b.bus.process)).toBe(true);
    expect(await a.bus.request(b.bus.process, 'double', 21, 20_000)).toBe(42);
    expect(await a.bus.request(b.bus.process, 'unknown', 1, 20_000)).toBeNull();
    await expect(a.bus.request(b.bus.process, 'fail', 1, 20_000)).rejects.toThrow('no luck');
    await expect(a.bus.request(b.bus.process, 'never', 1, 50)).rejects.toThrow('within 50 ms');
  });

  test('a message to one process arrives after what its sender had received before', async ({ expect }) => {
    const name = newName();
    const [a, b] = [await join(name), await join(name)];
    const heard: Json[] = [];
    for (const topic of ['all', 'one']) b.bus.listen(topic, (data) => void heard.push(`${topic} ${data}`));
    for (let n = 0; n < 50; n++) {
      await a.bus.publish('all', n);
      a.bus.send(b.bus.process, 'one', n);
    }
    await expect.poll(() => heard.length).toBe(100);
    for (let n = 0; n < 50; n++) expect(heard.indexOf(`all ${n}`)).toBeLessThan(heard.indexOf(`one ${n}`));
  });

  test('a large message arrives whole and in its turn, and is not in the stream', async ({ expect }) => {
    const name = newName();
    const [a, b] = [await join(name), await join(name)];
    const heard = listen(b);
    const large = 'é'.repeat(2 * 1024 * 1024);
    void a.bus.publish('topic', 'before');
    void a.bus.publish('topic', large);
    await a.bus.publish('topic', 'after');
    await expect.poll(() => heard.length).toBe(3);
    expect(heard).toEqual(['before', large, 'after']);
    expect(Number((await redis.command('MEMORY', 'USAGE', `${a.prefix}bus`)).slice(1))).toBeLessThan(100_000);
  });

  test('nothing is lost or received twice when connections break again and again', { timeout: 60_000 }, async ({
    expect,
  }) => {
    const name = newName();
    const [a, b] = [await joinThrough(name), await joinThrough(name)];
    const heard = listen(b);
    const gaps: number[] = [];
    b.bus.onGap(() => gaps.push(heard.length));
    const published: Promise<number>[] = [];
    for (let n = 0; n < 400; n++) {
      published.push(a.bus.publish('topic', n));
      if (n % 50 === 25) for (const { proxy } of [a, b]) proxy.cut();
      if (n % 50 === 40) for (const { proxy } of [a, b]) proxy.accept();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    for (const { proxy } of [a, b]) proxy.accept();
    await Promise.all(published);
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(400);
    expect(heard).toEqual(Array.from({ length: 400 }, (_, n) => n));
    expect(gaps).toEqual([]);
  });

  test('a process that missed entries which were removed meanwhile reports a gap', { timeout: 60_000 }, async ({
    expect,
  }) => {
    const name = newName();
    const [a, b] = [await join(name), await joinThrough(name)];
    const heard = listen(b);
    let gaps = 0;
    b.bus.onGap(() => gaps++);
    await a.bus.publish('topic', 'first');
    await expect.poll(() => heard).toEqual(['first']);
    b.proxy.cut();
    for (let n = 0; n < 5; n++) await a.bus.publish('topic', n);
    await redis.command('XTRIM', `${a.prefix}bus`, 'MAXLEN', '2');
    b.proxy.accept();
    await expect.poll(() => heard).toEqual(['first', 3, 4]);
    expect(gaps).toBe(1);
  });

  test('freshness is the time at which the read was sent', async ({ expect }) => {
    const name = newName();
    const b = await joinThrough(name);
    await expect.poll(() => b.bus.ageMs).toBeLessThan(600);
    b.proxy.pause();
    const before = b.bus.freshAtMs;
    const pausedAtMs = performance.now();
    await expect.poll(() => b.bus.ageMs).toBeGreaterThan(1_500);
    b.proxy.resume();
    await expect.poll(() => b.bus.freshAtMs).toBeGreaterThan(before);
    await expect.poll(() => b.bus.freshAtMs).toBeGreaterThan(pausedAtMs);
    await expect.poll(() => b.bus.ageMs).toBeLessThan(600);
  });

  test('messages of other versions and kinds are ignored', async ({ expect }) => {
    const name = newName();
    const [a, b] = [await join(name), await join(name)];
    const heard = listen(b);
    let gaps = 0;
    b.bus.onGap(() => gaps++);
    const entry = (version: string, number: string, text: string): string[] => [
      ...['v', version, 'n', number, 'f', 'ffffffff', 's', '1', 'm', text],
    ];
    const [, last] =
      /n\r\n\$\d+\r\n(\d+)/.exec(await redis.command('XREVRANGE', `${a.prefix}bus`, '+', '-', 'COUNT', '1')) ?? [];
    const next = Number(last) + 1;
    const at = Date.now() * 1000 + 10_000_000;
    await redis.command('XADD', `${a.prefix}bus`, `${at}-0`, ...entry('2', String(next), 'binary'));
    await redis.command('XADD', `${a.prefix}bus`, `${at + 1}-0`, ...entry('1', String(next + 1), '{"type":"later"}'));
    await redis.command('XADD', `${a.prefix}bus`, `${at + 2}-0`, ...entry('1', String(next + 2), 'not json'));
    await a.bus.publish('topic', 'known');
    await expect.poll(() => heard).toEqual(['known']);
    expect(gaps).toBe(0);
  });

  test('a process that joins later knows what was published before', async ({ expect }) => {
    const name = newName();
    const a = await join(name);
    await a.bus.publish('topic', 1);
    await a.bus.publish('other', 2);
    const position = await a.bus.publish('topic', 3);
    const b = await join(name);
    expect(b.bus.past('topic')).toMatchObject({
      from: 0,
      messages: [{ data: 1 }, { data: 3, position, from: a.bus.process }],
    });
    // What arrives before there is a listener counts as past too.
    await a.bus.publish('topic', 4);
    await expect.poll(() => b.bus.past('topic').messages.map(({ data }) => data)).toEqual([1, 3, 4]);
  });

  test('another server, or the same one with another key, is rejected at the start', async ({ expect }) => {
    const prefix = `shared-${newName()}`;
    await join('library', { prefix });
    const other = openRedis({ url: redis.url, name: 'archive', keys: [key], prefix });
    await expect(other).rejects.toThrow(/is used by another server: the server "library"/);
    const otherKey = openRedis({ url: redis.url, name: 'library', keys: [randomBytes(32)], prefix });
    await expect(otherKey).rejects.toThrow(/with another key: the server "library"/);
    // A new key beside the former one: processes are replaced one by one.
    const rotated = await join('library', { prefix, keys: [randomBytes(32), key] });
    expect(rotated.bus.processes.size).toBe(2);
  });

  test('when Redis was emptied, the epoch changes and a gap is reported', async ({ expect }) => {
    const name = newName();
    // Of its own, since the others need theirs.
    const emptied = await startRedis();
    closers.push(() => emptied.close());
    const [a, b] = [await join(name, { url: emptied.url }), await join(name, { url: emptied.url })];
    const epoch = a.bus.epoch;
    expect(b.bus.epoch).toBe(epoch);
    let gaps = 0;
    a.bus.onGap(() => gaps++);
    await emptied.command('FLUSHALL');
    await expect.poll(() => a.bus.epoch).not.toBe(epoch);
    expect(gaps).toBeGreaterThan(0);
    await expect.poll(() => b.bus.epoch).toBe(a.bus.epoch);
    const heard = listen(b);
    await a.bus.publish('topic', 'after');
    await expect.poll(() => heard).toEqual(['after']);
  });
});
