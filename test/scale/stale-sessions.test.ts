// What a process serves of a session whose state it knows, but cannot read again.
import { afterEach, expect, test } from 'vitest';
import type { HttpOptions, Server } from '../../src/index.ts';
import { wireErrors } from '../../src/protocol/errors.ts';
import type { ExpiringStore } from '../../src/protocol/ports.ts';
import { useClosers } from '../support/closers.ts';
import { Replicas, serverWith } from '../support/replicas.ts';

const closers = useClosers(afterEach);

function install(server: Server): void {
  server.tool('log', {
    run: (_args, ctx) => {
      ctx.log('warning', 'loud');
      return 'logged';
    },
  });
}

/** Two servers and a session with a state. The second one cannot read states while `isFailing`, but is told what was ended. */
async function start(options: HttpOptions = {}) {
  const replicas = new Replicas();
  closers.push(() => replicas.close());
  const fault = { isFailing: false };
  const unreliable = (store: ExpiringStore): ExpiringStore => ({
    ...store,
    get: (key) => {
      if (fault.isFailing && key.startsWith('state ')) return Promise.reject(wireErrors.storeUnavailable());
      return store.get(key);
    },
  });
  const a = await replicas.start(install);
  const b = await replicas.startServer(
    (shared) => serverWith(install)({ ...shared, store: unreliable(shared.store as ExpiringStore) }),
    options,
  );
  const session = await a.client.initialize();
  expect((await a.client.session(session, 'logging/setLevel', { level: 'error' })).status).toBe(200);
  const call = () => b.client.session(session, 'tools/call', { name: 'log' });
  const status = async (): Promise<number> => (await call()).status;
  const readsAgain = async (): Promise<boolean> => {
    replicas.reads.length = 0;
    await status();
    return replicas.reads.includes('revoked');
  };
  expect((await call()).events).toEqual([]);
  return { a, b, session, fault, call, status, readsAgain };
}

test('a session is served as it was, until it is known to have changed', { timeout: 60_000 }, async () => {
  const { a, b, session, fault, call, status, readsAgain } = await start();
  b.pause();
  await expect.poll(readsAgain, { timeout: 20_000 }).toBe(true);
  fault.isFailing = true;
  const { status: served, events } = await call();
  expect([served, events]).toEqual([200, []]);
  expect((await a.client.session(session, 'logging/setLevel', { level: 'debug' })).status).toBe(200);
  b.resume();
  await expect.poll(status, { timeout: 20_000 }).toBe(503);
  fault.isFailing = false;
  await expect.poll(async () => (await call()).text, { timeout: 20_000 }).toContain('notifications/message');
});

test('a session is not served as it was for longer than `maxStaleMs`', { timeout: 60_000 }, async () => {
  const { b, fault, status, readsAgain } = await start({ limits: { maxStaleMs: 2_000 } });
  b.pause();
  await expect.poll(readsAgain, { timeout: 20_000 }).toBe(true);
  fault.isFailing = true;
  expect(await status()).toBe(200);
  await expect.poll(status, { timeout: 20_000 }).toBe(503);
  expect(performance.now() - b.bus.freshAtMs).toBeGreaterThanOrEqual(2_000);
  b.resume();
  fault.isFailing = false;
  await expect.poll(status, { timeout: 20_000 }).toBe(200);
});
