// One caller opens many sessions to get more than its share of a rate limit. Limits follow the principal, or the address
// where there is none, whatever carries the requests and however many sessions they come in.

import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Authenticate, createServer } from '../../src/index.ts';
import { type LimitScope, limitConcurrency, rateLimit } from '../../src/security/limits/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import { both, EventReader, HttpTestClient, initializeBody } from '../support/http-client.ts';
import { useHome } from '../support/program.ts';

const closers = useClosers();

/** The token is the name of the caller. */
const byName: Authenticate = (request) => {
  const name = /^Bearer (\w+)$/.exec(request.get('authorization') ?? '')?.[1];
  return name === undefined ? undefined : { id: name };
};
const bearer = (name: string): Record<string, string> => ({ Authorization: `Bearer ${name}` });

async function start(per: LimitScope | readonly LimitScope[], authenticate?: Authenticate) {
  const server = createServer({ name: 'limited', version: '1.0.0' });
  server.tool('count', { run: () => 'counted' });
  server.around(rateLimit([{ per, requests: 30, windowMs: 60_000 }], { now: () => 0 }));
  const { http, client } = await startHttp(closers, server, {
    ...(authenticate === undefined ? {} : { authenticate }),
  });
  return { client, port: http.port };
}

/** How many of the calls in so many sessions are served. */
async function served(client: HttpTestClient, sessions: number, calls: number, headers: Record<string, string> = {}) {
  let count = 0;
  for (let n = 0; n < sessions; n++) {
    const session = await client.initialize({ headers });
    for (let call = 0; call < calls; call++) {
      const { status } = await client.session(session, 'tools/call', { name: 'count' }, { headers });
      if (status === 200) count++;
      else expect(status).toBe(429);
    }
  }
  return count;
}

const scopes = ['session', 'principal', ['session', 'tool'], ['principal', 'session']] as const;

test.each(scopes)('ten sessions of a principal get what one gets, others are not affected: per %s', async (per) => {
  const { client } = await start(per, byName);
  expect(await served(client, 10, 30, bearer('mallory'))).toBe(30);
  expect(await served(client, 1, 30, bearer('alice'))).toBe(30);
});

test('without principals an address is one caller, over sessions, event streams and WebSockets together', async () => {
  const { client, port } = await start('session');
  expect(await served(client, 2, 10)).toBe(20);
  expect(await countOverSse(client)).toBe(5);
  expect(await countOverWebSocket(port)).toBe(5);
  expect(await countOverSse(client)).toBe(0);
  expect(await countOverWebSocket(port)).toBe(0);
  expect(await served(client, 1, 1)).toBe(0);
});

const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'count' } });

async function countOverSse(client: HttpTestClient): Promise<number> {
  const reader = new EventReader(await client.open({ method: 'GET', path: '/sse', headers: { Accept: both } }));
  while (reader.events.length === 0) await new Promise((resolve) => reader.response.once('data', resolve));
  const path = reader.events[0]?.data as string;
  await client.send({ path, body: initializeBody('2024-11-05') });
  for (let id = 1; id <= 5; id++) await client.send({ path, body: call(id) });
  const answers = await reader.until(6);
  reader.cut();
  return answers.filter(({ id, result }) => id !== 'open' && result !== undefined).length;
}

async function countOverWebSocket(port: number): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`);
  const results: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    let left = 6;
    socket.on('error', reject);
    socket.on('open', () => {
      socket.send(JSON.stringify(initializeBody('2025-06-18')));
      for (let id = 1; id <= 5; id++) socket.send(JSON.stringify(call(id)));
    });
    socket.on('message', (data) => {
      const { id, result } = JSON.parse(String(data));
      if (id !== 'open' && result !== undefined) results.push(result);
      if (--left === 0) resolve();
    });
  });
  socket.terminate();
  return results.length;
}

test('sessions of one caller share the calls that may run at a time', async () => {
  const server = createServer({ name: 'limited', version: '1.0.0' });
  const waiting: (() => void)[] = [];
  server.tool('wait', { run: () => new Promise<string>((resolve) => waiting.push(() => resolve('done'))) });
  server.around(limitConcurrency({ per: 'session', max: 2 }));
  const { client } = await startHttp(closers, server, { authenticate: byName });
  const headers = bearer('mallory');
  const sessions = await Promise.all([1, 2, 3].map(() => client.initialize({ headers })));
  const wait = (id: string, as = headers) => client.session(id, 'tools/call', { name: 'wait' }, { headers: as });
  const [one, two, three] = sessions as [string, string, string];
  const running = [wait(one), wait(two)];
  await expect.poll(() => waiting.length).toBe(2);
  expect((await wait(three)).status).toBe(429);
  const alice = bearer('alice');
  running.push(wait(await client.initialize({ headers: alice }), alice));
  await expect.poll(() => waiting.length).toBe(3);
  for (const finish of waiting) finish();
  for (const each of await Promise.all(running)) expect(each.status).toBe(200);
});

describe('the profiles that limit', () => {
  const home = useHome();

  test.each([
    ['secure-local', '2025-11-25', 60, 2],
    ['system', '2024-11-05', 200, 10],
    ['orchestrator', '2025-06-18', 200, 10],
  ] as const)('%s gives ten sessions of one caller no more than one', async (profile, version, burst, perSecond) => {
    const { url } = await home.serve([profile]);
    const client = new HttpTestClient(Number(new URL(url).port));
    closers.push(() => client.close());
    const begunMs = performance.now();
    let count = 0;
    for (let n = 0; n < 10; n++) {
      const session = await client.initialize({ version });
      for (let call = 0; call < 30; call++) {
        if ((await client.session(session, 'tools/list')).status === 200) count++;
      }
    }
    const seconds = (performance.now() - begunMs) / 1000;
    expect(count).toBeGreaterThanOrEqual(burst);
    expect(count).toBeLessThanOrEqual(burst + Math.ceil(seconds * perSecond));
  });
});
