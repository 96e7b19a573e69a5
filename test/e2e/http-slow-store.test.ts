// The same sessions where store and sealer take their time, as they do when several machines share them.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMemoryExpiringStore } from '../../src/engine/expiring-store.ts';
import { createSealer } from '../../src/engine/sealer.ts';
import { createServer, type ExpiringStore, type HttpServer, serveHttp } from '../../src/index.ts';
import { both, EventReader, HttpTestClient, type Message } from '../support/http-client.ts';

const key = 'a long text that both machines share';
const memory = createMemoryExpiringStore();
let broken = false;

/** Answers later, with copies, as a store on another machine would. */
const store: ExpiringStore = {
  get: (name) => later(async () => structuredClone(await memory.get(name))),
  set: (name, value, ttlMs) => later(() => memory.set(name, structuredClone(value), ttlMs)),
  add: (name, value, ttlMs) => later(() => memory.add(name, structuredClone(value), ttlMs)),
  delete: (name) => later(() => memory.delete(name)),
};

async function later<T>(work: () => T | Promise<T>): Promise<T> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
  if (broken) throw new Error('the store is down');
  return work();
}

const machines: { http: HttpServer; client: HttpTestClient }[] = [];
beforeAll(async () => {
  for (let n = 0; n < 2; n++) {
    const server = createServer({ name: 'slow', version: '1.0.0', sealer: createSealer(key), store });
    server.tool('who', { description: 'Says who asks', run: (_args: unknown, ctx) => JSON.stringify(ctx.clientInfo) });
    server.tool('log', {
      description: 'Logs',
      run: (_args: unknown, ctx) => {
        ctx.log('debug', 'quiet');
        return 'logged';
      },
    });
    server.tool('ask', {
      description: 'Asks the user',
      run: async (_args: unknown, ctx) => {
        const answer = await ctx.elicit('Who?', { type: 'object', properties: { name: { type: 'string' } } });
        return JSON.stringify(answer.content);
      },
    });
    const http = await serveHttp(server, { port: 0, graceMs: 100 });
    machines.push({ http, client: new HttpTestClient(http.port) });
  }
});
afterAll(async () => {
  for (const { http, client } of machines) {
    client.close();
    await http.close();
  }
});

const client = (n: number): HttpTestClient => machines[n]?.client as HttpTestClient;
const logs = (text: string): number => text.split('notifications/message').length - 1;

test('a session opened on one machine is used, changed and ended on both', async () => {
  const session = await client(0).initialize();
  expect((await client(1).session(session, 'tools/call', { name: 'who' })).json.result).toMatchObject({
    content: [{ text: '{"name":"test","version":"1.0.0"}' }],
  });
  expect(logs((await client(0).session(session, 'tools/call', { name: 'log' })).text)).toBe(0);
  await client(1).session(session, 'logging/setLevel', { level: 'debug' });
  await expect.poll(async () => logs((await client(0).session(session, 'tools/call', { name: 'log' })).text)).toBe(1);
  await client(0).session(session, 'logging/setLevel', { level: 'error' });
  await expect.poll(async () => logs((await client(1).session(session, 'tools/call', { name: 'log' })).text)).toBe(0);
  expect((await client(1).send({ method: 'DELETE', headers: { 'Mcp-Session-Id': session } })).status).toBe(200);
  // Ended at once where the request arrived; elsewhere when the store is asked next, which is once a second.
  expect((await client(1).session(session, 'ping')).status).toBe(404);
  await expect.poll(async () => (await client(0).session(session, 'ping')).status).toBe(404);
});

test('requests that arrive together share one session', async () => {
  for (let round = 0; round < 5; round++) {
    const session = await client(0).initialize({ capabilities: { elicitation: {} } });
    const headers = { Accept: both, 'Mcp-Session-Id': session };
    const ask = (id: number) =>
      client(0)
        .open({ body: { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'ask' } }, headers })
        .then((response) => new EventReader(response));
    const streams = await Promise.all([1, 2, 3, 4].map(ask));
    const questions = (await Promise.all(streams.map((stream) => stream.until(1)))).map(
      ([question]) => question as Message,
    );
    expect(new Set(questions.map(({ id }) => id)).size).toBe(4);
    await Promise.all(
      questions.map((question, n) =>
        client(0).send({
          body: { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { name: `n${n}` } } },
          headers,
        }),
      ),
    );
    const answers = await Promise.all(streams.map((stream) => stream.end()));
    expect(answers.map((messages) => JSON.stringify(messages.at(-1)?.result))).toEqual(
      [0, 1, 2, 3].map((n) => expect.stringContaining(`n${n}`)),
    );
  }
});

test('a store that is down fails the request, and nothing else', async () => {
  const session = await client(0).initialize();
  broken = true;
  // While its state is being stored, the session is in memory and needs no store.
  const ping = async () => {
    const { status, json } = await client(0).session(session, 'ping');
    return [status, json.error?.code];
  };
  await expect.poll(ping).toEqual([500, -32603]);
  expect((await client(0).modern('tools/call', { name: 'who' })).status).toBe(200);
  broken = false;
  expect((await client(0).session(session, 'ping')).status).toBe(200);
});
