import { expect, test } from 'vitest';
import { AuthError } from '../../../client/index.ts';
import { OpenVisit } from './open-visit.ts';

const url = new URL('https://login.example.com/authorize');
const parameters = new URLSearchParams({ code: '1', state: '2' });

function visitWith(failure?: Error, controller = new AbortController()): OpenVisit {
  const validate = (): void => {
    if (failure !== undefined) throw failure;
  };
  const visit = new OpenVisit({ url, signal: controller.signal, validate });
  visit.response.catch(() => {});
  return visit;
}

test('a valid response ends the visit', async () => {
  const visit = visitWith();
  expect(visit.receive(parameters)).toBe('accepted');
  expect(await visit.response).toBe(parameters);
});

test.each(['state-mismatch', 'state-replayed'] as const)(
  'a response with %s belongs to another visit, and this one goes on',
  async (code) => {
    const visit = visitWith(new AuthError(code, 'no'));
    expect(visit.receive(parameters)).toBe('foreign');
    visit.end('still open');
    await expect(visit.response).rejects.toBe('still open');
  },
);

test('an error of the authorization server ends the visit', async () => {
  const denied = new AuthError('authorization-denied', 'no');
  const visit = visitWith(denied);
  expect(visit.receive(parameters)).toBe('rejected');
  await expect(visit.response).rejects.toBe(denied);
});

test('a user who takes too long ends the visit, before it begins or later', async () => {
  const [early, late] = [new AbortController(), new AbortController()];
  early.abort('early');
  await expect(visitWith(undefined, early).response).rejects.toBe('early');
  const visit = visitWith(undefined, late);
  late.abort('late');
  await expect(visit.response).rejects.toBe('late');
});
