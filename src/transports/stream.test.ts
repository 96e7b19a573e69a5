import { PassThrough, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FakeHost } from '../../test/support/fake-host.ts';
import { type StreamOptions, serveStream } from './stream.ts';

/** Gathers what is written; takes it only while `reading`. */
class Reader extends Writable {
  text = '';
  reading = true;
  #wake: (() => void) | undefined;

  constructor() {
    super({ decodeStrings: false });
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.text += chunk;
    if (this.reading) done();
    else this.#wake = done;
  }

  readOn(): void {
    this.reading = true;
    this.#wake?.();
  }

  get messages(): { id?: unknown; result?: unknown; error?: { code: number; message: string } }[] {
    return this.text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }
}

function serve(options: StreamOptions = {}, host = new FakeHost()) {
  const input = new PassThrough();
  const output = new Reader();
  const server = serveStream(host, input, output, { transport: 'stdio' }, options);
  return { host, input, output, server, channel: host.channels[0]! };
}

const request = (id: number, method: string, params?: object): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

test('each line becomes a message and each response a line, responses of one turn in one write', async () => {
  const { input, output, channel } = serve();
  let writes = 0;
  output._write = (chunk, _encoding, done) => {
    writes++;
    output.text += chunk;
    done();
  };
  input.write(Array.from({ length: 256 }, (_, id) => request(id, 'echo', { a: 'ż' })).join(''));
  await nextTurn();
  await nextTurn();
  expect(output.messages.map(({ id }) => id)).toEqual(Array.from({ length: 256 }, (_, id) => id));
  expect(writes).toBe(1);
  expect(channel.peer.transport).toBe('stdio');
});

test('S0-58: a line beyond the limit is answered with its id, and the connection continues', async () => {
  const { input, output } = serve({ maxMessageBytes: 1000 });
  input.write(request(1, 'echo', { text: 'x'.repeat(5000) }));
  input.write(request(2, 'echo'));
  await nextTurn();
  await nextTurn();
  expect(output.messages).toEqual([
    { jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'Message exceeds 1000 bytes' } },
    { jsonrpc: '2.0', id: 2, result: {} },
  ]);
});

test('S0-3: a line that is not UTF-8 is a parse error, and the connection continues', async () => {
  const { input, output } = serve();
  input.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]));
  input.write(request(2, 'echo'));
  await nextTurn();
  await nextTurn();
  expect(output.messages[0]).toMatchObject({ id: null, error: { code: -32700 } });
  expect(output.messages[1]).toMatchObject({ id: 2 });
});

test('a response of the client that is too large fails its request, and nothing is sent back', async () => {
  const { input, output, channel } = serve({ maxMessageBytes: 100 });
  input.write(`{"jsonrpc":"2.0","id":4,"result":"${'x'.repeat(200)}"}\n`);
  await nextTurn();
  await nextTurn();
  expect(channel.parsed).toEqual([
    { jsonrpc: '2.0', id: 4, error: { code: -32600, message: 'Message exceeds 100 bytes' } },
  ]);
  expect(output.text).toBe('');
});

test('a peer that does not read is not read from, so its unread responses stay within limits', async () => {
  const { input, output, channel } = serve({ pauseBytes: 10_000 });
  output.reading = false;
  // All in one chunk: stopping between chunks would be too late.
  input.write(Array.from({ length: 500 }, (_, id) => request(id, 'big', { length: 100_000 })).join(''));
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(channel.texts.length).toBeLessThan(5);
  expect(output.writableLength).toBeLessThan(400_000);
  output.readOn();
  for (let turn = 0; turn < 2000 && channel.texts.length < 500; turn++) await nextTurn();
  await nextTurn();
  expect(output.messages.map(({ id }) => id)).toEqual(Array.from({ length: 500 }, (_, id) => id));
});

test('messages without a request are not sent while too much is unread', async () => {
  const { input, output, channel } = serve({ pauseBytes: 1000, maxBacklogBytes: 100_000 });
  output.reading = false;
  input.write(request(1, 'push', { count: 50, length: 10_000 }));
  await nextTurn();
  await nextTurn();
  expect(channel.pushed.filter(Boolean).length).toBeLessThan(12);
  expect(channel.pushed.at(-1)).toBe(false);
  output.readOn();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(output.messages.at(-1)).toMatchObject({ id: 1, result: 'pushed' });
});

test('responses of calls that run while the client does not read are buffered up to a limit, then replaced by errors', async () => {
  const text = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, result: 'x'.repeat(200_000) });
  const open: (() => void)[] = [];
  const host = new FakeHost(({ id, method }, outlet) => {
    if (method === 'small') return false;
    open.push(() => outlet.end(text(id as number)));
    return true;
  });
  const { input, output } = serve({ maxUnreadBytes: 1_000_000 }, host);
  output.reading = false;
  input.write(Array.from({ length: 50 }, (_, id) => request(id, 'big')).join(''));
  await nextTurn();
  for (const answer of open) answer();
  await nextTurn();
  expect(output.writableLength).toBeLessThan(1_500_000);
  output.readOn();
  for (let turn = 0; turn < 200 && output.messages.length < 50; turn++) await nextTurn();
  expect(output.messages.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, id) => id));
  expect(output.messages.filter((each) => 'result' in each).length).toBeGreaterThanOrEqual(5);
  expect(output.messages.at(-1)).toMatchObject({ id: 49, error: { code: -32603 } });
});

test('S0-45: the end of the input lets open calls finish, answers the last line without a newline, and closes', async () => {
  const { input, output, server } = serve();
  input.end(`${request(1, 'later', { ms: 20 })}${request(2, 'echo').trimEnd()}`);
  expect(await server.closed).toBe('end-of-input');
  expect(output.messages.map(({ id }) => id)).toEqual([2, 1]);
});

test('a call that does not finish within the grace period does not delay the end', async () => {
  const { input, server } = serve({ graceMs: 10 });
  input.end(request(1, 'never'));
  expect(await server.closed).toBe('end-of-input');
});

test('a peer that stopped reading does not delay the end', async () => {
  const { input, output, server } = serve({ graceMs: 10 });
  output.reading = false;
  input.end(request(1, 'big', { length: 100_000 }));
  expect(await server.closed).toBe('end-of-input');
});

test('a shortened grace period aborts open calls', async () => {
  const { input, server, channel } = serve({ graceMs: 60_000 });
  input.end(request(1, 'never'));
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  server.shortenGrace(1);
  expect(await server.closed).toBe('end-of-input');
  expect(channel.closed).toBe(true);
});

test('stop ends reading, lets open calls finish and closes', async () => {
  const { input, output, server, channel } = serve();
  input.write(request(1, 'later', { ms: 20 }));
  await nextTurn();
  const stopped = server.stop();
  input.write(request(2, 'echo'));
  await stopped;
  expect(await server.closed).toBe('stopped');
  expect(output.messages.map(({ id }) => id)).toEqual([1]);
  expect(channel.texts).toHaveLength(1);
});

test('a closed output aborts everything immediately', async () => {
  const { input, output, server, channel } = serve();
  input.write(request(1, 'never'));
  await nextTurn();
  output.destroy(new Error('EPIPE'));
  expect(await server.closed).toBe('output-closed');
  expect(channel.closed).toBe(true);
  expect(channel.outlet.push('{}')).toBe(false);
});

test('a message that the host fails on is answered with an error, and the next is served', async () => {
  const host = new FakeHost(({ method }) => {
    if (method === 'bad') throw new Error('a bug');
    return false;
  });
  const { input, output } = serve({}, host);
  input.write(request(1, 'bad') + request(2, 'echo'));
  await nextTurn();
  await nextTurn();
  expect(output.messages.map(({ id }) => id)).toEqual([1, 2]);
});
