// Long lists are cached as bytes, which must make no difference on the wire.

import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createServer, type Server } from '../../src/index.ts';
import { serveStream } from '../../src/transports/stream.ts';

type Response = { id: unknown; result: { tools: { name: string; description: string }[] } };

const describe = (n: number): string => `Größe ${n} ✓ 😀 ${'lang '.repeat(40)}`;

function longServer(): Server {
  const server = createServer({ name: 'long', version: '1' });
  for (let n = 0; n < 60; n++) server.tool(`tool${n}`, { description: describe(n), run: () => 'ok' });
  return server;
}

function connect(server: Server) {
  const input = new PassThrough();
  const output = new PassThrough();
  let text = '';
  output.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  serveStream(server, input, output, { transport: 'stdio' }, {});
  const responses = (): Response[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .filter(({ id }) => id !== undefined);
  const send = async (count: number, ...messages: object[]): Promise<Response[]> => {
    input.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
    await expect.poll(() => responses().length).toBe(count);
    return responses();
  };
  return { send, close: () => input.end() };
}

const hello = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
};
const greeted = { method: 'notifications/initialized' };
const list = (id: unknown) => ({ id, method: 'tools/list' });
const ping = (id: unknown) => ({ id, method: 'ping' });

test('a long list is complete for every request, in order with other responses, with any id', async () => {
  const { send, close } = connect(longServer());
  const responses = await send(7, hello, greeted, list(1), ping(2), list('id ü"\n'), ping(4), list(5), list('6'));
  expect(responses.map(({ id }) => id)).toEqual([0, 1, 2, 'id ü"\n', 4, 5, '6']);
  for (const at of [1, 3, 5, 6]) {
    const { tools } = (responses[at] as Response).result;
    expect(tools.map(({ description }) => description)).toEqual(Array.from({ length: 60 }, (_, n) => describe(n)));
  }
  close();
});

test('a changed list is sent, also if middleware changed it, and observers see every list', async () => {
  const server = longServer();
  const sent: string[] = [];
  const { send, close } = connect(server);
  await send(2, hello, greeted, list(1));
  server.tool('late', { description: 'new', run: () => 'ok' });
  const [, , third] = await send(3, list(2));
  expect(third?.result.tools.at(-1)?.name).toBe('late');

  const stop = server.observe({ sent: (text) => void sent.push(text) });
  await send(4, list(3));
  expect((JSON.parse(sent.at(-1) as string) as Response).result.tools).toHaveLength(61);
  stop();

  server.around((request, next) =>
    request.method === 'tools/list' ? String(next()).replaceAll('Größe', 'Grösse') : next(),
  );
  const fifth = (await send(5, list(4))).at(-1);
  expect(fifth?.result.tools[0]?.description).toContain('Grösse 0 ✓');
  close();
});
