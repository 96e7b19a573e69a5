import { afterEach, expect, test, vi } from 'vitest';
import { recordAuthSteps } from './auth-steps.ts';

afterEach(() => void vi.unstubAllGlobals());

test('each request of signing in is a step, without what is worth a token', async () => {
  const responses = [
    Response.json({ authorization_servers: ['https://issuer.example'] }),
    Response.json({ access_token: 'hidden-token', refresh_token: 'hidden-refresh', token_type: 'Bearer' }),
    Response.json({ error: 'invalid_grant' }, { status: 400 }),
  ];
  vi.stubGlobal('fetch', async () => responses.shift());
  const recorder = recordAuthSteps();
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: 'hidden-code',
    code_verifier: 'hidden-verifier',
  });
  await recorder.fetch('https://mcp.example/.well-known/oauth-protected-resource', {});
  const answer = await recorder.fetch('https://issuer.example/token', { method: 'POST', body: form });
  await recorder.fetch('https://issuer.example/token', { method: 'POST', body: String(form) });
  await expect.poll(() => recorder.steps().length).toBe(3);
  expect(recorder.steps().map(({ step, problem }) => [step, problem])).toEqual([
    ['Find the authorization server', undefined],
    ['Request a token', undefined],
    ['Request a token', 'Status 400'],
  ]);
  const text = JSON.stringify(recorder.steps());
  expect(text).toContain('authorization_code');
  expect(text).toContain('invalid_grant');
  expect(text).not.toContain('hidden-');
  // The authorizer still reads the whole response.
  expect(await answer.json()).toMatchObject({ access_token: 'hidden-token' });
});

test('a request that fails is a step with its reason', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('connect ECONNREFUSED')));
  const recorder = recordAuthSteps();
  await expect(recorder.fetch('https://issuer.example/register', { method: 'POST', body: '{}' })).rejects.toThrow();
  expect(recorder.steps()).toMatchObject([{ step: 'Register the client', problem: 'connect ECONNREFUSED' }]);
});
