import { expect, test } from 'vitest';
import {
  type AuthRequest,
  createToken,
  createTokenAuthenticator,
  type Principal,
  type TokenEntry,
} from '../../security/auth/index.ts';
import type { Authentication } from './authentication.ts';
import { LiveAuthentication, noTokens } from './live-authentication.ts';

const request = (token: string): AuthRequest => ({
  method: 'POST',
  path: '/mcp',
  address: undefined,
  get: (name) => (name === 'authorization' ? `Bearer ${token}` : undefined),
});

const of = (...tokens: TokenEntry[]): Authentication => ({
  authenticate: createTokenAuthenticator({ tokens }),
  tokens,
  routes: [],
});

test('what was admitted by a token is revoked when the token is gone or changed, and at no other time', () => {
  const [ada, bob] = [createToken(), createToken()];
  const live = new LiveAuthentication(of({ id: 'ada', hash: ada.hash }, { id: 'bob', hash: bob.hash }));
  const [hers, his] = [ada, bob].map(({ token }) => live.authenticate(request(token)) as Principal) as [
    Principal,
    Principal,
  ];
  const same = live.replace(of({ id: 'bob', hash: bob.hash }, { id: 'ada', hash: ada.hash }));
  expect([same(hers), same(his)]).toEqual([false, false]);
  const renamed = live.replace(of({ id: 'eve', hash: ada.hash }, { id: 'bob', hash: bob.hash }));
  expect([renamed(hers), renamed(his)]).toEqual([true, false]);
  const none = live.replace(noTokens);
  expect([none(hers), none(his)]).toEqual([true, true]);
  expect(live.authenticate(request(bob.token))).toMatchObject({ status: 401 });
  // Revoked once is revoked, however often settings are read again.
  const still = live.replace(noTokens);
  expect([still(hers), still(his)]).toEqual([true, true]);
});

test('a request that is being looked up while the settings change is decided by the new ones', async () => {
  const { token, hash } = createToken();
  let finish = (_: Principal): void => {};
  const slow: Authentication = {
    authenticate: () =>
      new Promise((done) => {
        finish = done;
      }),
    tokens: [],
    routes: [],
  };
  const live = new LiveAuthentication(slow);
  const result = live.authenticate(request(token));
  live.replace(of({ id: 'ada', hash }));
  finish({ id: 'alice', issuer: 'https://id.example.com' });
  expect(await result).toMatchObject({ id: 'ada' });
});

test('callers of an authorization server are revoked when its settings change', () => {
  const oauth = { settings: '1', authenticator: {} } as unknown as NonNullable<Authentication['oauth']>;
  const live = new LiveAuthentication({ ...noTokens, oauth });
  const alice = { id: 'alice', issuer: 'https://id.example.com' };
  expect(live.replace({ ...noTokens, oauth })(alice)).toBe(false);
  expect(live.replace({ ...noTokens, oauth: { ...oauth, settings: '2' } })(alice)).toBe(true);
});
