import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { createFetcher, type FetcherOptions, NetworkError } from '../../../src/security/network/fetcher.ts';
import { toWebFetch } from '../../../src/security/network/web-fetch.ts';
import { createCertificate } from '../../support/certificate.ts';
import { rejectionOf } from '../../support/rejection.ts';
import { startHttp, startHttps, startRaw, type TestServer } from './servers.ts';

const running: TestServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});
const keep = async (starting: Promise<TestServer>): Promise<TestServer> => {
  const server = await starting;
  running.push(server);
  return server;
};
const serve = (listener: (request: IncomingMessage, response: ServerResponse) => void) => keep(startHttp(listener));
const serveRaw = (answer: string) => keep(startRaw((socket) => socket.end(answer)));

/** Every name leads to loopback, which is allowed: these tests are about everything except addresses. */
const local = (options: FetcherOptions = {}) =>
  createFetcher({ allow: ['127.0.0.0/8'], resolver: async () => ['127.0.0.1'], ...options });

test('a response has status, headers, its URL and a body to read once', async () => {
  const { port } = await serve((_request, response) => {
    response.writeHead(201, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] }).end('{"ok":true}');
  });
  const response = await local().fetch(`http://a.test:${port}/x?y=1#z`);
  expect(response.status).toBe(201);
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(response.url).toBe(`http://a.test:${port}/x?y=1#z`);
  expect(response.redirected).toBe(false);
  expect(await response.json()).toEqual({ ok: true });
  expect((await rejectionOf(response.text(), NetworkError)).code).toBe('NETWORK_BAD_REQUEST');
});

test('method, headers, body, host and user agent arrive as they should', async () => {
  const seen: unknown[] = [];
  const { port } = await serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { host, 'user-agent': agent, 'x-own': own, 'content-length': length } = request.headers;
    seen.push([request.method, request.url, host, agent, own, length, Buffer.concat(chunks).toString()]);
    response.end();
  });
  const fetcher = local({ userAgent: 'tester/1' });
  await fetcher.fetch(`http://a.test:${port}/p?q=%20`, { method: 'POST', headers: { 'X-Own': 'yes' }, body: 'hällo' });
  await fetcher.fetch(`http://a.test.:${port}/`, { method: 'DELETE' });
  expect(seen).toEqual([
    ['POST', '/p?q=%20', `a.test:${port}`, 'tester/1', 'yes', '6', 'hällo'],
    ['DELETE', '/', `a.test:${port}`, 'tester/1', undefined, undefined, ''],
  ]);
});

test.each([
  'Host',
  'connection',
  'Transfer-Encoding',
  'content-length',
  'Upgrade',
  'Proxy-Authorization',
  'expect',
  'te',
])('the header %s cannot be set by a caller', async (name) => {
  const error = await rejectionOf(local().fetch('http://a.test/', { headers: { [name]: 'x' } }), NetworkError);
  expect(error.code).toBe('NETWORK_BAD_REQUEST');
});

test('line breaks cannot be smuggled into a request', async () => {
  const server = await serve((_request, response) => response.end());
  const url = `http://a.test:${server.port}/`;
  const injected = 'x\r\nhost: evil.test\r\n\r\nGET /second';
  expect((await rejectionOf(local().fetch(url, { headers: { 'x-a': injected } }), NetworkError)).code).toBe(
    'NETWORK_BAD_REQUEST',
  );
  expect((await rejectionOf(local().fetch(url, { headers: { 'x\r\na': 'b' } }), NetworkError)).code).toBe(
    'NETWORK_BAD_REQUEST',
  );
  expect((await rejectionOf(local().fetch(url, { method: 'CONNECT' as 'GET' }), NetworkError)).code).toBe(
    'NETWORK_BAD_REQUEST',
  );
  expect((await rejectionOf(local().fetch('not a url'), NetworkError)).code).toBe('NETWORK_BAD_REQUEST');
  expect((await rejectionOf(local().fetch(`${url}${'x'.repeat(9000)}`), NetworkError)).code).toBe(
    'NETWORK_BAD_REQUEST',
  );
  expect(server.connections()).toBe(0);
});

test.each([
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
] as const)('a %s body is decompressed', async (encoding, pack) => {
  const { port } = await serve((_request, response) => {
    response.writeHead(200, { 'content-encoding': encoding }).end(pack('hello '.repeat(1000)));
  });
  expect(await (await local().fetch(`http://a.test:${port}/`)).text()).toBe('hello '.repeat(1000));
});

test.each([
  ['nested encodings', { 'content-encoding': 'gzip, gzip' }, gzipSync(gzipSync('x'))],
  ['an encoding that was not requested', { 'content-encoding': 'zstd' }, Buffer.from('x')],
  ['damaged gzip', { 'content-encoding': 'gzip' }, Buffer.from('not gzip at all')],
  ['cut gzip', { 'content-encoding': 'gzip' }, gzipSync('x'.repeat(1000)).subarray(0, 20)],
  ['damaged brotli', { 'content-encoding': 'br' }, Buffer.from('not brotli at all')],
])('%s is a bad response', async (_what, headers, body) => {
  const { port } = await serve((_request, response) => void response.writeHead(200, headers).end(body));
  const response = await local().fetch(`http://a.test:${port}/`);
  expect((await rejectionOf(response.bytes(), NetworkError)).code).toBe('NETWORK_BAD_RESPONSE');
});

/** About 10 MiB that decompress to 10 GiB: 640 gzip members of 16 MiB of zeros each. */
function* bomb(): Generator<Buffer> {
  const member = gzipSync(Buffer.alloc(16 * 1024 * 1024), { level: 9 });
  for (let index = 0; index < 640; index++) yield member;
}

test('a gzip bomb of 10 MiB for 10 GiB is stopped at the cap, with bounded memory', async () => {
  let sent = 0;
  const counted = function* () {
    for (const member of bomb()) {
      sent += member.length;
      yield member;
    }
  };
  const { port } = await serve((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    pipeline(counted, response, () => {});
  });
  const maxBytes = 8 * 1024 * 1024;
  const response = await local({ maxBytes }).fetch(`http://a.test:${port}/`);
  const before = process.memoryUsage().arrayBuffers;
  let unpacked = 0;
  let peak = 0;
  const reading = async () => {
    for await (const chunk of response.stream()) {
      unpacked += chunk.length;
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    }
  };
  expect((await rejectionOf(reading(), NetworkError)).code).toBe('NETWORK_TOO_LARGE');
  expect(unpacked).toBeLessThanOrEqual(maxBytes);
  expect(peak).toBeLessThan(64 * 1024 * 1024);
  expect(sent).toBeLessThan(10 * 1024 * 1024);
});

test('a brotli bomb is stopped at the cap', async () => {
  const packed = brotliCompressSync(Buffer.alloc(64 * 1024 * 1024), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
  });
  const { port } = await serve((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'br' }).end(packed);
  });
  const response = await local({ maxBytes: 1_000_000 }).fetch(`http://a.test:${port}/`);
  expect((await rejectionOf(response.bytes(), NetworkError)).code).toBe('NETWORK_TOO_LARGE');
});

test('a body is capped whether its length is announced, chunked or open-ended', async () => {
  const { port } = await serve((request, response) => {
    if (request.url === '/announced') response.writeHead(200, { 'content-length': 1001 });
    if (request.url === '/open') response.writeHead(200, { connection: 'close' });
    response.end('x'.repeat(1001));
  });
  const fetcher = local({ maxBytes: 1000 });
  for (const path of ['announced', 'chunked', 'open']) {
    const response = await fetcher.fetch(`http://a.test:${port}/${path}`);
    expect((await rejectionOf(response.bytes(), NetworkError)).code).toBe('NETWORK_TOO_LARGE');
    expect((await (await local({ maxBytes: 1001 }).fetch(`http://a.test:${port}/${path}`)).bytes()).length).toBe(1001);
  }
  const less = await local().fetch(`http://a.test:${port}/`, { maxBytes: 10 });
  expect((await rejectionOf(less.bytes(), NetworkError)).code).toBe('NETWORK_TOO_LARGE');
  const head = await fetcher.fetch(`http://a.test:${port}/announced`, { method: 'HEAD' });
  expect((await head.bytes()).length).toBe(0);
});

test('an endless body ends at the cap', async () => {
  const { port } = await serve((_request, response) => {
    const chunk = Buffer.alloc(65536);
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
  });
  const response = await local({ maxBytes: 1_000_000 }).fetch(`http://a.test:${port}/`);
  expect((await rejectionOf(response.bytes(), NetworkError)).code).toBe('NETWORK_TOO_LARGE');
});

test('headers larger than the cap end the request', async () => {
  const { port } = await keep(
    startRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write(`x-filler: ${'x'.repeat(1000)}\r\n`));
      };
      socket.on('drain', more);
      more();
    }),
  );
  expect((await rejectionOf(local().fetch(`http://a.test:${port}/`), NetworkError)).code).toBe('NETWORK_TOO_LARGE');
});

test('endless interim responses end the request', async () => {
  const { port } = await serveRaw('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100));
  expect((await rejectionOf(local().fetch(`http://a.test:${port}/`), NetworkError)).code).toBe('NETWORK_BAD_RESPONSE');
});

test.each([
  ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['both lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd'],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'],
])('%s is a bad response', async (_what, answer) => {
  const { port } = await serveRaw(answer);
  const error = await rejectionOf(
    local()
      .fetch(`http://a.test:${port}/`)
      .then((response) => response.bytes()),
    NetworkError,
  );
  expect(error.code).toBe('NETWORK_BAD_RESPONSE');
});

test('a truncated body is a failure, not a short body', async () => {
  const { port } = await serveRaw('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this');
  const response = await local().fetch(`http://a.test:${port}/`);
  expect((await rejectionOf(response.bytes(), NetworkError)).code).toBe('NETWORK_FAILED');
});

test('a server that sends headers or body slowly runs into the time limit', async () => {
  const drip = (opening: string) =>
    keep(
      startRaw((socket) => {
        socket.write(opening);
        const timer = setInterval(() => socket.write('x'), 5);
        socket.on('close', () => clearInterval(timer));
      }),
    );
  const inBody = await drip('HTTP/1.1 200 OK\r\n\r\n');
  const inHeaders = await drip('HTTP/1.1 200 OK\r\nx-slow: ');
  const silent = await keep(startRaw(() => {}));
  const read = async (port: number) => (await local({ timeoutMs: 100 }).fetch(`http://a.test:${port}/`)).bytes();
  for (const { port } of [inBody, inHeaders, silent])
    expect((await rejectionOf(read(port), NetworkError)).code).toBe('NETWORK_TIMEOUT');
});

test('a resolver that never responds runs into the time limit, one that fails is an unresolved name', async () => {
  const silent = createFetcher({ resolver: () => new Promise(() => {}), timeoutMs: 50 });
  expect((await rejectionOf(silent.fetch('http://a.test/'), NetworkError)).code).toBe('NETWORK_TIMEOUT');
  for (const resolver of [async () => Promise.reject(new Error('no')), async () => [], async () => ['nonsense']]) {
    expect((await rejectionOf(createFetcher({ resolver }).fetch('http://a.test/'), NetworkError)).code).toBe(
      'NETWORK_UNRESOLVED',
    );
  }
});

test('an abort ends the request with its own reason: before, while resolving, waiting and reading', async () => {
  const reason = new Error('changed my mind');
  await expect(local().fetch('http://a.test/', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);

  const resolving = new AbortController();
  const stuck = createFetcher({ resolver: () => new Promise(() => setImmediate(() => resolving.abort(reason))) });
  await expect(stuck.fetch('http://a.test/', { signal: resolving.signal })).rejects.toBe(reason);

  const waiting = new AbortController();
  const { port } = await serve((request, response) => {
    if (request.url === '/body') response.write('first');
    else waiting.abort(reason);
  });
  await expect(local().fetch(`http://a.test:${port}/`, { signal: waiting.signal })).rejects.toBe(reason);

  const reading = new AbortController();
  const response = await local().fetch(`http://a.test:${port}/body`, { signal: reading.signal });
  const rest = response.bytes();
  reading.abort(reason);
  await expect(rest).rejects.toBe(reason);
});

test('ending the loop over a stream closes the connection', async () => {
  let closed: () => void;
  const closing = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const { port } = await serve((_request, response) => {
    response.on('close', () => closed());
    response.write('first');
  });
  const response = await local().fetch(`http://a.test:${port}/`);
  for await (const chunk of response.stream()) {
    expect(chunk.toString()).toBe('first');
    break;
  }
  await closing;
});

test('only accepted media types are returned', async () => {
  const { port } = await serve((request, response) => {
    const seen = request.headers.accept;
    response
      .writeHead(request.url === '/missing' ? 404 : 200, { 'content-type': 'Text/HTML; charset=utf-8' })
      .end(seen);
  });
  const get = (accept: string[], path = '') => local().fetch(`http://a.test:${port}/${path}`, { accept });
  expect(await (await get(['text/html', 'application/json;q=0.5'])).text()).toBe('text/html, application/json;q=0.5');
  expect((await get(['text/*'])).status).toBe(200);
  expect((await get(['application/json'], 'missing')).status).toBe(404);
  expect((await rejectionOf(get(['application/json']), NetworkError)).code).toBe('NETWORK_BAD_RESPONSE');
  expect((await rejectionOf(get(['text/htm', 'tex/*']), NetworkError)).code).toBe('NETWORK_BAD_RESPONSE');
});

test('text is decoded in the charset of the response', async () => {
  const { port } = await serve((request, response) => {
    response.writeHead(200, { 'content-type': `text/plain; charset=${request.url?.slice(1)}` });
    response.end(Buffer.from([0xe4, 0x62]));
  });
  const text = async (charset: string) => (await local().fetch(`http://a.test:${port}/${charset}`)).text();
  expect(await text('iso-8859-1')).toBe('äb');
  expect(await text('utf-8')).toBe('\uFFFDb');
  expect(await text('no-such-charset')).toBe('\uFFFDb');
});

const redirectTo = (location: string, status = 302) =>
  serve((_request, response) => void response.writeHead(status, { location }).end());

test('redirects are followed five times and not a sixth', async () => {
  let hits = 0;
  const { port } = await serve((request, response) => {
    hits += 1;
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end('arrived');
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  const response = await local().fetch(`http://a.test:${port}/5`);
  expect(await response.text()).toBe('arrived');
  expect(response.url).toBe(`http://a.test:${port}/0`);
  expect(response.redirected).toBe(true);
  hits = 0;
  expect((await rejectionOf(local().fetch(`http://a.test:${port}/6`), NetworkError)).code).toBe('NETWORK_REDIRECT');
  expect(hits).toBe(6);
});

test('redirects can be returned or rejected instead', async () => {
  const { port } = await redirectTo('http://b.test/');
  const shown = await local().fetch(`http://a.test:${port}/`, { redirect: 'manual' });
  expect([shown.status, shown.headers.get('location')]).toEqual([302, 'http://b.test/']);
  shown.discard();
  const rejected = local().fetch(`http://a.test:${port}/`, { redirect: 'reject' });
  expect((await rejectionOf(rejected, NetworkError)).code).toBe('NETWORK_REDIRECT');
});

test.each(['http://', 'http://[::', `http://a.test/${'x'.repeat(9000)}`, '//'])(
  'a redirect to %.20j is rejected',
  async (location) => {
    const { port } = await redirectTo(location);
    expect((await rejectionOf(local().fetch(`http://a.test:${port}/`), NetworkError)).code).toBe('NETWORK_REDIRECT');
  },
);

test('only harmless headers are sent to another origin, and the others do not return later', async () => {
  const seen: Record<string, unknown>[] = [];
  const second = await serve((request, response) => {
    seen.push({ ...request.headers });
    response.writeHead(302, { location: `http://a.test:${first.port}/back` }).end();
  });
  const first: TestServer = await serve((request, response) => {
    seen.push({ ...request.headers });
    if (request.url === '/back') response.end();
    else response.writeHead(302, { location: `http://b.test:${second.port}/`, 'set-cookie': 'sid=1' }).end();
  });
  const secrets = {
    authorization: 'Bearer s3cret',
    cookie: 's3cret=1',
    'x-api-key': 's3cret',
    'mcp-session-id': 's3cret',
  };
  const headers = { ...secrets, 'accept-language': 'de' };
  await local().fetch(`http://a.test:${first.port}/`, { headers });
  expect(seen).toHaveLength(3);
  expect(seen[0]).toMatchObject(headers);
  for (const later of seen.slice(1)) {
    expect(later['accept-language']).toBe('de');
    expect(JSON.stringify(later)).not.toContain('s3cret');
    expect(JSON.stringify(later)).not.toContain('sid=1');
  }
});

test('the same host on another port or scheme is another origin, the same origin keeps its headers', async () => {
  const seen: (string | undefined)[] = [];
  const { port } = await serve((request, response) => {
    seen.push(request.headers.authorization);
    if (request.url === '/start') response.writeHead(307, { location: '/end' });
    response.end();
  });
  const other = await redirectTo(`http://a.test:${port}/end`);
  const headers = { authorization: 'Bearer s3cret' };
  await local().fetch(`http://a.test:${port}/start`, { headers });
  await local().fetch(`http://a.test:${other.port}/`, { headers });
  expect(seen).toEqual(['Bearer s3cret', 'Bearer s3cret', undefined]);
});

test('a body is repeated on 307 within the origin, dropped on 303, and never sent to another origin', async () => {
  const seen: string[] = [];
  const { port } = await serve(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    seen.push(`${request.method} ${request.url} ${request.headers['content-type'] ?? '-'} ${body}`);
    const status = Number(request.url?.slice(1));
    if (status > 0) response.writeHead(status, { location: '/end' });
    response.end();
  });
  const post = { method: 'POST', body: 'pw=1', headers: { 'content-type': 'text/plain' } } as const;
  for (const status of [301, 302, 303, 307, 308]) await local().fetch(`http://a.test:${port}/${status}`, post);
  expect(seen.filter((line) => line.includes('/end'))).toEqual([
    'GET /end - ',
    'GET /end - ',
    'GET /end - ',
    'POST /end text/plain pw=1',
    'POST /end text/plain pw=1',
  ]);
  const away = await redirectTo(`http://b.test:${port}/end`, 307);
  expect((await rejectionOf(local().fetch(`http://a.test:${away.port}/`, post), NetworkError)).code).toBe(
    'NETWORK_REDIRECT',
  );
  expect(seen).toHaveLength(10);
});

test('TLS is checked for the name, on the pinned address', async () => {
  const certificate = createCertificate('secure.test', 1);
  const seen: unknown[] = [];
  const { port } = await keep(
    startHttps(certificate, (request, response) => {
      seen.push([(request.socket as { servername?: unknown }).servername, request.headers.host]);
      response.end('secure');
    }),
  );
  const trusting = local({ ca: certificate.cert });
  expect(await (await trusting.fetch(`https://secure.test:${port}/`)).text()).toBe('secure');
  expect(seen).toEqual([['secure.test', `secure.test:${port}`]]);
  expect((await rejectionOf(trusting.fetch(`https://other.test:${port}/`), NetworkError)).code).toBe('NETWORK_FAILED');
  expect((await rejectionOf(local().fetch(`https://secure.test:${port}/`), NetworkError)).code).toBe('NETWORK_FAILED');
  expect(seen).toHaveLength(1);
});

test('a redirect from https to http is rejected', async () => {
  const certificate = createCertificate('secure.test', 1);
  const plain = await serve((_request, response) => response.end('plain'));
  const secure = await keep(
    startHttps(certificate, (_request, response) => {
      response.writeHead(302, { location: `http://secure.test:${plain.port}/` }).end();
    }),
  );
  const error = await rejectionOf(
    local({ ca: certificate.cert }).fetch(`https://secure.test:${secure.port}/`),
    NetworkError,
  );
  expect(error.code).toBe('NETWORK_REDIRECT');
  expect(plain.connections()).toBe(0);
});

test('a refused connection is a failure that names its cause', async () => {
  const server = await startHttp(() => {});
  await server.close();
  const error = await rejectionOf(local().fetch(`http://a.test:${server.port}/`), NetworkError);
  expect(error.code).toBe('NETWORK_FAILED');
  expect(error.message).toContain('ECONNREFUSED');
});

test('the version with the interface of fetch follows the same rules', async () => {
  const { port } = await serve(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify({ type: request.headers['content-type'], body })));
  });
  const fetch = toWebFetch(local());
  const response = await fetch(`http://a.test:${port}/`, { method: 'post', body: new URLSearchParams({ a: '1' }) });
  expect(response.url).toBe(`http://a.test:${port}/`);
  expect(response.headers.has('content-encoding')).toBe(false);
  expect(await response.json()).toEqual({ type: 'application/x-www-form-urlencoded;charset=UTF-8', body: 'a=1' });
  expect((await rejectionOf(toWebFetch(createFetcher())(`http://127.0.0.1:${port}/`), NetworkError)).code).toBe(
    'NETWORK_FORBIDDEN',
  );
  await expect(fetch(`http://a.test:${port}/`, { method: 'post', body: new FormData() })).rejects.toThrow(TypeError);
});
