// What is remembered of a server saves questions, and never asks a person twice.
import { afterEach, expect, test } from 'vitest';
import { AuthError, type Authorizer, connect, VerdictCache } from '../../src/client/index.ts';
import { startHttpSubject } from '../conformance/subject.ts';
import { type NastyServer, startNasty } from './nasty/http-server.ts';

let server: NastyServer | undefined;
afterEach(() => server?.close());

const methodsOf = ({ visits }: NastyServer): (string | undefined)[] =>
  visits.flatMap(({ body }) => (body === '' ? [] : [(JSON.parse(body) as { method?: string }).method]));

test('a server that is known to want a handshake is not asked for anything newer', async () => {
  server = await startNasty();
  const verdicts = new VerdictCache();
  await (await connect(server.url, { verdicts })).close();
  const first = methodsOf(server).length;
  await (await connect(server.url, { verdicts })).close();
  expect(methodsOf(server).slice(0, first)).toContain('server/discover');
  expect(methodsOf(server).slice(first)).not.toContain('server/discover');
});

test('a server that has changed since is looked at anew', async () => {
  server = await startNasty();
  const verdicts = new VerdictCache();
  verdicts.remember(server.url, 'stateless');
  await (await connect(server.url, { verdicts })).close();
  expect(verdicts.get(server.url)).toBe('handshake');
});

test('a client that only has handshakes to offer says nothing about what the server speaks besides', async () => {
  const verdicts = new VerdictCache();
  const subject = await startHttpSubject();
  try {
    await (await connect(subject.url, { verdicts, revision: 'handshake' })).close();
    const client = await connect(subject.url, { verdicts });
    await client.close();
    expect(client.revision).toBe('2026-07-28');
    verdicts.remember(subject.url, 'handshake');
    const pinned = await connect(subject.url, { verdicts, revision: '2026-07-28' });
    await pinned.close();
    expect(pinned.revision).toBe('2026-07-28');
  } finally {
    await subject.close();
  }
});

test('a sign-in that was declined is not asked for again because of what is remembered', async () => {
  server = await startNasty(({ response }) => {
    response.writeHead(401).end();
    return true;
  });
  let asked = 0;
  const authorizer: Authorizer = {
    headers: () => ({}),
    challenge: async () => {
      asked++;
      throw new AuthError('authorization-refused', 'declined');
    },
  };
  const verdicts = new VerdictCache();
  verdicts.remember(server.url, 'handshake');
  await expect(connect(server.url, { verdicts, authorizer })).rejects.toMatchObject({ code: 'authorization-refused' });
  expect(asked).toBe(1);
  expect(verdicts.get(server.url)).toBe('handshake');
});
