// A hundred clients with the same request ids and a secret each, on every transport at once: none may ever
// receive a byte that belongs to another: responses, progress, log messages and input requests.

import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createServer, type HttpServer, type Server, serveHttp } from '../../src/index.ts';
import { serveStream } from '../../src/transports/stream.ts';
import {
  both,
  EventReader,
  HttpTestClient,
  initializeBody,
  type Message,
  modernBody,
  modernHeaders,
} from '../support/http-client.ts';

const clients = 100;
const calls = 6;
let http: HttpServer;
let server: Server;
let shared: HttpTestClient;

beforeAll(async () => {
  server = createServer({ name: 'crosstalk', version: '1.0.0' });
  server.tool('tell', {
    description: 'Tells a secret in every way there is',
    input: { type: 'object', properties: { secret: { type: 'string' } }, required: ['secret'] },
    run: async ({ secret }: { secret: string }, ctx) => {
      const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 8));
      await pause();
      await ctx.progress(1, 2, `progress ${secret}`);
      ctx.log('error', `log ${secret}`);
      await pause();
      let answer: unknown;
      if (ctx.can('sampling')) {
        const { content } = await ctx.sample(
          { messages: [{ role: 'user', content: { type: 'text', text: `question ${secret}` } }], maxTokens: 9 },
          { key: 'q' },
        );
        answer = content;
      }
      await ctx.progress(2, 2, `progress ${secret}`);
      await pause();
      return JSON.stringify({ secret, answer });
    },
  });
  http = await serveHttp(server, { port: 0, graceMs: 100 });
  shared = new HttpTestClient(http.port);
});
afterAll(async () => {
  shared.close();
  await http.close();
});

/** One client: it says what it is told and keeps every byte it gets. */
interface Party {
  /** Runs one call to its end; ids and tokens are the same for all. */
  call(id: number): Promise<void>;
  close(): void;
}
interface Ears {
  readonly secret: string;
  heard: string;
}

const capabilities = { sampling: {} };
const meta = {
  'io.modelcontextprotocol/clientCapabilities': capabilities,
  'io.modelcontextprotocol/logLevel': 'debug',
};
const params = (secret: string) => ({ name: 'tell', arguments: { secret }, _meta: { progressToken: 1 } });
const reply = (secret: string) => ({
  role: 'assistant',
  model: 'm',
  content: { type: 'text', text: `answer ${secret}` },
});

/** A connection that carries messages both ways: answers questions and waits for the answer to its call. */
function pipe(ears: Ears, send: (message: object) => void, close: () => void) {
  const waiting = new Map<unknown, (message: Message) => void>();
  const receive = (text: string): void => {
    ears.heard += text;
    const message = JSON.parse(text) as Message;
    if (message.method === 'sampling/createMessage')
      send({ jsonrpc: '2.0', id: message.id, result: reply(ears.secret) });
    else if (message.id !== undefined && message.method === undefined) waiting.get(message.id)?.(message);
  };
  const request = (message: { id: unknown }): Promise<Message> =>
    new Promise((resolve) => {
      waiting.set(message.id, resolve);
      send(message);
    });
  const party: Party = {
    close,
    call: async (id) => {
      await request({ jsonrpc: '2.0', id, method: 'tools/call', params: params(ears.secret) } as { id: unknown });
    },
  };
  return { receive, request, party };
}

async function stateless(ears: Ears): Promise<Party> {
  return {
    close() {},
    call: async (id) => {
      const body = (more: object) =>
        modernBody('tools/call', { ...params(ears.secret), ...more }, id, { ...meta, progressToken: 1 });
      const headers = modernHeaders('tools/call', { name: 'tell' });
      const asked = await shared.send({ body: body({}), headers });
      ears.heard += asked.text;
      const last = JSON.parse(asked.events.at(-1)?.data ?? '{}') as Message;
      const more = { requestState: last.result?.['requestState'], inputResponses: { q: reply(ears.secret) } };
      ears.heard += (await shared.send({ body: body(more), headers })).text;
    },
  };
}

async function session(ears: Ears): Promise<Party> {
  const id = await shared.initialize({ capabilities });
  const standing = new EventReader(
    await shared.open({ method: 'GET', headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': id } }),
  );
  standing.response.on('data', (chunk: string) => {
    ears.heard += chunk;
  });
  const headers = { Accept: both, 'Mcp-Session-Id': id };
  return {
    close: () => standing.cut(),
    call: async (requestId) => {
      const body = { jsonrpc: '2.0', id: requestId, method: 'tools/call', params: params(ears.secret) };
      const stream = new EventReader(await shared.open({ body, headers }));
      stream.response.on('data', (chunk: string) => {
        ears.heard += chunk;
      });
      let answered = false;
      for (let count = 1; !stream.ended; count++) {
        const question = (await stream.until(count)).find(({ method }) => method === 'sampling/createMessage');
        if (question === undefined || answered) continue;
        answered = true;
        await shared.send({ body: { jsonrpc: '2.0', id: question.id, result: reply(ears.secret) }, headers });
      }
    },
  };
}

async function webSocket(ears: Ears): Promise<Party> {
  const ws = new WebSocket(http.url.replace('http', 'ws'));
  await new Promise((resolve, reject) => ws.on('open', resolve).on('error', reject));
  const { receive, request, party } = pipe(
    ears,
    (message) => ws.send(JSON.stringify(message)),
    () => ws.close(),
  );
  ws.on('message', (data) => receive(String(data)));
  await request(initializeBody('2025-06-18', capabilities) as { id: unknown });
  return party;
}

async function twoEndpoints(ears: Ears): Promise<Party> {
  const stream = await shared.open({ method: 'GET', path: '/sse', headers: { Accept: 'text/event-stream' } });
  let path = '';
  let rest = '';
  const { receive, request, party } = pipe(
    ears,
    (message) => void shared.send({ path, body: message }),
    () => stream.destroy(),
  );
  await new Promise<void>((opened) => {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      rest += chunk;
      for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
        const data = /data: (.*)/.exec(rest.slice(0, end))?.[1] ?? '';
        rest = rest.slice(end + 2);
        if (path !== '') receive(data);
        else {
          path = data;
          opened();
        }
      }
    });
  });
  await request(initializeBody('2025-03-26', capabilities) as { id: unknown });
  return party;
}

async function lines(ears: Ears): Promise<Party> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  serveStream(server, input, output, { transport: 'stdio' });
  const { receive, request, party } = pipe(
    ears,
    (message) => input.write(`${JSON.stringify(message)}\n`),
    () => input.end(),
  );
  let rest = '';
  output.setEncoding('utf8').on('data', (chunk: string) => {
    rest += chunk;
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      receive(rest.slice(0, end));
      rest = rest.slice(end + 1);
    }
  });
  await request(initializeBody('2025-11-25', capabilities) as { id: unknown });
  return party;
}

test('no client receives what was meant for another', { timeout: 60_000 }, async () => {
  const kinds = [stateless, session, webSocket, twoEndpoints, lines];
  const everyone = Array.from(
    { length: clients },
    (_, n): Ears => ({ secret: `secret-${n}-${crypto.randomUUID()}`, heard: '' }),
  );
  const parties = await Promise.all(everyone.map((ears, n) => (kinds[n % kinds.length] as typeof stateless)(ears)));
  await Promise.all(
    parties.map(async (party) => {
      for (let id = 1; id <= calls; id++) await party.call(id);
    }),
  );
  for (const party of parties) party.close();

  const secrets = everyone.map(({ secret }) => secret);
  for (const { secret, heard } of everyone) {
    const told = new Set(heard.match(/secret-\d+-[0-9a-f-]{36}/g));
    expect([...told].filter((each) => each !== secret && secrets.includes(each))).toEqual([]);
    // Each call told its own secret: twice as progress, once in the log, in the question, in the answer and in its echo.
    for (const way of ['progress', 'log', 'question', 'answer']) expect(heard).toContain(`${way} ${secret}`);
    const answers = heard.split(`\\"secret\\":\\"${secret}\\"`).length - 1;
    expect(answers).toBe(calls);
  }
});
