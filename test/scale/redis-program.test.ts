// What clients see when Redis is slow, stopped, killed or empty, and when a process is killed, drained or cut off from it.
// MOORING_LONG=1 stops Redis for a minute.
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { useClosers } from '../support/closers.ts';
import { isFullRun } from '../support/full.ts';
import { modernVersion } from '../support/http-client.ts';
import { hasRedis, pauses } from '../support/redis.ts';
import { lastEventId, openGet, openPost } from '../support/replicas.ts';
import { startProgram } from '../support/workers.ts';
import { failures, Load } from './support/load.ts';
import { type RedisProgram, RedisPrograms } from './support/redis-programs.ts';

const atEnd = useClosers(afterAll);
const closers = useClosers(afterEach);
const timeout = 120_000;
const pausedMs = process.env['MOORING_LONG'] === '1' ? 60_000 : 3_000;

async function start(count: number, args: readonly string[] = []): Promise<RedisPrograms> {
  const all = await RedisPrograms.start(count, args);
  closers.push(() => all.close());
  return all;
}

type Pair = [a: RedisProgram, b: RedisProgram];

/** Pairs of programs that no test uses now. */
const pairs: RedisPrograms[] = [];

/** Two programs. A test after which they are as before puts them back for the next one. */
async function takePair(): Promise<RedisPrograms> {
  const free = pairs.pop();
  if (free !== undefined) {
    for (const each of free.programs) await expect.poll(() => status(each, '/readyz')).toBe(200);
    return free;
  }
  const all = await RedisPrograms.start(2);
  atEnd.push(() => all.close());
  return all;
}

const status = async ({ address }: { readonly address: string }, path: string): Promise<number> => {
  const response = await fetch(new URL(path, address), { signal: AbortSignal.timeout(20_000) });
  await response.text();
  return response.status;
};
const ping = async ({ client }: RedisProgram, session: string): Promise<number> =>
  (await client.session(session, 'ping')).status;
const echo = { name: 'echo', arguments: { text: 'x' } };
const stateless = async ({ client }: RedisProgram): Promise<number> => (await client.modern('tools/call', echo)).status;

describe.skipIf(!hasRedis())('with Redis', { retry: pauses }, () => {
  test('a second deployment with another key or profile on the same prefix does not start', { timeout }, async () => {
    const all = await takePair();
    const env = { MOORING_REDIS_URL: all.redis.url, MOORING_KEY: randomBytes(32).toString('base64') };
    const other = startProgram(['everything', '--http', '--port', '0'], env);
    expect(await other.exited).toBe(1);
    expect(other.lines.join('\n')).toContain('with another key');
    pairs.push(all);
  });

  test('stopped: what is known is served for a while, the rest gets 503, and everything continues afterwards', {
    timeout,
  }, async () => {
    const all = await takePair();
    const { redis, programs } = all;
    const [a, b] = programs as Pair;
    const known = await a.client.initialize();
    const unseen = await a.client.initialize();
    expect([await ping(a, known), await ping(b, known)]).toEqual([200, 200]);
    const stoppedAtMs = performance.now();
    redis.pause();
    closers.push(() => redis.resume());
    // At once: the process has heard of everything until now.
    expect([await ping(a, known), await ping(b, known)]).toEqual([200, 200]);
    expect(await stateless(a)).toBe(200);
    // The other process has not seen this session, and cannot ask.
    const unknown = await b.client.session(unseen, 'ping');
    expect(unknown.status).toBe(503);
    expect(Number(unknown.headers['retry-after'])).toBeGreaterThan(0);
    expect((await b.client.send({ body: initialize, headers: { Accept: both } })).status).toBe(200);
    // Later: not ready, alive, stateless requests as before.
    await expect.poll(() => status(b, '/readyz'), { timeout: 20_000, interval: 200 }).toBe(503);
    await expect.poll(() => ping(b, known), { timeout: 20_000, interval: 200 }).toBe(503);
    expect([await status(a, '/livez'), await status(b, '/livez')]).toEqual([200, 200]);
    expect([await stateless(a), await stateless(b)]).toEqual([200, 200]);
    while (performance.now() - stoppedAtMs < pausedMs) await new Promise((resolve) => setTimeout(resolve, 100));
    redis.resume();
    await expect.poll(() => status(b, '/readyz'), { timeout: 20_000, interval: 100 }).toBe(200);
    await expect.poll(() => ping(b, known), { interval: 100 }).toBe(200);
    await expect.poll(() => ping(b, unseen), { interval: 100 }).toBe(200);
    pairs.push(all);
  });

  test('a process that is cut off from it is not ready, and the router sends requests to the others', {
    timeout,
  }, async () => {
    const all = await takePair();
    const [a, b] = all.programs as Pair;
    const session = await a.client.initialize();
    for (const each of [a, b]) await ping(each, session);
    b.proxy.cut();
    await expect.poll(() => status(b, '/readyz'), { timeout: 20_000, interval: 100 }).toBe(503);
    expect(await status(b, '/livez')).toBe(200);
    await expect.poll(() => all.router.ready).toEqual([a.address]);
    // Ended while one of them does not hear of it: that one serves it for `redis.maxStaleMs` at most, and not later either.
    const deleted = await a.client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': session } });
    expect(deleted.status).toBe(200);
    await expect.poll(() => ping(b, session), { timeout: 20_000, interval: 100 }).toBe(503);
    b.proxy.accept();
    await expect.poll(() => status(b, '/readyz'), { timeout: 20_000, interval: 100 }).toBe(200);
    await expect.poll(() => ping(b, session)).toBe(404);
    pairs.push(all);
  });

  test('a process that is stopped confirms nothing: the end of a session waits a little, and it asks before it serves again', {
    timeout,
  }, async () => {
    const all = await takePair();
    const [a, b] = all.programs as Pair;
    const session = await a.client.initialize();
    for (const each of [a, b]) expect(await ping(each, session)).toBe(200);
    b.child.kill('SIGSTOP');
    closers.push(() => b.child.kill('SIGCONT'));
    expect((await a.client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': session } })).status).toBe(200);
    b.child.kill('SIGCONT');
    expect(await ping(b, session)).toBe(404);
    pairs.push(all);
  });

  test('killed and restarted empty: sessions end with 404, and clients open new ones', { timeout }, async () => {
    const { redis, programs } = await takePair();
    const [a, b] = programs as Pair;
    const ended = await a.client.initialize();
    const open = await a.client.initialize();
    for (const each of [a, b]) await ping(each, open);
    await a.client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': ended } });
    const stream = await openGet(b.client, open);
    await redis.kill();
    expect([await stateless(a), await stateless(b)]).toEqual([200, 200]);
    await redis.restart();
    // The session that was ended must not come back, whatever is known of it.
    await expect
      .poll(async () => [await ping(a, ended), await ping(b, ended)], { timeout: 20_000 })
      .toEqual([404, 404]);
    await expect.poll(async () => [await ping(a, open), await ping(b, open)], { timeout: 20_000 }).toEqual([404, 404]);
    await stream.end();
    const again = await b.client.initialize();
    await expect.poll(() => ping(a, again)).toBe(200);
    await expect.poll(() => status(a, '/readyz')).toBe(200);
    // They are not put back: for some seconds they tell their clients to read everything again.
  });

  test('a process that is killed: its sessions continue elsewhere, and a call that ran in it ends with an error', {
    timeout,
  }, async () => {
    const { programs } = await takePair();
    const [a, b] = programs as Pair;
    const session = await a.client.initialize({ capabilities: { elicitation: {} } });
    await b.client.session(session, 'resources/subscribe', { uri: 'memo://1' });
    const params = { name: 'dialogue', arguments: { secret: 's', rounds: 2 }, _meta: { progressToken: 1 } };
    const call = await openPost(a.client, session, { jsonrpc: '2.0', id: 7, method: 'tools/call', params });
    await call.until(2);
    a.child.kill('SIGKILL');
    await call.end();
    expect(await ping(b, session)).toBe(200);
    const resume = async () => (await openGet(b.client, session, lastEventId(call))).end();
    // Until it is noticed that the process has ended.
    await expect
      .poll(async () => (await resume()).at(-1)?.error?.code, { timeout: 20_000, interval: 500 })
      .toBe(-32603);
    const stream = await openGet(b.client, session);
    await b.client.session(session, 'tools/call', { name: 'touch', arguments: { uri: 'memo://1' } });
    const updates = async () =>
      (await stream.until(1)).filter(({ method }) => method === 'notifications/resources/updated');
    await expect.poll(updates).toMatchObject([{ params: { uri: 'memo://1' } }]);
    stream.cut();
  });

  test('replicas are replaced one after the other without a failed request', { timeout }, async () => {
    const all = await start(isFullRun ? 3 : 2, ['--drain-delay', '3000']);
    const load = startLoad(all, isFullRun ? 20 : 150);
    closers.push(() => load.stop());
    await load.more(100);
    for (const old of [...all.programs]) {
      const fresh = await all.add();
      await expect.poll(() => all.router.ready.includes(fresh.address), { timeout: 30_000 }).toBe(true);
      old.child.kill('SIGTERM');
      expect(await old.exited).toBe(0);
      all.router.remove(old.address);
    }
    await load.more(100);
    expect(failures(await load.stop())).toEqual([]);
  });

  test('one of three that is killed under load breaks only what was open on it', { timeout }, async () => {
    const all = await start(3);
    const load = startLoad(all);
    closers.push(() => load.stop());
    await load.more(200);
    const { inFlight } = load;
    (all.programs[0] as RedisProgram).child.kill('SIGKILL');
    await load.more(400);
    const failed = failures(await load.stop());
    expect(failed.filter(({ outcome }) => outcome !== 'broken')).toEqual([]);
    expect(failed.length).toBeLessThanOrEqual(inFlight);
  });
});

/** A load on the router. */
const startLoad = ({ router }: RedisPrograms, pauseMs = 0): Load =>
  new Load({ clients: { stateless: 4, session: 4, stream: 4 }, pauseMs, url: () => router.url });

const both = 'application/json, text/event-stream';
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: modernVersion } },
};
