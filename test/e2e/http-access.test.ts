// Access: attacks from a browser on every path, CORS, authentication, and addresses that need it.

import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  connectInMemory,
  createServer,
  type EndpointOptions,
  type HttpOptions,
  type HttpServer,
  serveHttp,
  serveStdio,
  toFetch,
  toNodeHandler,
} from '../../src/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import { type HttpTestClient, initializeBody, modernBody, modernHeaders } from '../support/http-client.ts';

const closers = useClosers();
let reached = 0;

async function start(options: HttpOptions = {}) {
  const server = createServer({ name: 'guarded', version: '1.0.0' });
  server.tool('touch', {
    description: 'Shows that a request was served',
    run: (_args: unknown, ctx) => {
      reached++;
      return ctx.principal?.id ?? 'nobody';
    },
  });
  server.observe({ received: () => reached++ });
  const { http, client } = await startHttp(closers, server, options);
  return { server, http, client };
}

let http: HttpServer;
let client: HttpTestClient;
beforeAll(async () => {
  ({ http, client } = await start({
    metricsPath: '/metrics',
    compat: { eventsPath: '/mcp/sse', replyPath: '/reply' },
  }));
});

const call = { name: 'touch' };
const paths: [string, string][] = [
  ['POST', '/mcp'],
  ['GET', '/mcp'],
  ['DELETE', '/mcp'],
  ['OPTIONS', '/mcp'],
  ['GET', '/sse'],
  ['POST', '/message'],
  ['POST', '/message?sessionId=x'],
  ['POST', '/reply'],
  ['GET', '/mcp/sse'],
  ['GET', '/health'],
  ['GET', '/health/live'],
  ['GET', '/metrics'],
  ['GET', '/nowhere'],
  ['OPTIONS', '/health'],
];

/** Sends bytes as they are and gives the status line back. */
function raw(text: string, port = http.port): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      answer += chunk;
      if (answer.includes('\r\n')) {
        socket.destroy();
        resolve(answer.split('\r\n')[0] as string);
      }
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer.split('\r\n')[0] as string));
    socket.write(text);
  });
}

describe.each(paths)('%s %s', (method, path) => {
  const body = method === 'POST' ? modernBody('tools/call', call) : undefined;
  const attempt = (headers: Record<string, string | string[]>) =>
    client.send({
      method,
      path,
      body,
      headers: { Accept: 'application/json, text/event-stream', ...modernHeaders('tools/call', call), ...headers },
    });

  test('a Host that is not listed is denied', async () => {
    const before = reached;
    const port = http.port;
    const others = [
      'evil.test',
      `evil.test:${port}`,
      `localhost.evil.test:${port}`,
      `127.0.0.1.evil.test:${port}`,
      `localhost.:${port}`,
      `user@localhost:${port}`,
      `LOCALHOST.:${port}`,
      '127.0.0.1',
      `127.0.0.1:${port + 1}`,
      `0.0.0.0:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
    ];
    for (const host of others) expect([host, (await attempt({ Host: host })).status]).toEqual([host, 403]);
    expect(reached).toBe(before);
  });

  test('an Origin that is not listed is denied', async () => {
    const before = reached;
    const others = [
      'https://evil.test',
      'null',
      '',
      `http://localhost.evil.test:${http.port}`,
      'http://localhost',
      `https://localhost:${http.port}`,
      `http://localhost:${http.port}/`,
      'file://',
      `http://evil.test#http://localhost:${http.port}`,
    ];
    for (const origin of others) expect([origin, (await attempt({ Origin: origin })).status]).toEqual([origin, 403]);
    expect(reached).toBe(before);
  });

  test('two Hosts, none, and an absolute target are rejected', async () => {
    const before = reached;
    const own = `Host: 127.0.0.1:${http.port}\r\n`;
    expect(await raw(`${method} ${path} HTTP/1.1\r\n${own}${own}Content-Length: 0\r\n\r\n`)).toContain(' 403 ');
    expect(await raw(`${method} ${path} HTTP/1.1\r\n${own}Host: evil.test\r\nContent-Length: 0\r\n\r\n`)).toContain(
      ' 403 ',
    );
    expect(await raw(`${method} ${path} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`)).toContain(' 400 ');
    expect(await raw(`${method} ${path} HTTP/1.0\r\nContent-Length: 0\r\n\r\n`)).toContain(' 403 ');
    expect(await raw(`${method} http://evil.test${path} HTTP/1.1\r\n${own}Content-Length: 0\r\n\r\n`)).toContain(
      ' 400 ',
    );
    expect(reached).toBe(before);
  });
});

test('the names of the server with its port are allowed, with and without Origin', async () => {
  for (const name of ['127.0.0.1', 'localhost', '[::1]']) {
    const own = `${name}:${http.port}`;
    expect((await client.modern('tools/call', call, { headers: { Host: own } })).status).toBe(200);
    expect((await client.modern('tools/call', call, { headers: { Host: own, Origin: `http://${own}` } })).status).toBe(
      200,
    );
  }
});

test('a host name is compared without case', async () => {
  for (const name of ['LOCALHOST', 'LocalHost']) {
    const headers = { Host: `${name}:${http.port}` };
    expect((await client.modern('tools/call', call, { headers })).status).toBe(200);
  }
});

describe('requests that a page can send without a preflight', () => {
  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    '%s never reaches a handler',
    async (type) => {
      const before = reached;
      expect((await client.modern('tools/call', call, { headers: { 'Content-Type': type } })).status).toBe(415);
      expect(reached).toBe(before);
    },
  );

  test('smuggled requests are rejected', async () => {
    const before = reached;
    const host = `Host: 127.0.0.1:${http.port}\r\n`;
    for (const framing of [
      'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
      'Content-Length: 5\r\nContent-Length: 6\r\n',
      'Transfer-Encoding: xchunked\r\n',
      'Content-Length: +5\r\n',
      ' folded: x\r\n',
    ]) {
      expect(await raw(`POST /mcp HTTP/1.1\r\n${host}${framing}\r\n0\r\n\r\n`)).toContain(' 400 ');
    }
    expect(reached).toBe(before);
  });
});

describe('CORS', () => {
  test('is off unless origins are listed', async () => {
    const preflight = await client.send({
      method: 'OPTIONS',
      headers: { Origin: `http://localhost:${http.port}`, 'Access-Control-Request-Method': 'POST' },
    });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([405, undefined]);
    const answer = await client.modern('tools/call', call, { headers: { Origin: `http://localhost:${http.port}` } });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('is enabled for exactly the listed origins', async () => {
    const { client: open } = await start({ allowedOrigins: ['https://app.example'] });
    const origin = { Origin: 'https://app.example' };
    const preflight = await open.send({
      method: 'OPTIONS',
      headers: {
        ...origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type, mcp-method, mcp-param-region',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'content-type, mcp-method, mcp-param-region',
      vary: 'Origin',
    });
    expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
    const answer = await open.send({ body: initializeBody('2025-06-18'), headers: origin });
    expect(answer.headers['access-control-allow-origin']).toBe('https://app.example');
    expect(answer.headers['access-control-expose-headers']).toContain('Mcp-Session-Id');
    for (const other of [
      'https://app.example.evil.test',
      'http://app.example',
      'https://APP.example',
      'https://app.example:443',
    ]) {
      const denied = await open.modern('tools/call', call, { headers: { Origin: other } });
      expect([denied.status, denied.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    }
    expect((await open.modern('tools/call', call)).headers['vary']).toBe('Origin');
  });
});

describe('authentication', () => {
  let guarded: HttpTestClient;
  const seen: string[] = [];
  beforeAll(async () => {
    ({ client: guarded } = await start({
      metricsPath: '/metrics',
      authenticate: async (request) => {
        seen.push(`${request.method} ${request.path}`);
        const token = request.get('authorization');
        if (token === 'Bearer broken') throw new Error('the key server is down');
        if (token === 'Bearer weak')
          return {
            status: 403,
            challenge: 'Bearer error="insufficient_scope"',
            message: 'Forbidden: a wider scope is needed',
          };
        if (token === 'Bearer nameless') return { user: 'ada' } as never;
        return token === 'Bearer good' ? { id: 'ada' } : undefined;
      },
      routes: [
        {
          path: '/.well-known/oauth-protected-resource',
          public: true,
          answer: () => ({ status: 200, headers: { 'Content-Type': 'application/json' }, body: '{"resource":"x"}' }),
        },
        { path: '/private', answer: () => ({ status: 200, body: 'secret' }) },
        { path: '/broken', public: true, answer: () => Promise.reject(new Error('no')) },
      ],
    }));
  });

  test.each(
    [
      ...paths.filter(([, path]) => !path.startsWith('/health') && !['/nowhere', '/reply', '/mcp/sse'].includes(path)),
      ['GET', '/private'],
    ].filter(([method]) => method !== 'OPTIONS') as [string, string][],
  )('%s %s asks for a token before the body is read', async (method, path) => {
    const body = method === 'POST' ? '{ not even json' : undefined;
    const answer = await guarded.send({ method, path, body, headers: { Accept: 'text/event-stream' } });
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  });

  test('the principal reaches the handler', async () => {
    const answer = await guarded.modern('tools/call', call, { headers: { Authorization: 'Bearer good' } });
    expect(answer.json.result).toMatchObject({ content: [{ text: 'ada' }] });
  });

  test('a denial has the status, challenge and message of the authenticator', async () => {
    const weak = await guarded.modern('tools/call', call, { headers: { Authorization: 'Bearer weak' } });
    expect([weak.status, weak.headers['www-authenticate'], weak.json.error?.message]).toEqual([
      403,
      'Bearer error="insufficient_scope"',
      'Forbidden: a wider scope is needed',
    ]);
  });

  test('an authenticator that fails lets no request in', async () => {
    const before = reached;
    expect((await guarded.modern('tools/call', call, { headers: { Authorization: 'Bearer broken' } })).status).toBe(
      500,
    );
    expect(reached).toBe(before);
  });

  test('an authenticator that returns a caller without an id lets no request in', async () => {
    const before = reached;
    const answer = await guarded.modern('tools/call', call, { headers: { Authorization: 'Bearer nameless' } });
    expect([answer.status, reached]).toEqual([500, before]);
  });

  test('two Authorization headers are not a token', async () => {
    const answer = await guarded.modern('tools/call', call, {
      headers: { Authorization: ['Bearer good', 'Bearer good'] },
    });
    expect(answer.status).toBe(401);
  });

  test('health and public routes need no token, others do', async () => {
    expect((await guarded.send({ method: 'GET', path: '/health' })).status).toBe(200);
    expect((await guarded.send({ method: 'GET', path: '/.well-known/oauth-protected-resource' })).json).toEqual({
      resource: 'x',
    });
    expect(
      (await guarded.send({ method: 'GET', path: '/private', headers: { Authorization: 'Bearer good' } })).text,
    ).toBe('secret');
    expect((await guarded.send({ method: 'GET', path: '/broken' })).status).toBe(500);
  });

  test('Host and Origin are checked before the token', async () => {
    const before = seen.length;
    await guarded.modern('tools/call', call, { headers: { Origin: 'https://evil.test' } });
    expect(seen.length).toBe(before);
  });
});

describe('addresses other than loopback', () => {
  test.each(['0.0.0.0', '::', '192.168.0.1', 'example.com', '127.0.0.1.evil.test'])(
    '%s needs authentication',
    async (host) => {
      const server = createServer({ name: 'x', version: '1' });
      await expect(serveHttp(server, { host, port: 0 })).rejects.toThrow(/without authentication/);
    },
  );

  test('with authentication, or by an explicit option, they are served', async () => {
    for (const options of [{ authenticate: () => ({ id: 'ada' }) }, { allowUnauthenticated: true }]) {
      const { http: wide, client: tester } = await start({ host: '0.0.0.0', ...options });
      expect(wide.host).toBe('0.0.0.0');
      expect((await tester.modern('tools/call', call, { headers: { Host: 'mcp.example' } })).status).toBe(200);
      expect((await tester.modern('tools/call', call, { headers: { Origin: 'https://evil.test' } })).status).toBe(403);
    }
  });

  test('a listed name without a port is allowed with every port, and a denial says how to list it', async () => {
    const { client: tester } = await start({ allowedHosts: ['mcp.example'] });
    const as = (headers: Record<string, string>) => tester.modern('tools/call', call, { headers });
    for (const host of ['mcp.example', 'mcp.example:8443', 'MCP.example:1234']) {
      expect([host, (await as({ Host: host })).status]).toEqual([host, 200]);
    }
    const host = await as({ Host: 'other.example:8443' });
    expect([host.status, host.text]).toEqual([403, expect.stringContaining('add it with the option allowedHosts')]);
    const origin = await as({ Origin: 'https://app.example' });
    expect(origin.status).toBe(403);
    expect(origin.text).toContain('add it with the option allowedOrigins');
  });

  test('where hosts are listed, only they are allowed', async () => {
    const { client: tester } = await start({
      host: '0.0.0.0',
      allowUnauthenticated: true,
      publicUrl: 'https://mcp.example',
      allowedHosts: ['other.example:8443', 'Third.example:443'],
    });
    for (const host of [
      ...['mcp.example', 'MCP.example', 'mcp.example:443', 'other.example:8443'],
      ...['third.example', 'third.example:443'],
    ]) {
      expect([host, (await tester.modern('tools/call', call, { headers: { Host: host } })).status]).toEqual([
        host,
        200,
      ]);
    }
    for (const host of ['mcp.example:8443', 'other.example', 'other.example:443', 'third.example:80']) {
      expect([host, (await tester.modern('tools/call', call, { headers: { Host: host } })).status]).toEqual([
        host,
        403,
      ]);
    }
    expect(
      (await tester.modern('tools/call', call, { headers: { Host: 'mcp.example', Origin: 'https://mcp.example' } }))
        .status,
    ).toBe(200);
    expect((await tester.modern('tools/call', call, { headers: { Host: 'evil.test' } })).status).toBe(403);
  });
});

describe('options that are invalid', () => {
  const openServers = () => process.getActiveResourcesInfo().filter((each) => each === 'TCPServerWrap').length;

  test.each([
    [{ publicUrl: 'nope' }, 'publicUrl: "nope" is not a URL'],
    [{ allowedOrigins: ['nope'] }, 'allowedOrigins: "nope" is not an origin'],
    [{ allowedHosts: ['http://x'] }, 'allowedHosts: "http://x" is not a host name'],
    [{ prot: 0 } as HttpOptions, 'Unknown option prot of serveHttp; did you mean port? Use one of host, port, '],
    [
      { allowedHosts: 'mcp.example' } as unknown as HttpOptions,
      'allowedHosts: must be a list, such as ["mcp.example"]',
    ],
    [{ authenticate: true } as unknown as HttpOptions, 'authenticate: must be a function that identifies the caller'],
    [
      { authenticate: { authenticate: async () => undefined, routes: [] } } as unknown as HttpOptions,
      'pass the function and the routes: { authenticate: oauth.authenticate, routes: oauth.routes }',
    ],
    [{ routes: { path: '/x' } } as unknown as HttpOptions, 'routes: must be a list of objects with a path'],
    [
      { mounts: [{ mount: {}, link: () => '' }] } as unknown as HttpOptions,
      'a function "handle", such as [console.mount]',
    ],
    [{ path: 'mcp' }, 'path: must begin with a slash, such as "/mcp"; it is "mcp"'],
    [{ sessions: 'stateless' as never }, 'sessions: must be one of required, optional, off, not "stateless"'],
    [{ sessions: false as never }, 'sessions: must be one of required, optional, off, not false'],
    [{ port: Number.NaN }, 'port: must be a number from 0 to 65535, not NaN; 0 picks a free port'],
    [{ port: 80_000 }, 'port: must be a number from 0 to 65535, not 80000'],
    [{ port: 'http' as never }, 'port: must be a number from 0 to 65535, not "http"'],
    [{ tls: { cert: 'cert.pem', key: 'key.pem' } }, 'tls.cert: must be the contents of a PEM file, which contain'],
    [{ metricsPath: '/mcp' }, 'Two routes share the path /mcp'],
  ] satisfies [HttpOptions, string][])(
    '%j is rejected with its name, and no port stays open',
    async (options, text) => {
      const before = openServers();
      const server = createServer({ name: 'invalid', version: '1.0.0' });
      await expect(serveHttp(server, { port: 0, ...options })).rejects.toThrow(text);
      await expect.poll(openServers).toBe(before);
    },
  );

  test('a port that is in use, and an address of another machine, are rejected with what to do', async () => {
    const { http } = await start();
    const server = createServer({ name: 'invalid', version: '1.0.0' });
    await expect(serveHttp(server, { port: http.port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message:
        `Port ${http.port} on 127.0.0.1 is already in use. Choose another with "port" (0 picks a free one), ` +
        'or stop the process that uses it',
    });
    const elsewhere = { port: 0, host: '192.0.2.1', allowUnauthenticated: true };
    await expect(serveHttp(server, elsewhere)).rejects.toMatchObject({
      code: 'EADDRNOTAVAIL',
      message: '192.0.2.1 is not an address of this machine. Choose another "host", such as 127.0.0.1',
    });
  });

  test('what is not a server, or not an object of options, is rejected with the name of the function', async () => {
    const server = createServer({ name: 'invalid', version: '1.0.0' });
    const problem = (callee: string) => `${callee} needs a server as its first argument: ${callee}(createServer({`;
    await expect(serveHttp({ port: 0 } as never)).rejects.toThrow(problem('serveHttp'));
    await expect(serveHttp({ server } as never)).rejects.toThrow('serveHttp(gateway.server)');
    await expect(serveHttp(server, 8000 as never)).rejects.toThrow(
      'The options of serveHttp must be an object, not number',
    );
    expect(() => toFetch(undefined as never)).toThrow(problem('toFetch'));
    expect(() => toNodeHandler(null as never)).toThrow(problem('toNodeHandler'));
    expect(() => connectInMemory({} as never)).toThrow(problem('connectInMemory'));
    await expect(serveStdio(undefined as never)).rejects.toThrow(problem('serveStdio'));
  });

  test('one that toNodeHandler and toFetch do not have is rejected before the first request', () => {
    const server = createServer({ name: 'invalid', version: '1.0.0' });
    const mistyped = { allowedHost: ['mcp.example'] } as EndpointOptions;
    // Only `serveHttp` listens, but the same options can be given to all three.
    const shared: HttpOptions = {
      port: 0,
      host: '127.0.0.1',
      graceMs: 1,
      webSocket: false,
      allowedHosts: ['localhost'],
    };
    expect(() => [toFetch(server, shared), toNodeHandler(server, shared)]).not.toThrow();
    expect(() => toNodeHandler(server, mistyped)).toThrow(
      new TypeError(
        'Unknown option allowedHost of toNodeHandler; did you mean allowedHosts? Use one of path, publicUrl, allowedHosts, allowedOrigins, optionNames, ' +
          'authenticate, limits, sessions, sealer, store, eventLog, sharedEventLog, sse, healthPath, metricsPath, serverCard, ' +
          'monitors, compat, routes, hosts, mounts, logger',
      ),
    );
    expect(() => toFetch(server, mistyped)).toThrow(
      'Unknown option allowedHost of toFetch; did you mean allowedHosts? Use one of path, ',
    );
    expect(() => toFetch(server, { ...shared, prot: 0 } as EndpointOptions)).toThrow('Unknown option prot of toFetch');
    expect(() => toNodeHandler(server, { logger: undefined } as unknown as EndpointOptions)).not.toThrow();
  });
});
