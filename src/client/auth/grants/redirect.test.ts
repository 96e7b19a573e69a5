import { expect, test } from 'vitest';
import { followRedirect } from './follow-redirect.ts';
import { applicationType, createHookRedirector } from './redirect.ts';

const redirectUri = 'http://127.0.0.1:7777/callback';
const { signal } = new AbortController();

test.each([
  ['a full URL', `${redirectUri}?code=c&state=s`],
  ['a URL object', new URL(`${redirectUri}?code=c&state=s`)],
  ['a query', '?code=c&state=s'],
  ['parameters', new URLSearchParams({ code: 'c', state: 's' })],
])('a hook may answer with %s, and the answer is checked', async (_name, answer) => {
  const stop = await createHookRedirector(redirectUri, async () => answer).prepare({});
  const checked: string[] = [];
  const parameters = await stop.visit({
    url: new URL('https://as.example/'),
    signal,
    validate: (given) => void checked.push(given.get('state')!),
  });
  expect(parameters.get('code')).toBe('c');
  expect(checked).toEqual(['s']);
});

test('what runs on this machine is native, the rest is web', () => {
  for (const uri of [redirectUri, 'http://localhost:1/cb', 'http://[::1]:1/cb'])
    expect(applicationType(uri)).toBe('native');
  expect(applicationType('https://app.example.com/cb')).toBe('web');
});

const hops = (...locations: (string | null)[]) =>
  followRedirect(async () => {
    const location = locations.shift() ?? null;
    return new Response(null, location === null ? { status: 200 } : { status: 302, headers: { location } });
  });
const follow = (...locations: (string | null)[]) =>
  hops(...locations)(new URL('https://as.example/authorize'), { redirectUri, signal });

test('redirects are followed until they lead home, also by relative steps', async () => {
  expect(String(await follow('/login', 'consent', `${redirectUri}?code=c`))).toBe(`${redirectUri}?code=c`);
});

test('a page, a loop or a strange scheme ends the walk', async () => {
  await expect(follow(null)).rejects.toMatchObject({
    code: 'callback-invalid',
    message: expect.stringContaining('200'),
  });
  await expect(follow(...Array<string>(20).fill('/again'))).rejects.toMatchObject({ code: 'callback-invalid' });
  await expect(follow('file:///etc/passwd')).rejects.toMatchObject({ code: 'callback-invalid' });
});
