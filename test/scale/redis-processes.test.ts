// Three processes with one Redis, and clients whose every request goes to any of them. Runs what was built.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { both, EventReader, HttpTestClient, type Message } from '../support/http-client.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { lastEventId } from '../support/replicas.ts';

interface Replica {
  readonly child: ChildProcess;
  readonly client: HttpTestClient;
}

const key = randomBytes(32).toString('base64');
const script = join(import.meta.dirname, 'fixtures/redis-replica.mjs');

async function startReplica(url: string): Promise<Replica> {
  const env = { ...process.env, REDIS_URL: url, SERVER_KEY: key };
  const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    child.stdout?.once('data', (data: Buffer) => resolve(Number(data.toString())));
  });
  const client = new HttpTestClient(port);
  client.retriesUnavailable = true;
  return { child, client };
}

/** Sends every request to another process, in an order that the seed decides. */
class RandomRouter {
  readonly replicas: Replica[];
  #state: number;

  constructor(replicas: Replica[], seed: number) {
    this.replicas = replicas;
    this.#state = seed;
  }

  get any(): HttpTestClient {
    this.#state = (this.#state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const at = Math.floor((this.#state / 2_147_483_648) * this.replicas.length);
    return (this.replicas[at] as Replica).client;
  }
}

describe.skipIf(!hasRedis())('three processes with one Redis', () => {
  let redis: RedisServer;
  const replicas: Replica[] = [];
  let router: RandomRouter;
  beforeAll(async () => {
    redis = await startRedis();
    for (let n = 0; n < 3; n++) replicas.push(await startReplica(redis.url));
    router = new RandomRouter(replicas, 7);
  });
  afterAll(async () => {
    for (const { child, client } of replicas) {
      client.close();
      child.kill('SIGKILL');
    }
    await redis?.close();
  });

  const as = (user: string, session: string) => ({ Accept: both, 'Mcp-Session-Id': session, Authorization: user });
  const call = (id: number, name: string, args: object = {}) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name, arguments: args, _meta: { progressToken: id } },
  });
  const open = (user: string, capabilities: object = {}): Promise<string> =>
    router.any.initialize({ capabilities, headers: { Authorization: user } });
  const post = async (user: string, session: string, body: object, client = router.any) =>
    new EventReader(await client.open({ body, headers: as(user, session) }));
  const get = async (user: string, session: string, last?: string, client = router.any) => {
    const headers = { ...as(user, session), Accept: 'text/event-stream' };
    return new EventReader(
      await client.open({
        method: 'GET',
        headers: last === undefined ? headers : { ...headers, 'Last-Event-ID': last },
      }),
    );
  };
  const textOf = ({ result }: Message): unknown => (result?.['content'] as { text: string }[] | undefined)?.[0]?.text;

  test('answers to input requests and cancellations reach the process of the call', { timeout: 120_000 }, async () => {
    for (let n = 0; n < 15; n++) {
      const session = await open('ada', { elicitation: {} });
      const asking = await post('ada', session, call(1, 'ask', { name: `q${n}` }));
      const [question] = await asking.until(1);
      const body = { jsonrpc: '2.0', id: question?.id, result: { action: 'accept', content: { name: `a${n}` } } };
      expect((await router.any.send({ body, headers: as('ada', session) })).status).toBe(202);
      expect(textOf((await asking.end()).at(-1) as Message)).toBe(`ada q${n} a${n}`);
      const endless = await post('ada', session, call(2, 'forever'));
      await endless.until(1);
      const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } };
      await router.any.send({ body: cancel, headers: as('ada', session) });
      await endless.end();
    }
  });

  test('changes reach every stream once, wherever they happen and whichever process has the stream', {
    timeout: 120_000,
  }, async () => {
    const streams: EventReader[] = [];
    for (let n = 0; n < 9; n++) {
      const session = await open(`user ${n}`);
      const subscribe = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'memo://1' } };
      await router.any.send({ body: subscribe, headers: as(`user ${n}`, session) });
      streams.push(await get(`user ${n}`, session));
      await router.any.send({ body: call(2, 'change'), headers: as(`user ${n}`, session) });
      for (const [at, stream] of streams.entries()) await stream.until(2 * (n + 1 - at));
    }
    // Later messages would follow what was sent twice.
    const session = await open('last');
    await router.any.send({ body: call(1, 'change'), headers: as('last', session) });
    for (const [at, stream] of streams.entries()) {
      const messages = await stream.until(2 * (10 - at));
      expect(messages).toHaveLength(2 * (10 - at));
      expect(messages.filter(({ params }) => params?.['uri'] === 'memo://1')).toHaveLength(10 - at);
      stream.cut();
    }
  });

  test('a session that was ended is unknown in all processes when DELETE is answered', {
    timeout: 120_000,
  }, async () => {
    for (let n = 0; n < 30; n++) {
      const session = await open('ada');
      const body = { jsonrpc: '2.0', id: 1, method: 'ping' };
      const statuses = async (): Promise<number[]> =>
        Promise.all(
          replicas.map(async ({ client }) => (await client.send({ body, headers: as('ada', session) })).status),
        );
      expect(await statuses()).toEqual([200, 200, 200]);
      const ended = await router.any.send({ method: 'DELETE', headers: as('ada', session) });
      expect(ended.status).toBe(200);
      expect(await statuses()).toEqual([404, 404, 404]);
    }
  });

  test('what a call sends arrives once and in order, however often its stream is cut and resumed', {
    timeout: 120_000,
  }, async () => {
    await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const session = await open('ada');
        const readers = [await post('ada', session, call(n, 'steps', { name: `s${n}` }))];
        for (let last = readers[0] as EventReader; !last.ended; ) {
          await Promise.race([last.until(1), last.end()]);
          if (last.messages.some(({ result }) => result !== undefined)) break;
          last.cut();
          last = await get('ada', session, lastEventId(last));
          readers.push(last);
        }
        const messages = readers.flatMap((reader) => reader.messages);
        const progress = messages.map(({ params }) => params?.['progress']).filter((each) => each !== undefined);
        expect(progress).toEqual([1, 2, 3, 4, 5]);
        expect(messages.filter(({ result }) => result !== undefined).map(textOf)).toEqual([`ada s${n}`]);
      }),
    );
  });

  test('no caller receives anything of another', { timeout: 120_000 }, async () => {
    const users = Array.from({ length: 10 }, (_, n) => `user-${n}`);
    const calls = isFullRun ? 100 : 20;
    await Promise.all(
      users.map(async (user) => {
        const session = await open(user);
        const foreign = users.filter((each) => each !== user);
        for (let n = 0; n < calls; n++) {
          const name = `${user} ${n}`;
          const answer =
            n % 3 === 0
              ? await router.any.modern(
                  'tools/call',
                  { name: 'whoami', arguments: { name } },
                  { headers: { Authorization: user } },
                )
              : await router.any.send({
                  body: call(n, n % 10 === 1 ? 'steps' : 'whoami', { name }),
                  headers: as(user, session),
                });
          expect(answer.status).toBe(200);
          expect(answer.text).toContain(`${user} ${name}`);
          for (const each of foreign) expect(answer.text).not.toContain(`${each} `);
        }
        // Another caller cannot use the session.
        const stolen = await router.any.send({
          body: call(1, 'whoami', { name: 'x' }),
          headers: as(foreign[0] as string, session),
        });
        expect(stolen.status).toBe(404);
      }),
    );
  });

  test('a process that is killed takes nothing with it but its open calls, and those end', {
    timeout: 120_000,
  }, async () => {
    const doomed = await startReplica(redis.url);
    const session = await open('ada');
    const running = await post('ada', session, call(3, 'forever'), doomed.client);
    await running.until(1);
    const last = lastEventId(running);
    doomed.child.kill('SIGKILL');
    await running.end().catch(() => {});
    // At once, and later when it is known that the process has ended.
    const resumed = await get('ada', session, last);
    expect(resumed.response.statusCode).toBe(200);
    expect((await resumed.end()).at(-1)).toMatchObject({ id: 3, error: { code: -32603, data: { mayHaveRun: true } } });
    const again = await get('ada', session, last);
    expect((await again.end()).at(-1)).toMatchObject({ id: 3, error: { code: -32603 } });
    const answer = await router.any.send({ body: call(4, 'whoami', { name: 'still' }), headers: as('ada', session) });
    expect(answer.text).toContain('ada still');
    doomed.client.close();
  });

  test('in steady state calls send no commands to Redis', { timeout: 60_000 }, async () => {
    const session = await open('ada');
    const body = (name: string) => ({ body: call(1, name, { name: 'x' }), headers: as('ada', session) });
    const commands = (): Promise<unknown[]> =>
      Promise.all(replicas.map(async ({ client }) => textOf((await client.send(body('commands'))).json)));
    await commands();
    const callMany = async (): Promise<readonly [before: unknown[], after: unknown[]]> => {
      const before = await commands();
      for (let n = 0; n < 60; n++) {
        expect((await router.any.send(body('whoami'))).status).toBe(200);
        const stateless = await router.any.modern('tools/call', { name: 'whoami', arguments: { name: 'x' } });
        expect(stateless.status).toBe(200);
      }
      return [before, await commands()];
    };
    const sentNone = async (): Promise<boolean> => {
      const [before, after] = await callMany();
      return before.every((count, at) => count === after[at]);
    };
    // Some if a process has just been stopped for a second: it could not know then that it had missed nothing.
    await expect.poll(sentNone, { timeout: 40_000 }).toBe(true);
  });
});
