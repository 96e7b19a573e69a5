// Servers over HTTP that behave badly: each ends in an error that says what happened, within its time.
import { createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { type Client, ClientError, type ConnectOptions, connect, EraCache } from '../../../src/client/index.ts';
import { rejectionOf } from '../../support/rejection.ts';
import { done, type FaultyServer, type Manners, startFaultyServer, type Visit } from './http-server.ts';

/** What must happen has time, also where the machine stops the process for some seconds. */
const limits = { timeoutMs: 20_000, connectTimeoutMs: 20_000, retry: { baseDelayMs: 1, maxDelayMs: 10 } };
/** Of a request that gets no answer. */
const short = { timeoutMs: 1_000 };
const handshake = { revision: 'handshake' };

let server: FaultyServer | undefined;
let client: Client | undefined;

afterEach(async () => {
  await client?.close();
  await server?.close();
  client = server = undefined;
});

async function open(manners: Manners, options: ConnectOptions = {}): Promise<Client> {
  server = await startFaultyServer(manners);
  client = await connect(server.url, { ...limits, eraCache: new EraCache(), ...options });
  return client;
}

/** Manners about one method only. */
const on =
  (method: string, act: (visit: Visit) => void): Manners =>
  (visit) => {
    if (visit.message.method !== method) return false;
    act(visit);
    return true;
  };
const always =
  (act: (visit: Visit) => void): Manners =>
  (visit) => {
    act(visit);
    return true;
  };
const page = '<!doctype html><title>Welcome</title>';

describe('a server that cannot be talked to', () => {
  const cases: readonly [what: string, manners: Manners, code: string, message: RegExp, options?: ConnectOptions][] = [
    [
      'a web page',
      always(({ response }) => response.setHeader('content-type', 'text/html').end(page)),
      'not-mcp',
      /text\/html.*Welcome/s,
    ],
    [
      'a web page that is not found',
      always(({ response }) => response.writeHead(404).end(page)),
      'not-mcp',
      /HTTP 404/,
    ],
    ['one that is broken', always(({ response }) => response.writeHead(500).end('oops')), 'not-mcp', /HTTP 500, oops/],
    ['one that is closed', always(({ response }) => response.writeHead(503).end()), 'not-mcp', /HTTP 503/],
    [
      'one that wants a token',
      always(({ response }) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()),
      'unauthorized',
      /pass connect\(\) an authorizer/,
    ],
    ['one that forbids', always(({ response }) => response.writeHead(403).end()), 'unauthorized', /HTTP 403/],
    [
      'one that forbids the only revision that is wanted',
      always(({ response }) => response.writeHead(401).end()),
      'unauthorized',
      /HTTP 401/,
      { revision: '2026-07-28' },
    ],
    ...[400, 404, 405].map((status): (typeof cases)[number] => [
      `one that wants credentials, and answers ${status} to an older revision`,
      always(({ message, response }) => response.writeHead(message.method === 'server/discover' ? 401 : status).end()),
      'unauthorized',
      /HTTP 401/,
    ]),
    [
      'one that sends us elsewhere',
      always(({ response }) => response.writeHead(307, { location: 'http://localhost:9/mcp' }).end()),
      'redirect-rejected',
      /redirects to another origin are not followed/,
    ],
    [
      'one that sends us in a circle',
      always(({ response }) => response.writeHead(307, { location: '/mcp' }).end()),
      'redirect-rejected',
      /more than 3 redirects/,
    ],
    [
      'one that would have us GET',
      always(({ response }) => response.writeHead(303, { location: '/other' }).end()),
      'redirect-rejected',
      /delivered by GET/,
    ],
    ['one that never answers', always(() => {}), 'connect-timeout', /server\/discover.*No response/, short],
    [
      'one that answers nothing',
      always(({ response }) => response.writeHead(202).end()),
      'not-mcp',
      /HTTP 202 and an empty body/,
    ],
    [
      'one with the id of another request',
      always(({ json }) => json({ jsonrpc: '2.0', id: 999, result: {} })),
      'not-mcp',
      /a body without the response/,
    ],
    ['one that answers text', always(({ json }) => json('hello')), 'not-mcp', /a body without the response/],
    [
      'one that speaks nothing we know',
      on('initialize', ({ result }) => result({ protocolVersion: '1999-01-01' })),
      'unsupported-revision',
      /1999-01-01/,
    ],
    [
      'one that is pinned to what it lacks',
      () => false,
      'unsupported-revision',
      /does not support 2026-07-28/,
      { revision: '2026-07-28' },
    ],
  ];
  test.each(cases)('%s', async (_, manners, code, message, options) => {
    const error = await rejectionOf(open(manners, options), ClientError);
    expect(error.message).toMatch(message);
    expect(error.code).toBe(code);
  });

  test('a port that is not in use', async () => {
    const error = await rejectionOf(connect('http://127.0.0.1:9/mcp', limits), ClientError);
    expect(error.code).toBe('connect-failed');
    expect(error.message).toContain('ECONNREFUSED');
  });

  test('a host name that does not exist', async () => {
    expect((await rejectionOf(connect('http://no-such-host.invalid/mcp', limits), ClientError)).code).toBe(
      'connect-failed',
    );
  });

  test.each(['HTTP/1.1 200 OK\r\nContent-Length: pony\r\n\r\n', 'SSH-2.0-OpenSSH_9.2\r\n'])(
    'something that is not HTTP',
    async (said) => {
      const sockets = createTcpServer((socket) => socket.on('error', () => {}).end(said));
      await new Promise<void>((listening) => sockets.listen(0, '127.0.0.1', listening));
      const { port } = sockets.address() as { port: number };
      expect((await rejectionOf(connect(`http://127.0.0.1:${port}`, limits), ClientError)).code).toBe(
        'connection-lost',
      );
      sockets.close();
    },
  );

  test('a connection that is reset at once', async () => {
    const sockets = createTcpServer((socket) => socket.resetAndDestroy());
    await new Promise<void>((listening) => sockets.listen(0, '127.0.0.1', listening));
    const { port } = sockets.address() as { port: number };
    expect((await rejectionOf(connect(`http://127.0.0.1:${port}`, limits), ClientError)).code).toBe('connection-lost');
    sockets.close();
  });
});

describe('an answer that is none', () => {
  const cases: readonly [what: string, act: (visit: Visit) => void, code: string, message: RegExp][] = [
    [
      'a body that is cut off',
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
        response.write('{"jsonrpc":', () => response.destroy());
      },
      'connection-lost',
      /was lost/,
    ],
    [
      'broken JSON',
      ({ message, json }) => json(`{"jsonrpc":"2.0","id":${message.id},"result":{`),
      'invalid-message',
      /Parse error/,
    ],
    [
      'packed JSON',
      ({ response, message }) =>
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(gzipSync(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: done }))),
      'http-error',
      /a body without the response/,
    ],
    [
      'a body that drips',
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const drip = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(drip));
      },
      'timeout',
      /No response to tools\/call/,
    ],
    [
      'a body beyond the limit',
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write(`"${'x'.repeat(3e6)}`);
      },
      'message-too-large',
      /exceeds 1048576 bytes/,
    ],
    [
      'an event beyond the limit',
      ({ events, response }) => {
        events();
        response.write(`data: ${'x'.repeat(3e6)}`);
      },
      'message-too-large',
      /exceeds 1048576 bytes/,
    ],
    [
      'many lines of one event beyond the limit',
      ({ events, response }) => {
        events();
        response.write(`data: ${'x'.repeat(3e5)}\n`.repeat(10));
      },
      'message-too-large',
      /exceeds 1048576 bytes/,
    ],
    [
      'a stream of comments',
      ({ events, response }) => {
        events();
        const drip = setInterval(() => response.write(':\n\n'), 20);
        response.on('close', () => clearInterval(drip));
      },
      'timeout',
      /No response to tools\/call/,
    ],
    [
      'a stream that ends',
      ({ events, response }) => {
        events();
        response.end();
      },
      'connection-lost',
      /ended without a response/,
    ],
    [
      'a stream that breaks',
      ({ events, response }) => {
        events();
        setTimeout(() => response.destroy(), 20);
      },
      'connection-lost',
      /was lost/,
    ],
    [
      'a stream of rubbish',
      ({ events, response }) => {
        events('\u0000\u0001data\ndata\n: \nretry: soon\nid\n\ndata: {"no":"message"}\n\ndata: [1,2\n\n');
        response.end();
      },
      'connection-lost',
      /ended without a response/,
    ],
    ['a rejection in words', ({ response }) => response.writeHead(400).end('No.'), 'http-error', /HTTP 400, No\./],
    [
      'a rejection in JSON-RPC',
      ({ json, message }) => json({ jsonrpc: '2.0', id: message.id, error: { code: -32603, message: 'On fire' } }, 500),
      'server-error',
      /On fire \(-32603\)/,
    ],
    [
      'a page instead',
      ({ response }) => response.setHeader('content-type', 'text/html').end(page),
      'http-error',
      /text\/html.*Welcome/,
    ],
  ];
  test.each(cases)('%s', async (_, act, code, message) => {
    await open(on('tools/call', act), { ...handshake, maxMessageBytes: 1024 * 1024 });
    const options = code === 'timeout' ? short : {};
    const error = await rejectionOf((client as Client).callTool('work', {}, options), ClientError);
    expect(error.message).toMatch(message);
    expect(error.code).toBe(code);
    expect((await (client as Client).listTools()).length).toBe(1);
  });

  test('an answer in an event with any line ending is understood', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const answer = ({ message, events, response }: Visit) => {
        const text = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: done }, null, 1);
        events(`\ufeffevent: message${end}`);
        response.end(
          text
            .split('\n')
            .map((line) => `data: ${line}${end}`)
            .join('') + end,
        );
      };
      expect(await (await open(on('tools/call', answer), handshake)).callTool('work')).toEqual(done);
      await client?.close();
      await server?.close();
    }
  });
});

describe('what passes by itself', () => {
  test.each([401, 403])('%i for the newest revision only: the handshake is tried', async (status) => {
    await open(
      on('server/discover', ({ response }) => response.writeHead(status).end()),
      { headers: { authorization: 'Bearer valid' } },
    );
    expect(await (client as Client).callTool('work')).toMatchObject(done);
  });

  test('a server that closes the connection after it has rejected the newest revision', async () => {
    let opened = 0;
    await open(({ message, response }) => {
      if (message.method !== 'initialize' || opened++ > 0) return false;
      response.destroy();
      return true;
    });
    expect(await (client as Client).callTool('work')).toMatchObject(done);
    expect(opened).toBe(2);
  });

  const twice = (act: (visit: Visit) => void): Manners => {
    let rejections = 0;
    return (visit) => {
      if (visit.message.method !== 'tools/list' || rejections++ >= 2) return false;
      act(visit);
      return true;
    };
  };
  test.each<[string, (visit: Visit) => void]>([
    ['503', ({ response }) => response.writeHead(503, { 'retry-after': '0' }).end()],
    ['429', ({ response }) => response.writeHead(429, { 'retry-after': '0' }).end()],
    ['a broken connection', ({ response }) => response.destroy()],
  ])('%s: a list is requested again', async (_, act) => {
    await open(twice(act), handshake);
    expect((await (client as Client).listTools()).length).toBe(1);
  });

  test.each([true, false])(
    'a request that the server wants to have much later fails and says when, JSON-RPC: %j',
    async (json) => {
      let requests = 0;
      await open(
        on('tools/list', ({ response, message }) => {
          requests++;
          const error = { code: -32000, message: 'Rate limit exceeded' };
          response.writeHead(429, { 'retry-after': '30', 'content-type': json ? 'application/json' : 'text/plain' });
          response.end(json ? JSON.stringify({ jsonrpc: '2.0', id: message.id, error }) : 'Too many requests');
        }),
        handshake,
      );
      const error = await rejectionOf((client as Client).listTools(), ClientError);
      expect(error.message).toMatch(/Rate limit exceeded \(-32000\)|HTTP 429, Too many requests/);
      expect(error.message).toMatch(/\. Retry after 30 s$/);
      expect(error.serverError).toMatchObject({ status: 429, retryAfterMs: 30_000 });
      expect(requests).toBe(1);
    },
  );

  test('a call that may have been carried out is not repeated', async () => {
    let calls = 0;
    await open(
      on('tools/call', ({ response }) => {
        calls++;
        response.destroy();
      }),
      handshake,
    );
    expect((await rejectionOf((client as Client).callTool('work'), ClientError)).code).toBe('connection-lost');
    expect(calls).toBe(1);
    await rejectionOf((client as Client).callTool('work', {}, { idempotent: true }), ClientError);
    expect(calls).toBe(4);
  });

  test('a trailing slash is followed within the origin, with the body', async () => {
    await open(({ request, response }) => {
      if (request.url !== '/mcp') return false;
      response.writeHead(308, { location: '/mcp/' }).end();
      return true;
    }, handshake);
    expect(await (client as Client).callTool('work')).toEqual(done);
  });
});

describe('sessions', () => {
  /** Hands out sessions one, two, three … and knows only the newest. */
  const forgetful = (forget: (visit: Visit, session: number) => boolean, reject = notFound): Manners => {
    let session = 0;
    return (visit) => {
      const { message, request, result } = visit;
      if (message.method === 'initialize') {
        session++;
        result(
          { protocolVersion: '2025-11-25', capabilities: { tools: {} } },
          { 'mcp-session-id': `session-${session}` },
        );
        return true;
      }
      const known = request.headers['mcp-session-id'] === `session-${session}` && !forget(visit, session);
      if (known || message.id === undefined) return false;
      reject(visit);
      return true;
    };
  };
  const sendError = ({ json }: Visit, status: number, code: number, message: string): void =>
    json({ jsonrpc: '2.0', id: null, error: { code, message } }, status);
  const notFound = (visit: Visit): void => sendError(visit, 404, -32001, 'Session not found');

  test('one that has ended is opened again, and the call succeeds', async () => {
    await open(
      forgetful(({ message }, session) => message.method === 'tools/call' && session === 1),
      handshake,
    );
    expect(await Promise.all([1, 2, 3].map(() => (client as Client).callTool('work')))).toEqual([done, done, done]);
    expect(server?.visits.filter(({ body }) => body.includes('"initialize"'))).toHaveLength(2);
  });

  test.each<[string, (visit: Visit) => void]>([
    ['an error', (visit) => sendError(visit, 400, -32000, 'Bad Request: No valid session ID provided')],
    ['another error', (visit) => sendError(visit, 400, -32000, 'Bad Request: Server not initialized')],
    ['text', ({ response }) => response.writeHead(400).end('Invalid or missing session ID')],
  ])('one that the server rejects with 400 and %s is opened again', async (_what, reject) => {
    await open(
      forgetful(({ message }, session) => message.method === 'tools/call' && session === 1, reject),
      handshake,
    );
    expect(await (client as Client).callTool('work')).toEqual(done);
    expect(server?.visits.filter(({ body }) => body.includes('"initialize"'))).toHaveLength(2);
  });

  test('another 400 does not end it', async () => {
    await open(
      forgetful(
        ({ message }) => message.method === 'tools/call',
        (visit) => sendError(visit, 400, -32602, 'The session of this user has no such file'),
      ),
      handshake,
    );
    const { serverError } = await rejectionOf((client as Client).callTool('work'), ClientError);
    expect(serverError).toMatchObject({ status: 400, code: -32602 });
    expect(server?.visits.filter(({ body }) => body.includes('"initialize"'))).toHaveLength(1);
  });

  test('a call with sessionLost: throw is not sent again, and the next call opens the session', async () => {
    const states: string[] = [];
    await open(
      forgetful(({ message }, session) => message.method === 'tools/call' && session === 1),
      { ...handshake, onState: (state) => states.push(state) },
    );
    const call = (client as Client).callTool('work', {}, { sessionLost: 'throw' });
    expect((await rejectionOf(call, ClientError)).code).toBe('session-lost');
    expect(states).toEqual(['lost']);
    expect(await (client as Client).callTool('work')).toEqual(done);
    expect(states).toEqual(['lost', 'restored']);
    expect(server?.visits.filter(({ body }) => body.includes('"tools/call"'))).toHaveLength(2);
  });

  test('a call is not sent again if its session ended after its response had begun', async () => {
    await open((visit) => {
      const { message, request, response, result } = visit;
      if (message.method === 'initialize') {
        result({ protocolVersion: '2025-11-25', capabilities: { tools: {} } }, { 'mcp-session-id': 'session' });
      } else if (message.method === 'tools/call') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 1\nretry: 1\ndata: \n\n');
      } else if (request.headers['last-event-id'] !== undefined) response.writeHead(404).end();
      else return false;
      return true;
    }, handshake);
    const error = await rejectionOf((client as Client).callTool('work'), ClientError);
    expect(error.code).toBe('connection-lost');
    expect(server?.visits.filter(({ body }) => body.includes('"tools/call"'))).toHaveLength(1);
  });

  test('one that ends at once is closed after the second', async () => {
    await open(
      forgetful(({ message }) => message.method === 'tools/call'),
      handshake,
    );
    const error = await rejectionOf((client as Client).callTool('work'), ClientError);
    expect(error.code).toBe('session-lost');
    expect(server?.visits.filter(({ body }) => body.includes('"initialize"'))).toHaveLength(2);
  });

  test('unfinished calls of one that has ended end with the client', async () => {
    const manners = forgetful(({ message }, session) => message.method === 'tools/call' && session === 1);
    const isHanging = ({ message }: Visit): boolean => (message.params as { name?: string })?.name === 'hang';
    const opened = await open((visit) => isHanging(visit) || manners(visit), { ...handshake, timeoutMs: 60_000 });
    const hanging = rejectionOf(opened.callTool('hang'), ClientError);
    expect(await opened.callTool('work')).toEqual(done);
    await opened.close();
    expect((await hanging).code).toBe('closed');
  });

  test('the server is notified of its end', async () => {
    await open(
      forgetful(() => false),
      handshake,
    );
    await (client as Client).close();
    const goodbye = server?.visits.find(({ method }) => method === 'DELETE');
    expect(goodbye?.headers).toMatchObject({ 'mcp-session-id': 'session-1', 'mcp-protocol-version': '2025-11-25' });
  });

  test('an id that cannot be a header is not sent back', async () => {
    await open(
      on('initialize', ({ result }) =>
        result({ protocolVersion: '2025-11-25', capabilities: {} }, { 'mcp-session-id': 'two words' }),
      ),
      handshake,
    );
    await (client as Client).callTool('work');
    expect(server?.visits.at(-1)?.headers['mcp-session-id']).toBeUndefined();
  });
});

describe('the old transport of two endpoints', () => {
  const sse =
    (act: (visit: Visit) => void): Manners =>
    (visit) => {
      if (visit.request.method === 'GET') act(visit);
      else visit.response.writeHead(405).end();
      return true;
    };

  test.each<[string, (visit: Visit) => void, string, RegExp]>([
    [
      'an endpoint on another origin',
      ({ events }) => events('event: endpoint\ndata: http://localhost:9/steal\n\n'),
      'redirect-rejected',
      /another origin/,
    ],
    [
      'an endpoint that is no URL',
      ({ events }) => events('event: endpoint\ndata: http://[\n\n'),
      'not-mcp',
      /not a URL/,
    ],
    ['no endpoint', ({ events }) => events(), 'connect-timeout', /tried/],
    [
      'a stream that ends at once',
      ({ events, response }) => {
        events();
        response.end();
      },
      'connection-lost',
      /the event stream ended/,
    ],
    [
      'a page instead of a stream',
      ({ response }) => response.setHeader('content-type', 'text/html').end(page),
      'not-mcp',
      /instead of events/,
    ],
  ])('%s', async (_, act, code, message) => {
    const error = await rejectionOf(
      open(sse(act), { connectTimeoutMs: code === 'connect-timeout' ? 6_000 : 20_000 }),
      ClientError,
    );
    expect(error.message).toMatch(message);
    expect(error.code).toBe(code);
  });
});
