import { request } from 'node:http';
import { expect, test } from 'vitest';
import { createResponseValidator } from '../../../src/client/auth/grants/authorization-response.ts';
import { createLoopbackRedirector, type LoopbackOptions } from '../../../src/client/auth/grants/loopback.ts';
import { createMemoryStore } from '../../../src/client/auth/storage/credential-store.ts';
import { caller, Worlds } from './setup.ts';

const issuer = 'https://as.example.com';
const target = new URL('https://as.example.com/authorize?x=1');

/** Raw request, so that Host and target are exactly what the test says. */
function send(uri: string, options: { path?: string; host?: string; method?: string } = {}) {
  const { port, pathname } = new URL(uri);
  return new Promise<{ status: number; body: string; headers: Record<string, unknown> }>((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        method: options.method ?? 'GET',
        path: options.path ?? pathname,
        headers: options.host === undefined ? {} : { host: options.host },
      },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          body += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body, headers: response.headers }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

async function visiting(options: LoopbackOptions = {}, preferred?: string) {
  const opened: URL[] = [];
  const stop = await createLoopbackRedirector({ open: (url) => void opened.push(url), ...options }).prepare({
    preferred,
  });
  const controller = new AbortController();
  const validate = createResponseValidator({ state: 's', issuer, issuerPromised: true });
  const answer = stop.visit({ url: target, signal: controller.signal, validate });
  answer.catch(() => {}); // Each test looks at it in its own time.
  const callback = `/callback?code=c&state=s&iss=${encodeURIComponent(issuer)}`;
  return { stop, answer, controller, opened, callback };
}

test('the right callback ends the wait and shows a friendly page', async () => {
  const { stop, answer, opened, callback } = await visiting({ clientName: '<b>Me</b>' });
  expect(new URL(stop.redirectUri).hostname).toBe('127.0.0.1');
  expect(opened.map(String)).toEqual([target.href]);
  const page = await send(stop.redirectUri, { path: callback });
  expect(page.status).toBe(200);
  expect(page.body).toContain('Signed in');
  expect(page.body).not.toContain('<b>Me');
  expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect((await answer).get('code')).toBe('c');
  await stop.close();
  await expect(send(stop.redirectUri)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('requests without the right state are rejected, and the wait continues', async () => {
  const { stop, answer, callback } = await visiting();
  const { host } = new URL(stop.redirectUri);
  expect((await send(stop.redirectUri, { path: callback, host: 'evil.test' })).status).toBe(421);
  expect((await send(stop.redirectUri, { path: callback, host: host.replace('127.0.0.1', 'localhost') })).status).toBe(
    421,
  );
  expect((await send(stop.redirectUri, { path: '/other' })).status).toBe(404);
  expect((await send(stop.redirectUri, { path: '//evil/callback?code=c&state=s' })).status).toBe(404);
  expect((await send(stop.redirectUri, { path: '//' })).status).toBe(404);
  expect((await send(stop.redirectUri, { path: callback, method: 'POST' })).status).toBe(405);
  expect((await send(stop.redirectUri, { path: '/callback?code=c&state=wrong' })).status).toBe(400);
  expect((await send(stop.redirectUri, { path: '/callback' })).status).toBe(400);
  expect((await send(stop.redirectUri, { path: callback })).status).toBe(200);
  expect((await answer).get('state')).toBe('s');
  await stop.close();
});

test('a response from another issuer fails the sign-in and shows nothing of it', async () => {
  const { stop, answer } = await visiting();
  const page = await send(stop.redirectUri, {
    path: '/callback?state=s&iss=https%3A%2F%2Fevil&error=x&error_description=EVIL',
  });
  expect(page.status).toBe(400);
  expect(page.body).not.toContain('EVIL');
  await expect(answer).rejects.toMatchObject({ code: 'callback-issuer-mismatch' });
  await stop.close();
});

test('a second callback with the same state is rejected', async () => {
  const { stop, answer, callback } = await visiting();
  const both = await Promise.allSettled([
    send(stop.redirectUri, { path: callback }),
    send(stop.redirectUri, { path: callback }),
  ]);
  const statuses = both.map((one) => (one.status === 'fulfilled' ? one.value.status : 'closed'));
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  await answer;
  await stop.close();
});

test('an abort ends the wait with its reason', async () => {
  const { stop, answer, controller } = await visiting();
  controller.abort(new Error('enough'));
  await expect(answer).rejects.toThrow('enough');
  await stop.close();
});

test('an opener that fails ends the wait', async () => {
  const { stop, answer } = await visiting({
    open: () => {
      throw new Error('no desktop');
    },
  });
  await expect(answer).rejects.toThrow('no desktop');
  await stop.close();
});

test('no amount of guessing ends the wait', async () => {
  const { stop, answer, callback } = await visiting();
  for (let n = 0; n < 50; n++) await send(stop.redirectUri, { path: `/callback?state=${n}` });
  expect((await send(stop.redirectUri, { path: callback })).status).toBe(200);
  await answer;
  await stop.close();
});

test('a callback without a sign-in in progress is rejected', async () => {
  const stop = await createLoopbackRedirector().prepare({});
  expect((await send(stop.redirectUri, { path: '/callback?state=s' })).status).toBe(410);
  await stop.close();
});

test('the port of an earlier registration is used again when it is free', async () => {
  const first = await visiting();
  const taken = await visiting({}, first.stop.redirectUri);
  expect(taken.stop.redirectUri).not.toBe(first.stop.redirectUri);
  await first.stop.close();
  await taken.stop.close();
  const again = await visiting({}, first.stop.redirectUri);
  expect(again.stop.redirectUri).toBe(first.stop.redirectUri);
  await again.stop.close();
});

test('a fixed port that is in use is an error, and localhost may be the name', async () => {
  const { stop } = await visiting({ host: 'localhost' });
  const { port, hostname } = new URL(stop.redirectUri);
  expect(hostname).toBe('localhost');
  await expect(createLoopbackRedirector({ port: Number(port) }).prepare({})).rejects.toMatchObject({
    code: 'configuration',
  });
  await stop.close();
});

test('a whole sign-in through a browser: the second one redirects to the registered port', async () => {
  const worlds = new Worlds();
  try {
    const { as, rs } = await worlds.start({ tokenExtras: { refresh_token: undefined } });
    const pages: Promise<string>[] = [];
    const open = (url: URL) => void pages.push(fetch(url).then((page) => page.text()));
    const store = createMemoryStore();
    for (let run = 0; run < 2; run++) {
      const redirector = createLoopbackRedirector({ open, clientName: 'Probe' });
      expect(await caller(rs, { redirector, store }).call()).toBe(200);
      as.issued.length = 0;
    }
    for (const page of await Promise.all(pages)) expect(page).toContain('Signed in');
    expect(as.to('/register')).toHaveLength(1);
    const [one, two] = as.to('/authorize').map(({ query }) => query.get('redirect_uri'));
    expect(one).toBe(two);
  } finally {
    await worlds.stop();
  }
});
