// An ended session must stay ended: not evicted by ending many others, not brought back by a clock that jumps. What the
// server remembers of ended sessions is bounded by rejecting new sessions of the caller that ended so many.

import { rmSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Authenticate, createServer, type ExpiringStore, type HttpOptions } from '../../src/index.ts';
import { openDataFolder } from '../../src/stores/sqlite/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import { both, type HttpTestClient, initializeBody } from '../support/http-client.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const closers = useClosers(afterEach);
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const byName: Authenticate = (request) => {
  const name = /^Bearer (\w+)$/.exec(request.get('authorization') ?? '')?.[1];
  return name === undefined ? undefined : { id: name };
};
const mallory = { Authorization: 'Bearer mallory' };
const alice = { Authorization: 'Bearer alice' };
const day = 24 * 60 * 60_000;

async function start(options: HttpOptions = {}, store?: ExpiringStore): Promise<HttpTestClient> {
  const server = createServer({ name: 'sessions', version: '1.0.0', ...(store === undefined ? {} : { store }) });
  server.tool('echo', { run: () => 'echo' });
  const { client } = await startHttp(closers, server, options);
  return client;
}

const end = (client: HttpTestClient, id: string, headers: Record<string, string> = {}) =>
  client.send({ method: 'DELETE', headers: { ...headers, 'Mcp-Session-Id': id } });
const initialize = (client: HttpTestClient, headers: Record<string, string> = {}) =>
  client.send({ body: initializeBody('2025-11-25'), headers: { Accept: both, ...headers } });
const ping = async (client: HttpTestClient, id: string, headers: Record<string, string> = {}) =>
  (await client.session(id, 'ping', {}, { headers })).status;

describe('a caller that has ended as many sessions as are remembered', () => {
  const limits = { maxRevokedSessions: 10, maxRevokedSessionsPerCaller: 3 };

  test('opens no more, nothing it ended comes back, and others are not affected', async () => {
    const client = await start({ limits, authenticate: byName });
    const running = await client.initialize({ headers: mallory });
    const ended: string[] = [];
    for (let n = 0; n < 3; n++) {
      const id = await client.initialize({ headers: mallory });
      expect((await end(client, id, mallory)).status).toBe(200);
      ended.push(id);
    }
    const rejected = await initialize(client, mallory);
    expect(rejected.status).toBe(503);
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(60);
    expect(rejected.json.error?.message).toMatch(/ended too many sessions/);
    expect(rejected.headers['mcp-session-id']).toBeUndefined();
    for (const id of ended) expect(await ping(client, id, mallory)).toBe(404);
    expect(await ping(client, running, mallory)).toBe(200);
    const other = await client.initialize({ headers: alice });
    expect((await end(client, other, alice)).status).toBe(200);
    expect(await ping(client, other, alice)).toBe(404);
  });

  test('can still end a number of sessions it has, and is told when one was not ended', async () => {
    const client = await start({ limits, authenticate: byName });
    const ids: string[] = [];
    for (let n = 0; n < 8; n++) ids.push(await client.initialize({ headers: mallory }));
    const statuses: number[] = [];
    for (const id of ids) statuses.push((await end(client, id, mallory)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 503, 503]);
    for (const [n, id] of ids.entries()) expect(await ping(client, id, mallory)).toBe(n < 6 ? 404 : 200);
  });

  test('opens sessions again when the ended ones would have expired', async () => {
    // Time passes only as the test says.
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    const client = await start({ limits: { ...limits, sessionTtlMs: 60_000 } });
    for (let n = 0; n < 3; n++) await end(client, await client.initialize());
    expect((await initialize(client)).status).toBe(503);
    vi.advanceTimersByTime(61_000);
    await expect.poll(async () => (await initialize(client)).status).toBe(200);
  });
});

test('when all callers together have ended as many sessions as are stored, no session can be opened', async () => {
  const client = await start({
    limits: { maxRevokedSessions: 3, maxRevokedSessionsPerCaller: 2 },
    authenticate: byName,
  });
  for (const headers of [mallory, mallory, alice]) await end(client, await client.initialize({ headers }), headers);
  expect((await initialize(client, alice)).status).toBe(503);
});

const stores: Readonly<Record<string, () => Promise<ExpiringStore | undefined>>> = {
  'in memory': async () => undefined,
  'in the data folder': async () => {
    const folder = temporaryFolder();
    const data = await openDataFolder(folder, { pollMs: 0, backupAfterMs: 0 });
    closers.push(
      () => rmSync(folder, { recursive: true, force: true }),
      () => data.close(),
    );
    return data.expiring;
  },
};

/** A clock that is wrong by as much as it is told; the code under test may hold on to the function, so it comes first. */
function wrongClock(): { aheadMs: number } {
  const clock = { aheadMs: 0 };
  const realNow = Date.now.bind(Date);
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + clock.aheadMs);
  return clock;
}

describe.each(Object.entries(stores))('with marks %s', (_name, open) => {
  test.each([8, 400, -8])('an ended session stays ended when the clock jumps by %i days and back', async (days) => {
    const clock = wrongClock();
    const client = await start({}, await open());
    const [ended, other] = [await client.initialize(), await client.initialize()];
    expect((await end(client, ended)).status).toBe(200);
    clock.aheadMs = days * day;
    // Requests of all kinds while the clock is wrong: what reads, what writes, and what makes space.
    expect(await ping(client, ended)).toBe(404);
    await ping(client, other);
    const during = await client.initialize();
    expect((await end(client, during)).status).toBe(200);
    clock.aheadMs = 0;
    expect(await ping(client, ended)).toBe(404);
    expect(await ping(client, during)).toBe(404);
  });

  test('a session that is ended while the clock is wrong stays ended when it is right again', async () => {
    const clock = wrongClock();
    const client = await start({}, await open());
    const id = await client.initialize();
    clock.aheadMs = 7 * day - 1_000;
    expect((await end(client, id)).status).toBe(200);
    clock.aheadMs = 10_000;
    expect(await ping(client, id)).toBe(404);
  });
});
