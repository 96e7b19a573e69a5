// Servers that send requests of their own without end, or long ones: they do not fill the memory of the client.
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { type Client, type ConnectOptions, connect } from '../../../src/client/index.ts';
import { StdioTransport } from '../../../src/client/transports/stdio.ts';
import type { TransportListener } from '../../../src/client/transports/transport.ts';
import { useClosers } from '../../support/closers.ts';
import { startFaultyServer, type Visit } from './http-server.ts';
import { until } from './processes.ts';

const closers = useClosers(afterEach);
const script = fileURLToPath(new URL('./stdio-server.mjs', import.meta.url));
const done = { content: [{ text: 'done' }] };

async function open(target: string | string[], options: ConnectOptions = {}): Promise<Client> {
  const client = await connect(target, { revision: 'handshake', ...options });
  closers.push(() => client.close());
  return client;
}

test('long requests that are open together are rejected', async () => {
  let asked = 0;
  const sample = () => {
    asked++;
    return new Promise<never>(() => {});
  };
  const options = { handlers: { sample }, maxMessageBytes: 2_000_000 };
  const client = await open([process.execPath, script, 'long-questions'], options);
  expect(await client.callTool('work')).toMatchObject(done);
  expect(asked).toBe(3);
});

test('a request with a long id is not answered', async () => {
  const sent: string[] = [];
  const onMessage = (direction: string, text: string) => direction === 'out' && sent.push(text);
  const client = await open([process.execPath, script, 'long-ids'], { onMessage });
  expect(await client.callTool('work')).toMatchObject(done);
  expect(Math.max(...sent.map(({ length }) => length))).toBeLessThan(1_000);
});

test('responses to pings are not stored for a process that does not read', async () => {
  const megabyte = 1024 * 1024;
  const count = 'let n = 0; process.stdin.on("data", ({ length }) => { n += length; console.log(n); })';
  const server = `console.log('ready'); setTimeout(() => { ${count} }, 1_000);`;
  const transport = new StdioTransport('test', [process.execPath, '-e', server], {}, 1_000);
  closers.push(() => transport.close());
  let received = '';
  const receive = (text: string) => {
    received = text;
  };
  await transport.open({ receive } as TransportListener);
  await until(() => received === 'ready');
  for (let n = 0; n < 100; n++) transport.send({ text: 'x'.repeat(megabyte - 1), droppable: true });
  transport.send({ text: 'last' });
  // The process reads what was stored.
  await until(() => Number(received) % megabyte === 'last\n'.length);
  expect(Number(received)).toBeLessThan(70 * megabyte);
});

/** Sends thousands of pings during a call, and takes the responses only when the call has ended. */
test.each(['HTTP', 'HTTP+SSE'])(
  'few responses to pings are posted to a server that does not take them, over %s',
  async (how) => {
    const waiting: Visit['response'][] = [];
    let isTaking = false;
    let taken = 0;
    let stream: Visit['response'] | undefined;
    const pings = Array.from({ length: 2_000 }, (_, id) => `data: {"jsonrpc":"2.0","id":${id},"method":"ping"}\n\n`);
    const results: Record<string, object> = {
      initialize: { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 'x', version: '1' } },
      'tools/call': { content: [{ type: 'text', text: 'done' }] },
    };
    const server = await startFaultyServer(({ request, message: { id, method }, response, events }) => {
      const isStream = how === 'HTTP' ? method === 'tools/call' : request.method === 'GET';
      if (request.method === 'GET' && how === 'HTTP') response.writeHead(405).end();
      else if (request.url === '/mcp' && request.method === 'POST' && how !== 'HTTP') response.writeHead(405).end();
      else if (method === undefined && !isStream) {
        taken++;
        if (isTaking) response.writeHead(202).end();
        else waiting.push(response);
      } else {
        if (isStream) events('event: endpoint\ndata: /post\n\n');
        else if (how !== 'HTTP' || id === undefined) response.writeHead(202).end();
        if (isStream) stream = response;
        if (id === undefined || method === undefined) return true;
        const text = JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} });
        if (method === 'tools/call') stream?.write(pings.join(''));
        if (how === 'HTTP' && !isStream) response.setHeader('content-type', 'application/json').end(text);
        else setTimeout(() => stream?.write(`data: ${text}\n\n`), method === 'tools/call' ? 300 : 0);
      }
      return true;
    });
    closers.push(() => server.close());
    const client = await open(server.url);
    expect(await client.callTool('work')).toMatchObject(done);
    isTaking = true;
    for (const response of waiting) response.writeHead(202).end();
    await client.ping();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(300);
  },
);
