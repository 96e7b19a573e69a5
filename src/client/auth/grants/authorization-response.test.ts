import { expect, test } from 'vitest';
import { createResponseValidator } from './authorization-response.ts';

const issuer = 'https://as.example.com';
const check = (query: string, promised = false) =>
  createResponseValidator({ state: 'our-state', issuer, issuerPromised: promised })(new URLSearchParams(query));
const good = `code=c&state=our-state&iss=${encodeURIComponent(issuer)}`;

test('a response with our state, the right issuer and a code is accepted', () => {
  expect(() => check(good, true)).not.toThrow();
  expect(() => check('code=c&state=our-state')).not.toThrow();
});

test('a promised issuer that is missing rejects the response', () => {
  expect(() => check('code=c&state=our-state', true)).toThrow(
    expect.objectContaining({ code: 'callback-issuer-missing' }),
  );
});

test('an issuer is compared as it is, promised or not', () => {
  for (const iss of [
    'https://evil.example.com',
    `${issuer}/`,
    'https://AS.example.com',
    `${issuer}:443`,
    'HTTPS://as.example.com',
    '',
  ]) {
    for (const promised of [true, false]) {
      expect(() => check(`code=c&state=our-state&iss=${encodeURIComponent(iss)}`, promised), iss).toThrow(
        expect.objectContaining({ code: 'callback-issuer-mismatch' }),
      );
    }
  }
});

test('of another issuer neither its name nor its error text is shown', () => {
  const query = 'state=our-state&iss=https%3A%2F%2Fevil.example&error=access_denied&error_description=call+0800-EVIL';
  expect(() => check(query)).toThrow(
    expect.objectContaining({
      code: 'callback-issuer-mismatch',
      message: expect.not.stringMatching(/EVIL|evil|denied/),
    }),
  );
});

test('another, absent or doubled state is rejected', () => {
  for (const query of [
    'code=c',
    'code=c&state=',
    'code=c&state=other',
    'code=c&state=our-state&state=our-state',
    'code=c&state=our-state2',
  ]) {
    expect(() => check(query), query).toThrow(expect.objectContaining({ code: 'state-mismatch' }));
  }
});

test('a state is used once', () => {
  const once = createResponseValidator({ state: 'our-state', issuer, issuerPromised: false });
  once(new URLSearchParams(good));
  expect(() => once(new URLSearchParams(good))).toThrow(expect.objectContaining({ code: 'state-replayed' }));
});

test('a state is used up by a rejected response too', () => {
  const once = createResponseValidator({ state: 'our-state', issuer, issuerPromised: false });
  expect(() => once(new URLSearchParams('code=c&state=our-state&iss=x'))).toThrow();
  expect(() => once(new URLSearchParams(good))).toThrow(expect.objectContaining({ code: 'state-replayed' }));
});

test('the rejection of the right server is passed on without control characters', () => {
  expect(() => check(`${good}&error=access_denied&error_description=no%1b%5B2Jway`)).toThrow(
    expect.objectContaining({
      code: 'authorization-denied',
      message: expect.stringMatching(/access_denied, "no \[2Jway"/),
      oauthError: expect.objectContaining({ error: 'access_denied' }),
    }),
  );
});

test('a response without a code, or with two of anything, is malformed', () => {
  for (const query of [
    'state=our-state',
    'state=our-state&code=',
    `${good}&code=d`,
    `${good}&iss=x`,
    'state=our-state&error=a&error=b',
  ]) {
    expect(() => check(query), query).toThrow(expect.objectContaining({ code: 'callback-invalid' }));
  }
});
