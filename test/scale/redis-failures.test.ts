// What several servers with one Redis do while it is slow, away or empty, and how often they ask it when it is well.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Server } from '../../src/index.ts';
import { settled } from '../support/bus.ts';
import { both, type EventReader, initializeBody } from '../support/http-client.ts';
import { hasRedis, pauses, startRedis } from '../support/redis.ts';
import { type RedisReplica, RedisReplicas } from '../support/redis-replicas.ts';
import { lastEventId, openGet, openPost } from '../support/replicas.ts';

const input = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

function install(server: Server): void {
  server.tool('echo', { input, run: ({ name }) => name });
  server.tool('count', {
    run: async (_args: unknown, ctx) => {
      for (let n = 1; n <= 3; n++) await ctx.progress(n, 3);
      return 'counted';
    },
  });
  server.tool('confirm', {
    run: async (_args: unknown, ctx) => {
      const { action } = await ctx.elicit('Really?', { type: 'object', properties: {} });
      return action;
    },
  });
  for (const n of [1, 2]) server.resource(`memo://${n}`, { name: `memo ${n}`, read: () => 'text' });
}

describe.skipIf(!hasRedis())('servers with one Redis', { retry: pauses }, () => {
  let replicas: RedisReplicas;
  let a: RedisReplica;
  let b: RedisReplica;
  beforeAll(async () => {
    replicas = new RedisReplicas(await startRedis());
    [a, b] = [await replicas.start(install), await replicas.start(install)];
  });
  afterAll(() => replicas.close());
  // After a test that cut one of them off.
  beforeEach(async () => {
    for (const { stores } of [a, b]) {
      // On the connections that may be lost without the bus.
      const respond = () =>
        Promise.all([stores.store.get('anything'), stores.send('PING')]).catch((error: Error) => error.message);
      await expect.poll(respond, { timeout: 20_000 }).toEqual([undefined, 'PONG']);
    }
    const know = () => a.bus.processes.has(b.bus.process) && b.bus.processes.has(a.bus.process);
    await expect.poll(know, { timeout: 20_000 }).toBe(true);
  });

  const ping = async ({ client }: RedisReplica, session: string): Promise<number> =>
    (await client.session(session, 'ping')).status;
  /** Resolves when what a server has sent to Redis so far is there: a stream ends if its opening cannot be stored. */
  const stored = async ({ stores }: RedisReplica): Promise<void> => void (await stores.send('PING'));
  const call = { name: 'echo', arguments: { name: 'x' } };
  const stateless = async ({ client }: RedisReplica): Promise<number> =>
    (await client.modern('tools/call', call)).status;
  const readiness = async ({ client }: RedisReplica, path = '/readyz'): Promise<number> =>
    (await client.send({ method: 'GET', path })).status;

  test('calls send no commands to Redis: stateless ones never, those of sessions after the first', {
    timeout: 60_000,
  }, async () => {
    const session = await a.client.initialize();
    for (const each of [a, b]) expect(await ping(each, session)).toBe(200);
    await settled(a.server, b.server);
    const commandsOfCalls = async (): Promise<number> => {
      const before = a.stores.commands + b.stores.commands;
      for (let n = 0; n < 50; n++) {
        for (const each of [a, b]) {
          expect(await stateless(each)).toBe(200);
          const called = await each.client.session(session, 'tools/call', call);
          expect(called.json.result).toMatchObject({ content: [{ text: 'x' }] });
        }
      }
      return a.stores.commands + b.stores.commands - before;
    };
    // Some if this process has just been stopped for a second: it could not know then that it had missed nothing.
    await expect.poll(commandsOfCalls, { timeout: 40_000 }).toBe(0);
  });

  test('one change is one command, however many streams it reaches', async () => {
    const streams: EventReader[] = [];
    for (let n = 0; n < 20; n++) {
      const { client } = n % 2 === 0 ? a : b;
      const session = await client.initialize();
      await client.session(session, 'resources/subscribe', { uri: 'memo://1' });
      streams.push(await openGet(client, session));
    }
    a.server.resourceUpdated('memo://1');
    for (const stream of streams) await stream.until(1);
    let told = 1;
    const sent = async (): Promise<number> => {
      const before = a.stores.commands + b.stores.commands;
      a.server.resourceUpdated('memo://1');
      told++;
      for (const stream of streams)
        expect((await stream.until(told)).at(-1)).toMatchObject({ params: { uri: 'memo://1' } });
      return a.stores.commands + b.stores.commands - before;
    };
    await expect.poll(sent).toBe(1);
    for (const stream of streams) stream.cut();
  });

  test('while Redis does not respond, known sessions are served for a while, then rejected', {
    timeout: 60_000,
  }, async () => {
    const patient = await replicas.start(install, { limits: { maxStaleMs: Number.POSITIVE_INFINITY } });
    const session = await a.client.initialize();
    const unknownToA = await b.client.initialize();
    const ending = await a.client.initialize();
    for (const each of [a, patient]) expect(await ping(each, session)).toBe(200);
    expect(await ping(patient, ending)).toBe(200);
    replicas.redis.pause();
    try {
      // It was never asked about this one.
      const rejected = await a.client.session(unknownToA, 'ping');
      expect([rejected.status, rejected.headers['retry-after']]).toEqual([503, '1']);
      // Redis has received the mark and may store it later, so whether this one is served then is not known.
      const ended = await patient.client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': ending } });
      expect(ended.status).toBe(503);
      await expect.poll(() => ping(a, session), { timeout: 20_000, interval: 200 }).toBe(503);
      expect(performance.now() - a.bus.freshAtMs).toBeGreaterThanOrEqual(5_000);
      // Nothing else depends on it.
      expect([await ping(patient, session), await stateless(a)]).toEqual([200, 200]);
      await expect.poll(() => readiness(a), { timeout: 20_000 }).toBe(503);
      expect(await readiness(a, '/livez')).toBe(200);
      const opened = await a.client.send({ body: initializeBody('2025-11-25'), headers: { Accept: both } });
      expect(opened.status).toBe(200);
    } finally {
      replicas.redis.resume();
    }
    await expect.poll(() => ping(a, session), { timeout: 20_000 }).toBe(200);
    await expect.poll(() => readiness(a), { timeout: 20_000 }).toBe(200);
    await expect.poll(() => ping(a, unknownToA), { timeout: 20_000 }).toBe(200);
  });

  test('a server that cannot look anything up is not ready, although its other connections work', {
    timeout: 60_000,
  }, async () => {
    const session = await b.client.initialize();
    a.proxy.cut('\r\nGET\r\n');
    expect(await ping(a, session)).toBe(503);
    await expect.poll(() => readiness(a), { timeout: 20_000 }).toBe(503);
    await a.stores.store.set('other', 1, 60_000);
    expect(a.bus.freshAtMs).toBeGreaterThan(performance.now() - 5_000);
    a.proxy.accept();
    await expect.poll(() => readiness(a), { timeout: 20_000 }).toBe(200);
    await expect.poll(() => ping(a, session), { timeout: 20_000 }).toBe(200);
  });

  test('while Redis is away, a state that may be used once is rejected', { timeout: 60_000 }, async () => {
    expect(await a.stores.store.add('used before', true, 60_000)).toBe(true);
    a.proxy.cut();
    await expect(a.stores.store.add('used meanwhile', true, 60_000)).rejects.toThrow('cannot be reached');
    await expect(a.stores.store.get('used before')).rejects.toThrow('cannot be reached');
    a.proxy.accept();
    await expect.poll(() => Promise.resolve(a.stores.store.get('used before')).catch(() => 'away')).toBe(true);
    expect(await a.stores.store.add('used before', true, 60_000)).toBe(false);
  });

  test('changes that were announced while a server was cut off reach its clients afterwards', {
    timeout: 60_000,
  }, async () => {
    const session = await a.client.initialize();
    await a.client.session(session, 'resources/subscribe', { uri: 'memo://1' });
    const stream = await openGet(b.client, session);
    a.server.resourceUpdated('memo://1');
    await stream.until(1);
    await stored(b);
    b.proxy.cut();
    a.server.resourceUpdated('memo://1');
    // In the other direction too.
    b.server.resourceUpdated('memo://2');
    await expect.poll(() => b.bus.freshAtMs + 1_000 < performance.now()).toBe(true);
    expect(stream.messages).toHaveLength(1);
    b.proxy.accept();
    expect((await stream.until(2))[1]).toMatchObject({ params: { uri: 'memo://1' } });
    stream.cut();
  });

  test('clients of a server that missed changes are told to read everything again', { timeout: 60_000 }, async () => {
    const session = await a.client.initialize();
    await a.client.session(session, 'resources/subscribe', { uri: 'memo://1' });
    const stream = await openGet(b.client, session);
    a.server.resourceUpdated('memo://1');
    await stream.until(1);
    await stored(b);
    b.proxy.cut();
    for (let n = 0; n < 3; n++) {
      a.server.resourceUpdated('memo://2');
      await settled(a.server);
    }
    await replicas.redis.command('XTRIM', `${a.stores.prefix}bus`, 'MAXLEN', '1');
    b.proxy.accept();
    const told = (await stream.until(4)).slice(1).map(({ method, params }) => params?.['uri'] ?? method);
    expect(told.sort()).toEqual([
      'memo://1',
      'notifications/resources/list_changed',
      'notifications/tools/list_changed',
    ]);
    stream.cut();
    await expect.poll(() => ping(b, session)).toBe(200);
  });

  test('a server that missed what happened to its sessions looks it up', { timeout: 60_000 }, async () => {
    const open = async (uri: string) => {
      const session = await a.client.initialize();
      await a.client.session(session, 'resources/subscribe', { uri });
      const stream = await openGet(b.client, session);
      a.server.resourceUpdated(uri);
      await stream.until(1);
      return { session, stream };
    };
    const [ended, moved, changed] = [await open('memo://1'), await open('memo://1'), await open('memo://1')];
    await stored(b);
    b.proxy.cut();
    await a.client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': ended.session } });
    const elsewhere = await openGet(a.client, moved.session);
    await a.client.session(changed.session, 'resources/subscribe', { uri: 'memo://2' });
    a.server.resourceUpdated('memo://1');
    await elsewhere.until(1);
    await settled(a.server);
    await replicas.redis.command('XTRIM', `${a.stores.prefix}bus`, 'MAXLEN', '1');
    b.proxy.accept();
    await Promise.all([ended.stream.end(), moved.stream.end()]);
    // The one that stays follows what was subscribed elsewhere.
    const told = (): unknown[] => changed.stream.messages.map(({ params }) => params?.['uri']);
    await expect
      .poll(() => {
        a.server.resourceUpdated('memo://2');
        return told();
      })
      .toContain('memo://2');
    for (const stream of [elsewhere, changed.stream]) stream.cut();
    await expect.poll(() => ping(b, changed.session)).toBe(200);
  });

  test('a session that was ended while a server was cut off is not served by it', { timeout: 60_000 }, async () => {
    const session = await a.client.initialize();
    await expect.poll(() => ping(b, session)).toBe(200);
    b.proxy.pause('XREAD');
    const ended = await a.client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': session } });
    expect(ended.status).toBe(200);
    expect(await ping(b, session)).toBe(404);
    b.proxy.resume();
    await expect.poll(() => performance.now() - b.bus.freshAtMs).toBeLessThan(600);
  });

  test('a server that starts later knows what a session has missed', { timeout: 60_000 }, async () => {
    const session = await a.client.initialize();
    for (const n of [1, 2]) await a.client.session(session, 'resources/subscribe', { uri: `memo://${n}` });
    a.server.resourceUpdated('memo://2');
    await settled(a.server, b.server);
    const later = await replicas.start(install);
    const stream = await openGet(later.client, session);
    await stream.until(1);
    a.server.resourceUpdated('memo://1');
    await stream.until(2);
    expect(stream.messages.map(({ params }) => params?.['uri'])).toEqual(['memo://2', 'memo://1']);
    stream.cut();
  });

  test('the response of a call is stored before it is sent', async () => {
    const session = await a.client.initialize();
    const body = {
      ...{ jsonrpc: '2.0', id: 5, method: 'tools/call' },
      params: { name: 'count', _meta: { progressToken: 1 } },
    };
    const stream = await openPost(a.client, session, body);
    const messages = await stream.end();
    expect(messages.at(-1)).toMatchObject({ id: 5, result: { content: [{ text: 'counted' }] } });
    const first = stream.events.find(({ id }) => id !== undefined)?.id as string;
    const name = first.slice(0, first.indexOf('.'));
    const keys = await replicas.redis.command('KEYS', `*:${name}`);
    const [key] = /\{.*$/m.exec(keys) ?? [];
    const stored = await replicas.redis.command('XRANGE', String(key).trim(), '-', '+');
    expect(stored).toContain('counted');
    expect(stored.match(/progressToken/g)).toHaveLength(3);
    // It can be read again, here and elsewhere.
    for (const { client } of [a, b]) {
      const again = await openGet(client, session, first);
      expect((await again.end()).at(-1)).toMatchObject({ id: 5 });
    }
    expect(lastEventId(stream)).toMatch(/\.\d+$/);
  });

  test('a stream is stored before its first event is sent, so a position in it is known even if no event was copied', {
    timeout: 60_000,
  }, async () => {
    const { sharedEventLog: log } = a.stores;
    let store = (): void => {};
    const isTime = new Promise<void>((resolve) => {
      store = resolve;
    });
    const doomed = await replicas.start(install, {
      sharedEventLog: {
        begin: (...args) => isTime.then(() => log.begin(...args)),
        // As if it were killed before the turn of the event loop in which they are copied.
        append: () => {},
        finish: (...args) => log.finish(...args),
        remove: (...args) => log.remove(...args),
        read: (...args) => log.read(...args),
      },
    });
    const session = await doomed.client.initialize({ capabilities: { elicitation: {} } });
    const body = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'confirm' } };
    const stream = await openPost(doomed.client, session, body);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(stream.events).toEqual([]);
    store();
    expect(await stream.until(1)).toMatchObject([{ method: 'elicitation/create' }]);
    expect(lastEventId(stream)).toMatch(/\.1$/);
    doomed.kill();
    const last = lastEventId(stream);
    let resumed = await openGet(b.client, session, last);
    // On a busy machine, Redis may take longer than a request waits for it.
    while (resumed.response.statusCode === 503) resumed = await openGet(b.client, session, last);
    expect(resumed.response.statusCode).toBe(200);
    expect(await resumed.end()).toMatchObject([{ id: 7, error: { code: -32603, data: { mayHaveRun: true } } }]);
  });

  test('while Redis is away, responses of calls are sent without a copy', { timeout: 60_000 }, async () => {
    const session = await a.client.initialize();
    expect(await ping(a, session)).toBe(200);
    const body = {
      jsonrpc: '2.0',
      id: 6,
      method: 'tools/call',
      params: { name: 'count', _meta: { progressToken: 1 } },
    };
    a.proxy.pause();
    const stream = await openPost(a.client, session, body);
    const messages = await stream.end();
    a.proxy.resume();
    expect(messages.at(-1)).toMatchObject({ id: 6, result: { content: [{ text: 'counted' }] } });
    expect(a.stores.sharedEventLog.unconfirmed).toBeGreaterThan(0);
    // The copy is made later.
    const resume = async () => (await openGet(b.client, session, `${lastEventId(stream).split('.')[0]}.1`)).end();
    await expect.poll(async () => (await resume()).at(-1), { timeout: 20_000 }).toMatchObject({ id: 6 });
  });

  test('when Redis was emptied, old sessions are unknown and their streams end', { timeout: 60_000 }, async () => {
    const session = await a.client.initialize();
    expect([await ping(a, session), await ping(b, session)]).toEqual([200, 200]);
    const ended = await a.client.initialize();
    await a.client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': ended } });
    await a.client.session(session, 'resources/subscribe', { uri: 'memo://1' });
    const stream = await openGet(b.client, session);
    a.server.resourceUpdated('memo://1');
    await stream.until(1);
    await replicas.redis.kill();
    await replicas.redis.restart();
    await expect.poll(() => ping(a, session), { timeout: 20_000 }).toBe(404);
    await expect.poll(() => ping(b, session), { timeout: 20_000 }).toBe(404);
    // One that was ended must not be valid again.
    expect([await ping(a, ended), await ping(b, ended)]).toEqual([404, 404]);
    await stream.end();
    await expect.poll(() => a.bus.epoch === b.bus.epoch).toBe(true);
    const fresh = await a.client.initialize();
    expect([await ping(a, fresh), await ping(b, fresh)]).toEqual([200, 200]);
  });
});
