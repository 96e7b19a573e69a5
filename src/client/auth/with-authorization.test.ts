import { expect, test } from 'vitest';
import type { Authorizer, ChallengeContext, ChallengeOutcome } from './authorizer.ts';
import { createStaticAuthorizer } from './static-authorizer.ts';
import { createAuthorizedFetch, withAuthorization } from './with-authorization.ts';

const url = 'https://mcp.example.com/mcp';

function scripted(outcomes: (ChallengeOutcome | Error)[]) {
  const contexts: ChallengeContext[] = [];
  const observed: number[] = [];
  let round = 0;
  const authorizer: Authorizer = {
    headers: () => ({ authorization: `Bearer ${++round}` }),
    challenge: async (_url, _response, context = {}) => {
      contexts.push(context);
      const outcome = outcomes.shift() ?? 'retry';
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    observe: (_url, { status }) => void observed.push(status),
  };
  return { authorizer, contexts, observed };
}

const answers = (...statuses: number[]) => {
  const sent: (string | undefined)[] = [];
  const send = async (headers: Readonly<Record<string, string>>) => {
    sent.push(headers['authorization']);
    return { status: statuses.shift() ?? 401, headers: {} };
  };
  return { send, sent };
};

test('a request is repeated with fresh headers until it is answered', async () => {
  const { authorizer, contexts, observed } = scripted(['retry', 'retry']);
  const { send, sent } = answers(401, 403, 200);
  const discarded: number[] = [];
  const response = await withAuthorization(authorizer, url, { method: 'POST' }, send, ({ status }) =>
    discarded.push(status),
  );
  expect(response.status).toBe(200);
  expect(sent).toEqual(['Bearer 1', 'Bearer 2', 'Bearer 3']);
  expect(contexts).toMatchObject([
    { attempt: 1, sent: { authorization: 'Bearer 1' } },
    { attempt: 2, sent: { authorization: 'Bearer 2' } },
  ]);
  expect(discarded).toEqual([401, 403]);
  expect(observed).toEqual([401, 403, 200]);
});

test('what the authorizer does not handle is returned unchanged', async () => {
  const discarded: number[] = [];
  const { authorizer } = scripted(['fail']);
  const response = await withAuthorization(authorizer, url, { method: 'GET' }, answers(403).send, ({ status }) =>
    discarded.push(status),
  );
  expect(response.status).toBe(403);
  expect(discarded).toEqual([]);
});

test('an error of the authorizer frees the response first', async () => {
  const discarded: number[] = [];
  const { authorizer } = scripted([new Error('denied')]);
  await expect(
    withAuthorization(authorizer, url, { method: 'GET' }, answers(401).send, ({ status }) => discarded.push(status)),
  ).rejects.toThrow('denied');
  expect(discarded).toEqual([401]);
});

test('an authorizer that always wants another round gets a bounded number of them', async () => {
  const { authorizer } = scripted([]);
  const { send, sent } = answers();
  expect((await withAuthorization(authorizer, url, { method: 'GET' }, send)).status).toBe(401);
  expect(sent.length).toBeLessThan(12);
});

test('a fetch that authorizes itself keeps the headers it was given', async () => {
  const { authorizer } = scripted(['retry']);
  const seen: Headers[] = [];
  const statuses = [401, 200];
  const fake = (async (_url: string | URL, init: RequestInit) => {
    seen.push(init.headers as Headers);
    return new Response('x', { status: statuses.shift() });
  }) as typeof fetch;
  const response = await createAuthorizedFetch(authorizer, fake)(url, {
    method: 'POST',
    headers: { 'x-mine': '1' },
    body: 'b',
  });
  expect(response.status).toBe(200);
  expect(seen.map((headers) => [headers.get('x-mine'), headers.get('authorization')])).toEqual([
    ['1', 'Bearer 1'],
    ['1', 'Bearer 2'],
  ]);
});

test('a fixed token goes to its server and nowhere else, and a rejection is final', async () => {
  const fixed = createStaticAuthorizer({ server: url, token: 't' });
  expect(fixed.headers(url, { method: 'GET' })).toEqual({ authorization: 'Bearer t' });
  expect(fixed.headers('https://evil.example.com/mcp', { method: 'GET' })).toEqual({});
  expect(await fixed.challenge(url, { status: 401, headers: {} })).toBe('fail');
  const fresh = createStaticAuthorizer({ server: url, token: async () => 'from-vault' });
  expect(await fresh.headers(url, { method: 'GET' })).toEqual({ authorization: 'Bearer from-vault' });
  expect(() => createStaticAuthorizer({ server: 'http://mcp.example.com/', token: 't' })).toThrow(
    expect.objectContaining({ code: 'insecure-url' }),
  );
});
