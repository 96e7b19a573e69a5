// What a process serves of a session while look-ups in the store fail, or are overtaken by changes.
import { afterEach, expect, test } from 'vitest';
import type { HttpOptions, Server } from '../../src/index.ts';
import { wireErrors } from '../../src/protocol/errors.ts';
import type { ExpiringStore } from '../../src/protocol/ports.ts';
import { useClosers } from '../support/closers.ts';
import { openGet, Replicas, serverWith } from '../support/replicas.ts';
import { installLogTool } from './support/log-tool.ts';

const closers = useClosers(afterEach);

function install(server: Server): void {
  installLogTool(server);
  server.resource('memo://1', { name: 'memo', read: () => 'text' });
}

/** Look-ups by one process: some fail, and the replies to those of states may be held back. */
class LookUps {
  /** Which kind of key cannot be looked up. */
  failing: 'state' | 'stream' | undefined;
  #held: Promise<void> | undefined;
  #asked: (() => void) | undefined;

  wrap(store: ExpiringStore): ExpiringStore {
    return {
      ...store,
      get: (key) => {
        if (key.startsWith(`${this.failing} `)) return Promise.reject(wireErrors.storeUnavailable());
        if (!key.startsWith('state ')) return store.get(key);
        const reply = Promise.resolve(store.get(key));
        const held = this.#held;
        if (held === undefined) return reply;
        void reply.then(() => this.#asked?.());
        return held.then(() => reply);
      },
    };
  }

  /** Holds replies back. `asked` resolves when there is one; `release` passes on all of them. */
  hold(): { readonly asked: Promise<void>; readonly release: () => void } {
    let release = (): void => {};
    const asked = new Promise<void>((resolve) => {
      this.#asked = resolve;
    });
    this.#held = new Promise((resolve) => {
      release = () => {
        this.#held = undefined;
        resolve();
      };
    });
    return { asked, release };
  }
}

/** Two servers and a session for which only errors are logged. What the second one looks up can be made to fail. */
async function start(options: HttpOptions = {}) {
  const replicas = new Replicas();
  closers.push(() => replicas.close());
  const lookUps = new LookUps();
  const a = await replicas.start(install);
  const b = await replicas.startServer(
    (shared) => serverWith(install)({ ...shared, logger: false, store: lookUps.wrap(shared.store as ExpiringStore) }),
    options,
  );
  const session = await a.client.initialize();
  const setLevel = async (level: string): Promise<void> =>
    expect((await a.client.session(session, 'logging/setLevel', { level })).status).toBe(200);
  await setLevel('error');
  const call = () => b.client.session(session, 'tools/call', { name: 'log' });
  const status = async (): Promise<number> => (await call()).status;
  const readsAgain = async (): Promise<boolean> => {
    replicas.reads.length = 0;
    await status();
    return replicas.reads.includes('revoked');
  };
  return { a, b, session, lookUps, setLevel, call, status, readsAgain };
}

const logMessage = 'notifications/message';

test('a session whose state cannot be read again is served as it was, until it is known to have changed', {
  timeout: 60_000,
}, async () => {
  const { b, lookUps, setLevel, call, status, readsAgain } = await start();
  expect((await call()).text).not.toContain(logMessage);
  b.pause();
  await expect.poll(readsAgain, { timeout: 20_000 }).toBe(true);
  lookUps.failing = 'state';
  const { status: served, text } = await call();
  expect(served).toBe(200);
  expect(text).not.toContain(logMessage);
  await setLevel('debug');
  b.resume();
  await expect.poll(status, { timeout: 20_000 }).toBe(503);
  lookUps.failing = undefined;
  await expect.poll(async () => (await call()).text, { timeout: 20_000 }).toContain(logMessage);
});

test('it is not served as it was for longer than `maxStaleMs`', { timeout: 60_000 }, async () => {
  const { b, lookUps, status, readsAgain } = await start({ limits: { maxStaleMs: 4_000 } });
  b.pause();
  await expect.poll(readsAgain, { timeout: 20_000 }).toBe(true);
  const askedAtMs = performance.now();
  expect(await status()).toBe(200);
  lookUps.failing = 'state';
  await expect.poll(status, { timeout: 20_000 }).toBe(503);
  expect(performance.now() - askedAtMs).toBeGreaterThanOrEqual(4_000);
  b.resume();
  lookUps.failing = undefined;
  await expect.poll(status, { timeout: 20_000 }).toBe(200);
});

test('a change that arrives before the reply of a look-up applies to the request that waits for it', async () => {
  const { b, session, lookUps, setLevel, call } = await start();
  const { asked, release } = lookUps.hold();
  const opening = openGet(b.client, session);
  await asked;
  await setLevel('debug');
  release();
  const stream = await opening;
  expect((await call()).text).toContain(logMessage);
  stream.cut();
});

test('a session that ends before the reply of a look-up is not served', async () => {
  const { a, b, session, lookUps } = await start();
  const { asked, release } = lookUps.hold();
  const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': session };
  const opening = b.client.send({ method: 'GET', headers });
  await asked;
  expect((await a.client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': session } })).status).toBe(200);
  release();
  expect((await opening).status).toBe(404);
});

test('a subscription that is stored is known to all, although the look-up after it fails', async () => {
  const { a, b, session, lookUps } = await start();
  expect((await b.client.session(session, 'ping')).status).toBe(200);
  lookUps.failing = 'stream';
  expect((await b.client.session(session, 'resources/subscribe', { uri: 'memo://1' })).status).toBe(200);
  const stream = await openGet(a.client, session);
  a.server.resourceUpdated('memo://1');
  await stream.until(1);
  expect(stream.messages).toMatchObject([{ method: 'notifications/resources/updated', params: { uri: 'memo://1' } }]);
  stream.cut();
});
