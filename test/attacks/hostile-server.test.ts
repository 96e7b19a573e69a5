// Servers that try to keep a client busy forever. Time limits and signals hold whatever they do, and nothing is left
// running: through the library, and through the program as it was built. They mostly wait, so they run concurrently.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { connect, createAuthorizer, EraCache } from '../../src/client/index.ts';
import { marked, newMark, until } from '../client/faulty/processes.ts';
import { isFullRun } from '../support/full.ts';
import { useSharedHome } from '../support/program.ts';

const home = useSharedHome();
const stdioServer = fileURLToPath(new URL('../client/faulty/stdio-server.mjs', import.meta.url));
/** What a busy machine may add: to start the program, to notice, to end everything. Without a limit it takes a minute and more. */
const slackMs = 30_000;
/** For a program that runs already. */
const signalMs = 20_000;

/** A server on a socket, and a promise of its first connection. */
interface Listening {
  readonly url: string;
  readonly visited: Promise<unknown>;
}

const open = new Set<Server>();
const sockets = new Set<Socket>();
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all([...open].map((server) => new Promise((closed) => server.close(closed))));
});

async function listen(server: Server, scheme: string): Promise<Listening> {
  open.add(server);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    visited: once(server, 'connection'),
  };
}

/** Takes every connection and says nothing. */
const silence = (scheme: string) => () => listen(createServer(), scheme);

/** Speaks HTTP, and answers as the test says. */
const http = (answer: (request: IncomingMessage, response: ServerResponse, body: string) => void) => () =>
  listen(
    createHttpServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => answer(request, response, body));
    }),
    'http',
  );

const trickle = (response: ServerResponse, type: string): void => {
  response.writeHead(200, { 'content-type': type });
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
};
const challenge = (request: IncomingMessage, response: ServerResponse): void => {
  const metadata = `http://${request.headers.host}/.well-known/oauth-protected-resource/mcp`;
  response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end();
};
const initialized = (body: string): unknown => ({
  jsonrpc: '2.0',
  id: (JSON.parse(body) as { id: number }).id,
  result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
});

const silent: Readonly<Record<string, () => Promise<Listening>>> = {
  'takes connections and never answers': silence('http'),
  'never finishes the TLS handshake': silence('https'),
  'never answers the upgrade to a WebSocket': silence('ws'),
  'sends a body that never ends': http((_request, response) => trickle(response, 'application/json')),
  'sends an error response that never ends': http((_request, response) => {
    response.writeHead(400, { 'content-type': 'text/plain' });
    response.write('no');
  }),
  'opens a stream and never answers in it': http((_request, response) => trickle(response, 'text/event-stream')),
  'never names the second endpoint of HTTP+SSE': http((request, response) => {
    if (request.method === 'GET') trickle(response, 'text/event-stream');
    else response.writeHead(405).end();
  }),
  'never answers the GET of HTTP+SSE': http((request, response) => {
    if (request.method !== 'GET') response.writeHead(405).end();
  }),
  'never answers the discovery of its authorization': http((request, response) => {
    if (request.url === '/mcp') challenge(request, response);
  }),
  'sends metadata of its authorization that never end': http((request, response) => {
    if (request.url === '/mcp') challenge(request, response);
    else trickle(response, 'application/json');
  }),
  'never takes the initialized notification': http((request, response, body) => {
    if (request.method !== 'POST') return;
    if (body.includes('"initialize"')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(initialized(body)));
    } else if (body.includes('server/discover')) response.writeHead(400).end();
  }),
};

/** By default the program ends in one of two ways with each of them. */
let declared = 0;

describe.concurrent.each(Object.entries(silent))('a server that %s', (_name, start) => {
  const isFirst = declared++ % 2 === 0;

  test('ends connect() with the time limit', async () => {
    const { url } = await start();
    const began = performance.now();
    const authorizer = createAuthorizer({ server: url, redirector: false });
    const connecting = connect(url, { connectTimeoutMs: 700, eraCache: new EraCache(), authorizer });
    await expect(connecting).rejects.toMatchObject({ code: 'connect-timeout' });
    expect(performance.now() - began).toBeLessThan(700 + slackMs / 2);
  });

  test('ends connect() when its caller aborts', async () => {
    const { url, visited } = await start();
    const stop = new AbortController();
    const authorizer = createAuthorizer({ server: url, redirector: false });
    const connecting = connect(url, { signal: stop.signal, eraCache: new EraCache(), authorizer });
    await visited;
    const began = performance.now();
    stop.abort();
    await expect(connecting).rejects.toMatchObject({ code: 'cancelled' });
    expect(performance.now() - began).toBeLessThan(slackMs / 2);
  });

  test.runIf(isFullRun || isFirst)('does not keep the program beyond --timeout', { timeout: 120_000 }, async () => {
    const { url } = await start();
    const began = performance.now();
    const { code, stderr } = await home.run(['ping', url, '--timeout', '2']);
    expect(performance.now() - began).toBeLessThan(2_000 + slackMs);
    expect(code, stderr).toBe(1);
    expect(stderr).toContain('in time');
  });

  test.runIf(isFullRun || !isFirst)(
    'does not keep the program when it is told to end',
    { timeout: 120_000 },
    async () => {
      const { url, visited } = await start();
      const child = home.start(['ping', url]);
      await visited;
      const began = performance.now();
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      expect(performance.now() - began).toBeLessThan(signalMs);
      expect(code).toBe(130);
    },
  );
});

describe.concurrent.each(['never-answers', 'never-answers-nor-ends', 'reads-nothing'])('a process that %s', (mode) => {
  const command = (mark: string): string[] => [process.execPath, stdioServer, mode, mark];
  const line = (mark: string): string =>
    command(mark)
      .map((word) => JSON.stringify(word))
      .join(' ');

  test('is ended by connect() soon after its time is over', async () => {
    const mark = newMark();
    const began = performance.now();
    const connecting = connect(command(mark), { connectTimeoutMs: 1_000, probeTimeoutMs: 300, closeGraceMs: 60_000 });
    await expect(connecting).rejects.toMatchObject({ code: 'connect-timeout' });
    expect(performance.now() - began).toBeLessThan(1_000 + slackMs / 2);
    // On a busy machine a process that was killed exists a moment longer.
    await until(() => marked(mark).length === 0);
  });

  test('does not keep the program beyond --timeout, and is gone with it', { timeout: 120_000 }, async () => {
    const mark = newMark();
    const began = performance.now();
    const { code, stderr } = await home.run(['call', line(mark), 'work', '--timeout', '2']);
    expect(performance.now() - began).toBeLessThan(2_000 + slackMs);
    expect(code).toBe(1);
    expect(stderr).toContain('in time');
    await until(() => servers(mark).length === 0);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'is gone with the program that gets a %s',
    { timeout: 120_000 },
    async (signal) => {
      const mark = newMark();
      const child = home.start(['call', line(mark), 'work']);
      await until(() => servers(mark).length > 0);
      const began = performance.now();
      child.kill(signal);
      const [code] = await once(child, 'exit');
      expect(performance.now() - began).toBeLessThan(signalMs);
      expect(code).toBe(130);
      await until(() => servers(mark).length === 0);
    },
  );
});

/** Only the server has the mark as a word of its own; the program has it within the words of the command. */
const servers = marked;

describe.concurrent('a call', () => {
  const line = (mode: string, mark = newMark()): string =>
    [process.execPath, stdioServer, mode, mark].map((word) => JSON.stringify(word)).join(' ');

  test.each([
    ['evil-pattern', 'must match the pattern ^(a+)+$'],
    ['evil-schema', 'is too large to be checked against this schema'],
  ])(
    'whose result is hard to validate (%s) ends in time, with a reason',
    { timeout: 120_000 },
    async (mode, reason) => {
      const began = performance.now();
      const { code, stderr } = await home.run(['call', line(mode), 'work', '--timeout', '30']);
      expect(performance.now() - began).toBeLessThan(30_000 + slackMs);
      expect(code).toBe(1);
      expect(stderr).toContain(reason);
    },
  );

  test.each(['progress-for-ever', 'slow-pages', 'asks-nothing-for-ever', 'endless-line'])(
    'is over when its time is (%s)',
    { timeout: 120_000 },
    async (mode) => {
      const mark = newMark();
      const began = performance.now();
      const { code, stderr } = await home.run(['call', line(mode, mark), 'work', '--timeout', '10']);
      expect(performance.now() - began).toBeLessThan(10_000 + slackMs);
      expect(code).toBe(1);
      expect(stderr).toContain('No answer');
      await until(() => servers(mark).length === 0);
    },
  );

  test('of a server that does not let go does not keep the program', { timeout: 120_000 }, async () => {
    const mark = newMark();
    const began = performance.now();
    const { code, stdout } = await home.run(['call', line('ignores-every-signal', mark), 'work', '--timeout', '20']);
    expect([code, stdout]).toEqual([0, 'done\n']);
    expect(performance.now() - began).toBeLessThan(20_000 + slackMs);
    await until(() => servers(mark).length === 0);
  });
});
