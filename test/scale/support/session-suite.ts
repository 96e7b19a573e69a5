// One session, served by several processes: whatever a client does, it does not matter which of them it reaches. The same tests for every
// kind of bus.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authenticate, Server } from '../../../src/index.ts';
import { settled } from '../../support/bus.ts';
import { both, EventReader } from '../../support/http-client.ts';
import { lastEventId, openGet, openPost, type Replica, type ReplicaGroup } from '../../support/replicas.ts';

/** `open`: starts what the processes share. */
export function testSessions(open: () => Promise<ReplicaGroup>): void {
  const gates = new Map<string, () => void>();
  const aborted: string[] = [];

  async function pass(name: string): Promise<void> {
    await expect.poll(() => gates.has(name)).toBe(true);
    gates.get(name)?.();
    gates.delete(name);
  }

  const input = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

  function install(server: Server): void {
    server.tool('echo', { input, run: ({ name }) => name });
    server.tool('log', {
      run: (_args: unknown, ctx) => {
        ctx.log('debug', 'a detail');
        return 'logged';
      },
    });
    server.tool('ask', {
      run: async (_args: unknown, ctx) => {
        const answer = await ctx.elicit('Who?', { type: 'object', properties: { name: { type: 'string' } } });
        return JSON.stringify(answer.content);
      },
    });
    server.tool('steps', {
      input,
      run: async ({ name }, ctx) => {
        ctx.signal.addEventListener('abort', () => aborted.push(name));
        for (let n = 1; n <= 3; n++) {
          await ctx.progress(n, 3);
          await new Promise<void>((resolve) => gates.set(`${name} ${n}`, resolve));
        }
        return 'done';
      },
    });
    for (const n of [1, 2, 3]) server.resource(`memo://${n}`, { name: `memo ${n}`, read: () => 'text' });
  }

  let replicas: ReplicaGroup;
  let a: Replica;
  let b: Replica;
  let c: Replica;
  /** A token is the name of its principal. */
  const authenticate: Authenticate = (request) => ({ id: request.get('authorization') ?? 'anyone' });
  const start = async () => {
    const replica = await replicas.start(install, { authenticate });
    replica.client.retriesUnavailable = true;
    return replica;
  };
  beforeAll(async () => {
    replicas = await open();
    [a, b, c] = [await start(), await start(), await start()];
  });
  afterAll(() => replicas.close());

  const steps = (name: string, id = 1) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'steps', arguments: { name }, _meta: { progressToken: name } },
  });
  const progress = (stream: EventReader): unknown[] =>
    stream.messages
      .filter(({ params }) => params?.['progress'] !== undefined)
      .map(({ params }) => params?.['progress']);
  const uris = (stream: EventReader): unknown[] => stream.messages.map(({ params }) => params?.['uri']);

  describe('without asking the store', () => {
    test('a session is looked up once by each process, and its requests are then served from memory', async () => {
      const session = await a.client.initialize();
      for (const { client } of [a, b, c]) await client.session(session, 'ping');
      const readsOfRequests = async (): Promise<readonly string[]> => {
        replicas.reads.length = 0;
        for (let n = 0; n < 10; n++) for (const { client } of [a, b, c]) await client.session(session, 'ping');
        return [...replicas.reads];
      };
      // Some if this process has just been stopped for a second.
      await expect.poll(readsOfRequests).toEqual([]);
    });

    test('a process that may have missed something asks the store', async () => {
      const session = await a.client.initialize();
      await b.client.session(session, 'ping');
      b.pause();
      replicas.reads.length = 0;
      const ask = async (): Promise<string[]> => {
        expect((await b.client.session(session, 'ping')).status).toBe(200);
        return replicas.reads;
      };
      await expect.poll(ask).toContain('revoked');
      b.resume();
      await expect.poll(() => performance.now() - b.bus.freshAtMs).toBeLessThan(600);
    });
  });

  describe('the end of a session', () => {
    test('is known everywhere when DELETE is answered, and ends its calls and streams', async () => {
      const session = await a.client.initialize();
      for (const { client } of [a, b, c]) await client.session(session, 'ping');
      const call = await openPost(b.client, session, steps('deleted'));
      const stream = await openGet(c.client, session);
      await call.until(1);
      const answer = await a.client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': session } });
      expect(answer.status).toBe(200);
      const statuses = await Promise.all([a, b, c].map(({ client }) => client.session(session, 'ping')));
      expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404]);
      await Promise.all([call.end(), stream.end()]);
      await expect.poll(() => aborted).toContain('deleted');
    });

    test('is known to a process that was stopped meanwhile, before it serves another request', async () => {
      const session = await a.client.initialize();
      await b.client.session(session, 'ping');
      b.pause();
      await a.client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': session } });
      await expect.poll(async () => (await b.client.session(session, 'ping')).status).toBe(404);
      b.resume();
    });
  });

  describe('the state of a session', () => {
    test('a log level that was set in one process applies in all', async () => {
      const session = await a.client.initialize();
      for (const { client } of [a, b, c]) await client.session(session, 'ping');
      // The other processes hear of it a moment later.
      const applies = (isLogged: boolean) =>
        Promise.all(
          [a, b, c].map(({ client }) =>
            expect
              .poll(async () => {
                const { text } = await client.session(session, 'tools/call', { name: 'log' });
                return text.includes('a detail');
              })
              .toBe(isLogged),
          ),
        );
      await a.client.session(session, 'logging/setLevel', { level: 'debug' });
      await applies(true);
      await c.client.session(session, 'logging/setLevel', { level: 'error' });
      await applies(false);
    });

    test('subscriptions that are made in several processes at the same time are all there', async () => {
      for (let n = 0; n < 10; n++) {
        const session = await a.client.initialize();
        const stream = await openGet(b.client, session);
        const subscribe = ({ client }: Replica, uri: string) => client.session(session, 'resources/subscribe', { uri });
        await Promise.all([subscribe(a, 'memo://1'), subscribe(b, 'memo://2'), subscribe(c, 'memo://3')]);
        for (const uri of ['memo://1', 'memo://2', 'memo://3']) c.server.resourceUpdated(uri);
        expect(uris({ messages: await stream.until(3) } as EventReader).sort()).toEqual([
          'memo://1',
          'memo://2',
          'memo://3',
        ]);
        stream.cut();
        await b.client.session(session, 'resources/unsubscribe', { uri: 'memo://1' });
      }
    });
  });

  describe('a call in one process', () => {
    test('gets the response to its input request from another', async () => {
      const session = await a.client.initialize({ capabilities: { elicitation: {} } });
      const call = await openPost(a.client, session, {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'ask' },
      });
      const [question] = await call.until(1);
      const response = { jsonrpc: '2.0', id: question?.id, result: { action: 'accept', content: { name: 'Ada' } } };
      const headers = { Accept: both, 'Mcp-Session-Id': session };
      expect((await b.client.send({ body: response, headers })).status).toBe(202);
      expect((await call.end()).at(-1)).toMatchObject({ id: 1, result: { content: [{ text: '{"name":"Ada"}' }] } });
    });

    test('does not accept a response from another session', async () => {
      const session = await a.client.initialize({ capabilities: { elicitation: {} } });
      const other = await a.client.initialize({ capabilities: { elicitation: {} } });
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask' } };
      const call = await openPost(a.client, session, body);
      const [question] = await call.until(1);
      const answerAs = (id: string, name: string) =>
        b.client.send({
          body: { jsonrpc: '2.0', id: question?.id, result: { action: 'accept', content: { name } } },
          headers: { Accept: both, 'Mcp-Session-Id': id },
        });
      await answerAs(other, 'Eve');
      await settled(a.server, b.server, c.server);
      await answerAs(session, 'Ada');
      expect((await call.end()).at(-1)).toMatchObject({ result: { content: [{ text: '{"name":"Ada"}' }] } });
    });

    test('is cancelled through another', async () => {
      const session = await a.client.initialize();
      const call = await openPost(a.client, session, steps('cancelled', 7));
      await call.until(1);
      const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
      await c.client.send({ body, headers: { Accept: both, 'Mcp-Session-Id': session } });
      await call.end();
      expect(aborted).toContain('cancelled');
    });
  });

  describe('the stream of a call', () => {
    test('is resumed in another process while the call still runs', async () => {
      const session = await a.client.initialize();
      const broken = await openPost(a.client, session, steps('resumed'));
      await broken.until(1);
      broken.cut();
      await pass('resumed 1');
      await expect.poll(() => gates.has('resumed 2')).toBe(true);
      const resumed = await openGet(b.client, session, lastEventId(broken));
      await resumed.until(1);
      await pass('resumed 2');
      await pass('resumed 3');
      const rest = await resumed.end();
      expect([...progress(broken), ...progress(resumed)]).toEqual([1, 2, 3]);
      expect(rest.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } });
    });

    test('can be resumed again and again, in any process', async () => {
      const session = await a.client.initialize();
      const streams = [await openPost(a.client, session, steps('moving'))];
      for (const [n, { client }] of [b, c, a].entries()) {
        const last = streams.at(-1) as EventReader;
        await last.until(1);
        last.cut();
        await pass(`moving ${n + 1}`);
        streams.push(await openGet(client, session, lastEventId(last)));
      }
      await streams.at(-1)?.end();
      expect(streams.flatMap(progress)).toEqual([1, 2, 3]);
      expect(streams.flatMap(({ messages }) => messages.filter(({ result }) => result !== undefined))).toHaveLength(1);
    });

    test('is resumed in another process after the call has ended', async () => {
      const session = await a.client.initialize();
      const broken = await openPost(a.client, session, steps('over'));
      await broken.until(1);
      broken.cut();
      for (const n of [1, 2, 3]) await pass(`over ${n}`);
      await settled(a.server, b.server, c.server);
      const resumed = await openGet(c.client, session, lastEventId(broken));
      expect((await resumed.end()).at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } });
      expect([...progress(broken), ...progress(resumed)]).toEqual([1, 2, 3]);
    });

    test('of another session is not known', async () => {
      const [session, other] = [await a.client.initialize(), await a.client.initialize()];
      const call = await openPost(a.client, session, steps('private'));
      await call.until(1);
      const stolen = await openGet(b.client, other, lastEventId(call));
      expect(stolen.response.statusCode).toBe(400);
      for (const n of [1, 2, 3]) await pass(`private ${n}`);
      await call.end();
    });

    test('ends with an error if the process of the call is killed', async () => {
      const doomed = await start();
      const session = await doomed.client.initialize();
      const broken = await openPost(doomed.client, session, steps('killed', 4));
      await broken.until(1);
      broken.cut();
      const resumed = await openGet(b.client, session, lastEventId(broken));
      await pass('killed 1');
      await resumed.until(1);
      doomed.leave();
      expect((await resumed.end()).at(-1)).toMatchObject({
        id: 4,
        error: { code: -32603, data: { mayHaveRun: true } },
      });
      const late = await openGet(b.client, session, lastEventId(broken));
      if (replicas.keepsEvents) {
        expect((await late.end()).at(-1)).toMatchObject({ id: 4, error: { code: -32603, data: { mayHaveRun: true } } });
        expect(progress(late)).toEqual([2]);
      } else expect(late.response.statusCode).toBe(400);
    });
  });

  describe('the standalone stream', () => {
    test('is where it was opened last, and changes reach it once', async () => {
      const session = await a.client.initialize();
      await c.client.session(session, 'resources/subscribe', { uri: 'memo://1' });
      const first = await openGet(a.client, session);
      b.server.resourceUpdated('memo://1');
      await first.until(1);
      const second = await openGet(b.client, session);
      await first.end();
      a.server.resourceUpdated('memo://1');
      await second.until(1);
      c.server.resourceUpdated('memo://1');
      await second.until(2);
      await settled(a.server, b.server, c.server);
      expect([uris(first), uris(second)]).toEqual([['memo://1'], ['memo://1', 'memo://1']]);
      second.cut();
    });

    test('brings what was changed while there was none, in whichever process it is opened', async () => {
      const session = await a.client.initialize();
      await a.client.session(session, 'resources/subscribe', { uri: 'memo://1' });
      await b.client.session(session, 'resources/subscribe', { uri: 'memo://2' });
      b.server.resourceUpdated('memo://1');
      await settled(a.server, b.server, c.server);
      const first = await openGet(c.client, session);
      expect(uris({ messages: await first.until(1) } as EventReader)).toEqual(['memo://1']);
      first.cut();
      // Until the process has noticed it.
      await expect.poll(() => replicas.written.get('stream')).toEqual({ position: expect.any(Number) });
      for (let n = 0; n < 3; n++) a.server.resourceUpdated('memo://2');
      a.server.resourceUpdated('memo://3');
      await settled(a.server, b.server, c.server);
      const second = await openGet(a.client, session);
      await second.until(1);
      b.server.resourceUpdated('memo://1');
      await second.until(2);
      expect(uris(second)).toEqual(['memo://2', 'memo://1']);
      second.cut();
    });

    test('sends events again that were lost on the way, also those that another process sent', async () => {
      const session = await a.client.initialize();
      await a.client.session(session, 'resources/subscribe', { uri: 'memo://1' });
      await a.client.session(session, 'resources/subscribe', { uri: 'memo://2' });
      const first = await openGet(a.client, session);
      a.server.resourceUpdated('memo://1');
      await first.until(1);
      const seen = lastEventId(first);
      a.server.resourceUpdated('memo://2');
      await first.until(2);
      // As if the second event had not arrived.
      const second = await openGet(b.client, session, seen);
      await second.until(1);
      a.server.resourceUpdated('memo://1');
      await second.until(2);
      expect(uris(second)).toEqual(['memo://2', 'memo://1']);
      second.cut();
    });

    test('opened in several processes at once, one of them has it', async () => {
      const session = await a.client.initialize();
      await a.client.session(session, 'resources/subscribe', { uri: 'memo://1' });
      const streams = await Promise.all([a, b, c].map(({ client }) => openGet(client, session)));
      await expect.poll(() => streams.filter(({ ended }) => !ended)).toHaveLength(1);
      a.server.resourceUpdated('memo://1');
      const open = streams.find(({ ended }) => !ended) as EventReader;
      await open.until(1);
      await settled(a.server, b.server, c.server);
      expect(streams.flatMap(uris)).toEqual(['memo://1']);
      open.cut();
    });

    test('is replaced without loss when the process that had it was killed', async () => {
      const doomed = await start();
      const session = await doomed.client.initialize();
      await doomed.client.session(session, 'resources/subscribe', { uri: 'memo://1' });
      await openGet(doomed.client, session);
      doomed.leave();
      a.server.resourceUpdated('memo://1');
      await settled(a.server, b.server, c.server);
      const stream = await openGet(b.client, session);
      expect(uris({ messages: await stream.until(1) } as EventReader)).toEqual(['memo://1']);
      stream.cut();
    });
  });

  describe('HTTP+SSE', () => {
    test('a message is posted to any process, by the one who opened the stream', async () => {
      const stream = new EventReader(
        await a.client.open({ method: 'GET', path: '/sse', headers: { Authorization: 'ada' } }),
      );
      await expect.poll(() => stream.events.length).toBeGreaterThan(0);
      const path = stream.events[0]?.data as string;
      const post = (replica: Replica, body: object, as = 'ada') =>
        replica.client.send({ path, body, headers: { Authorization: as } });
      const clientInfo = { name: 'c', version: '1' };
      const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo };
      expect((await post(b, { jsonrpc: '2.0', id: 1, method: 'initialize', params })).status).toBe(202);
      await stream.until(1);
      await post(c, { jsonrpc: '2.0', method: 'notifications/initialized' });
      expect((await post(b, { jsonrpc: '2.0', id: 2, method: 'ping' }, 'eve')).status).toBe(404);
      const call = { name: 'echo', arguments: { name: 'x' } };
      expect((await post(c, { jsonrpc: '2.0', id: 3, method: 'tools/call', params: call })).status).toBe(202);
      expect((await stream.until(2)).at(-1)).toMatchObject({ id: 3, result: { content: [{ text: 'x' }] } });
      stream.cut();
      await expect.poll(async () => (await post(b, { jsonrpc: '2.0', id: 4, method: 'ping' })).status).toBe(404);
    });
  });
}
