// Requests every denied address directly, by redirect, and through names whose addresses change, while a trap listens on
// all addresses of this machine. The trap must not see a connection.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFetcher, NetworkError } from '../../../src/security/network/fetcher.ts';
import { closedHosts } from '../../../src/security/network/testing/addresses.ts';
import { rejectionOf } from '../../support/rejection.ts';
import { startHttp, startTrap, type TestServer } from './servers.ts';

let trap: TestServer;
let entry: TestServer;

beforeAll(async () => {
  trap = await startTrap();
  // Redirects to the URL in its query.
  entry = await startHttp((request, response) => {
    const to = new URL(request.url ?? '/', 'http://entry.test').searchParams.get('to');
    // Header values are bytes: a name in another script arrives as UTF-8.
    const location = Buffer.from(to ?? '').toString('latin1');
    response.writeHead(to === null ? 200 : 302, to === null ? {} : { location }).end('entry');
  });
});
afterAll(async () => {
  await trap.close();
  await entry.close();
});

const addressIn = (host: string) => new URL(`http://${host}/`).hostname.replace(/^\[|\]$/g, '');

test('the trap works: it is reached by every form of its address once that is allowed', async () => {
  const open = createFetcher({ allow: ['127.0.0.0/8', '::1', '0.0.0.0', '::'] });
  const control = await startTrap();
  const forms = ['127.0.0.1', '2130706433', '0177.1', '0.0.0.0', '[::1]', '[::]', '[::ffff:127.0.0.1]', '127.9.9.9'];
  for (const host of forms) {
    const response = await open.fetch(`http://${host}:${control.port}/`);
    expect(await response.text()).toBe('SECRET');
  }
  expect(control.connections()).toBe(forms.length);
  await control.close();
});

describe('a trap on every address of this machine', () => {
  test.each(closedHosts)('is not reached through %s (%s) directly', async (host) => {
    const fetcher = createFetcher();
    for (const scheme of ['http', 'https']) {
      expect((await rejectionOf(fetcher.fetch(`${scheme}://${host}:${trap.port}/`), NetworkError)).code).toBe(
        'NETWORK_FORBIDDEN',
      );
    }
  });

  test.each(closedHosts)('is not reached through %s (%s) by redirect', async (host) => {
    const fetcher = createFetcher({ allow: ['entry.test'], resolver: async () => ['127.0.0.1'] });
    const to = encodeURIComponent(`http://${host}:${trap.port}/`);
    const before = entry.connections();
    const error = await rejectionOf(fetcher.fetch(`http://entry.test:${entry.port}/?to=${to}`), NetworkError);
    expect(error.code).toBe('NETWORK_FORBIDDEN');
    expect(entry.connections()).toBe(before + 1);
  });

  test.each(closedHosts)('is not reached through a name that resolves to %s (%s)', async (host) => {
    const address = addressIn(host);
    const url = `http://name.test:${trap.port}/`;
    // on its own, after a public address, and before one
    for (const answers of [[address], ['8.8.8.8', address], [address, '2606:4700:4700::1111']]) {
      const fetcher = createFetcher({ resolver: async () => answers });
      expect((await rejectionOf(fetcher.fetch(url), NetworkError)).code).toBe('NETWORK_FORBIDDEN');
    }
  });

  test.each(closedHosts)(
    'is not reached through a name that first resolves to an allowed address and then to %s (%s)',
    async (host) => {
      // The first address is that of the entry server, allowed by exact address and port; then the name changes.
      const answers = [['127.0.0.1'], [addressIn(host)]];
      const fetcher = createFetcher({
        allow: [`127.0.0.1:${entry.port}`],
        resolver: async () => answers.shift() ?? expect.fail('resolved a third time'),
      });
      const to = encodeURIComponent(`http://flip.test:${trap.port}/`);
      const error = await rejectionOf(fetcher.fetch(`http://flip.test:${entry.port}/?to=${to}`), NetworkError);
      expect(error.code).toBe('NETWORK_FORBIDDEN');
      expect(answers).toEqual([]);
    },
  );

  test('is not reached by a second resolution of the name when the socket connects', async () => {
    // Good server and trap on one port of two loopback addresses: only the pinned address decides which is reached.
    const good = await startHttp((_request, response) => response.end('good'), '127.0.0.1');
    const second = await startHttp((_request, response) => response.end('SECRET'), '127.0.0.2', good.port);
    let asked = 0;
    const fetcher = createFetcher({
      allow: ['127.0.0.1'],
      resolver: async () => (asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.2']),
    });
    const response = await fetcher.fetch(`http://flip.test:${good.port}/`);
    expect(await response.text()).toBe('good');
    expect(asked).toBe(1);
    expect((await rejectionOf(fetcher.fetch(`http://flip.test:${good.port}/`), NetworkError)).code).toBe(
      'NETWORK_FORBIDDEN',
    );
    expect(second.connections()).toBe(0);
    await good.close();
    await second.close();
  });

  test.each(['localhost', 'localhost.', 'LOCALHOST', 'ｌｏｃａｌｈｏｓｔ', 'sub.localhost'])(
    'is not reached through the name %s with the resolver of the system',
    async (host) => {
      const error = await rejectionOf(createFetcher().fetch(`http://${host}:${trap.port}/`), NetworkError);
      expect(error.code).toMatch(/^NETWORK_(FORBIDDEN|UNRESOLVED)$/);
    },
  );

  test('saw no connection', () => {
    expect(trap.connections()).toBe(0);
  });
});

test.each([
  'file:///etc/passwd',
  'ftp://example.org/',
  'gopher://127.0.0.1:70/_x',
  'data:text/plain,x',
  'javascript:alert(1)',
  'blob:http://example.org/1',
  'ws://example.org/',
  'dict://example.org/',
  'unix:/var/run/docker.sock',
  'http+unix://%2Fvar%2Frun%2Fdocker.sock/info',
])('%s is rejected, directly and as a redirect', async (url) => {
  expect((await rejectionOf(createFetcher().fetch(url), NetworkError)).code).toMatch(
    /^NETWORK_(FORBIDDEN|BAD_REQUEST)$/,
  );
  const fetcher = createFetcher({ allow: ['entry.test'], resolver: async () => ['127.0.0.1'] });
  const error = await rejectionOf(
    fetcher.fetch(`http://entry.test:${entry.port}/?to=${encodeURIComponent(url)}`),
    NetworkError,
  );
  expect(error.code).toMatch(/^NETWORK_(FORBIDDEN|REDIRECT)$/);
});

test('credentials in a URL are rejected, directly and as a redirect', async () => {
  const fetcher = createFetcher({ allow: ['entry.test'], resolver: async () => ['127.0.0.1'] });
  const withUser = `http://user:pass@entry.test:${entry.port}/`;
  expect((await rejectionOf(fetcher.fetch(withUser), NetworkError)).code).toBe('NETWORK_FORBIDDEN');
  const error = await rejectionOf(
    fetcher.fetch(`http://entry.test:${entry.port}/?to=${encodeURIComponent(withUser)}`),
    NetworkError,
  );
  expect(error.code).toBe('NETWORK_FORBIDDEN');
});
