// What is remembered of a server saves questions, and never asks a person twice.
import { afterEach, expect, test } from 'vitest';
import { AuthError, type Authorizer, connect, EraCache } from '../../src/client/index.ts';
import { startHttpSubject } from '../conformance/subject.ts';
import { type FaultyServer, startFaultyServer } from './faulty/http-server.ts';

let server: FaultyServer | undefined;
afterEach(() => server?.close());

const methodsOf = ({ visits }: FaultyServer): (string | undefined)[] =>
  visits.flatMap(({ body }) => (body === '' ? [] : [(JSON.parse(body) as { method?: string }).method]));

test('a server that is known to require a handshake gets no stateless request', async () => {
  server = await startFaultyServer();
  const eraCache = new EraCache();
  await (await connect(server.url, { eraCache })).close();
  const first = methodsOf(server).length;
  await (await connect(server.url, { eraCache })).close();
  expect(methodsOf(server).slice(0, first)).toContain('server/discover');
  expect(methodsOf(server).slice(first)).not.toContain('server/discover');
});

test('a server that has changed since is probed again', async () => {
  server = await startFaultyServer();
  const eraCache = new EraCache();
  eraCache.remember(server.url, 'stateless');
  await (await connect(server.url, { eraCache })).close();
  expect(eraCache.get(server.url)).toBe('handshake');
});

test('a client limited to handshake revisions stores nothing about other revisions of the server', async () => {
  const eraCache = new EraCache();
  const subject = await startHttpSubject();
  try {
    await (await connect(subject.url, { eraCache, revision: 'handshake' })).close();
    const client = await connect(subject.url, { eraCache });
    await client.close();
    expect(client.revision).toBe('2026-07-28');
    eraCache.remember(subject.url, 'handshake');
    const pinned = await connect(subject.url, { eraCache, revision: '2026-07-28' });
    await pinned.close();
    expect(pinned.revision).toBe('2026-07-28');
  } finally {
    await subject.close();
  }
});

test('a sign-in that was declined is not repeated because of the cache', async () => {
  server = await startFaultyServer(({ response }) => {
    response.writeHead(401).end();
    return true;
  });
  let asked = 0;
  const authorizer: Authorizer = {
    headers: () => ({}),
    challenge: async () => {
      asked++;
      throw new AuthError('authorization-denied', 'declined');
    },
  };
  const eraCache = new EraCache();
  eraCache.remember(server.url, 'handshake');
  await expect(connect(server.url, { eraCache, authorizer })).rejects.toMatchObject({ code: 'authorization-denied' });
  expect(asked).toBe(1);
  expect(eraCache.get(server.url)).toBe('handshake');
});
