import { afterEach, expect, test, vi } from 'vitest';
import { BrowserSessions, type OpenProof } from './browser-sessions.ts';
import { OpenVisit } from './open-visit.ts';

const alice = { id: 'alice', issuer: 'https://login.example.com' };

function proofOf(page = '/login/1', caller = 'address 192.0.2.1'): OpenProof {
  const visit = new OpenVisit({
    url: new URL('https://login.example.com'),
    signal: new AbortController().signal,
    validate: () => {},
  });
  visit.response.catch(() => {});
  return { visit, page, caller, principal: new Promise(() => {}) };
}

/** What the browser sends after a header. */
const sent = (header: string): string => `theme=dark; ${header.split(';')[0]}`;

afterEach(() => {
  vi.useRealTimers();
});

test('only https has the prefix that keeps cookies of other hosts away', () => {
  const secure = new BrowserSessions(true).proven(undefined, alice);
  expect(secure).toMatch(/^__Host-mooring-sign-in=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
  expect(new BrowserSessions(false).proven(undefined, alice)).toMatch(
    /^mooring-sign-in=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
  );
});

test('a session gets another id when its user is known, and the one before is not valid', () => {
  const sessions = new BrowserSessions(true);
  const proof = proofOf();
  const before = sent(sessions.prove(undefined, proof));
  expect(sessions.find(before)).toMatchObject({ principal: undefined, proofs: [proof] });
  const after = sent(sessions.proven(sessions.find(before), alice, proof));
  expect(sessions.find(before)).toBeUndefined();
  expect(sessions.find(after)).toMatchObject({ principal: alice, proofs: [] });
});

test('values that are no session are ignored', () => {
  const sessions = new BrowserSessions(false);
  const cookie = sent(sessions.proven(undefined, alice));
  for (const other of [undefined, '', ';;', 'mooring-sign-in', 'mooring-sign-in=', `x${cookie.slice(12)}x`, 'a=b=c']) {
    expect(sessions.find(other)).toBeUndefined();
  }
});

test('another tab keeps its way to its page', () => {
  const sessions = new BrowserSessions(true);
  const [first, second] = [proofOf('/login/1'), proofOf('/login/2')];
  const one = sent(sessions.prove(undefined, first));
  const both = sent(sessions.prove(sessions.find(one), second));
  expect(sessions.find(both)?.proofs).toEqual([first, second]);
  const known = sent(sessions.proven(sessions.find(both), alice, second));
  expect(sessions.find(known)).toMatchObject({ principal: alice, proofs: [first] });
});

test('a session ends after 15 minutes, unless the browser went to an authorization server', () => {
  vi.useFakeTimers();
  const sessions = new BrowserSessions(true);
  const [left, went] = [sent(sessions.proven(undefined, alice)), sent(sessions.proven(undefined, alice))];
  vi.advanceTimersByTime(14 * 60_000);
  const session = sessions.find(went);
  if (session !== undefined) sessions.extend(session);
  vi.advanceTimersByTime(60_000);
  expect(sessions.find(left)).toBeUndefined();
  expect(sessions.find(went)?.principal).toEqual(alice);
  vi.advanceTimersByTime(14 * 60_000);
  expect(sessions.find(went)).toBeUndefined();
});

test('browsers that do not come back end: many of one, many of all, and after a time; those of known users stay', async () => {
  vi.useFakeTimers();
  const sessions = new BrowserSessions(true);
  const known = sent(sessions.proven(undefined, alice));
  const first = proofOf();
  let cookie = sent(sessions.prove(undefined, first));
  for (let i = 0; i < 10; i++) cookie = sent(sessions.prove(sessions.find(cookie), proofOf()));
  await expect(first.visit.response).rejects.toThrow('has not come back');
  const second = proofOf();
  sessions.prove(undefined, second);
  for (let i = 0; i < 10_000; i++) sessions.prove(undefined, proofOf());
  await expect(second.visit.response).rejects.toThrow('has not come back');
  expect(sessions.find(known)?.principal).toEqual(alice);
  const last = proofOf();
  sessions.prove(undefined, last);
  vi.advanceTimersByTime(15 * 60_000);
  sessions.prove(undefined, proofOf());
  await expect(last.visit.response).rejects.toThrow('has not come back');
});

test('many tabs of many browsers do not fill the memory: those of known users stay, and those that came last', async () => {
  const sessions = new BrowserSessions(true);
  const opened = (cookie: string, proof = proofOf()): string => sent(sessions.prove(sessions.find(cookie), proof));
  const known = opened(sent(sessions.proven(undefined, alice)));
  const first = proofOf();
  const browsers = Array.from({ length: 300 }, (_, n) => {
    let cookie = opened('', n === 0 ? first : proofOf());
    for (let tab = 1; tab < 10; tab++) cookie = opened(cookie);
    return cookie;
  });
  await expect(first.visit.response).rejects.toThrow('has not come back');
  const left = browsers.filter((cookie) => sessions.find(cookie) !== undefined);
  expect(left).toEqual(browsers.slice(-249));
  expect(sessions.find(known)?.proofs).toHaveLength(1);
});

test('one visitor who opens many pages does not end the sign-ins of others', () => {
  const sessions = new BrowserSessions(true);
  const other = sent(sessions.prove(undefined, proofOf('/login/1', 'address 192.0.2.2')));
  const browsers = Array.from({ length: 3_000 }, () => sent(sessions.prove(undefined, proofOf())));
  expect(sessions.find(other)?.proofs).toHaveLength(1);
  expect(browsers.filter((cookie) => sessions.find(cookie) !== undefined)).toEqual(browsers.slice(-2_499));
});

test('a session that was replaced does not come back', () => {
  const sessions = new BrowserSessions(true);
  const cookie = sent(sessions.proven(undefined, alice));
  const session = sessions.find(cookie);
  if (session === undefined) return expect.fail('There is no session');
  sessions.forgetUser(session);
  sessions.extend(session);
  expect(sessions.find(cookie)).toBeUndefined();
});
