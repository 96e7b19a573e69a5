// The feed of a server: clients of every transport and both eras, what connects their messages, and what is hidden.

import { afterEach, expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import type { FeedEntry } from '../../src/console/api.ts';
import { createConsole } from '../../src/console/index.ts';
import { connectInMemory, createServer } from '../../src/index.ts';
import { serveWires, statelessKinds, wireKinds } from '../support/wires.ts';
import { ConsoleClient, type ConsoleFeed, line } from './console-client.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function watched() {
  const server = createServer({ name: 'watched', version: '2.0.0', logger: false });
  server.tool('echo', {
    input: { type: 'object', properties: { text: { type: 'string' }, code: { type: 'string', format: 'password' } } },
    run: ({ text }: { text?: string }) => text ?? '',
  });
  server.tool('ask', {
    run: async (_args, ctx) => {
      const answer = await ctx.elicit('Your name?', { type: 'object', properties: { name: { type: 'string' } } });
      return JSON.stringify(answer);
    },
  });
  server.tool('slow', {
    run: async (_args, ctx) => {
      await ctx.progress(1, 2);
      await ctx.progress(2, 2);
      return 'done';
    },
  });
  server.tool('fails', { run: () => ({ content: [{ type: 'text', text: 'no' }], isError: true }) });
  const console = createConsole(server);
  const { link } = await console.listen();
  const client = new ConsoleClient(link);
  const feed = await client.feed();
  open.push(console, feed);
  return { server, console, client, feed };
}

const responseTo = (feed: ConsoleFeed, request: FeedEntry) =>
  feed.until(({ entries }) => entries.find(({ requestEntry }) => requestEntry === request.number));

test('clients of every transport and both eras are told apart, with their messages in pairs', async () => {
  const { server, feed } = await watched();
  const wires = await serveWires(server);
  open.push(wires);
  for (const kind of wireKinds) {
    const wire = await wires.connect(kind);
    await wire.request('tools/call', { name: 'echo', arguments: { text: `session ${kind}` } });
    if (statelessKinds.includes(kind))
      await wire.stateless('tools/call', { name: 'echo', arguments: { text: `stateless ${kind}` } });
  }
  for (const kind of wireKinds) {
    const texts = [`session ${kind}`, ...(statelessKinds.includes(kind) ? [`stateless ${kind}`] : [])];
    for (const text of texts) {
      const request = await feed.until(({ entries }) =>
        entries.find((entry) => entry.kind === 'request' && entry.text?.includes(text)),
      );
      expect(line(request)).toBe('in request tools/call echo');
      const response = await responseTo(feed, request);
      expect(line(response)).toBe('out response tools/call echo ok');
      expect(response.text).toContain(text);
      expect(response.peer).toBe(request.peer);
      expect(response.durationMs).toBeGreaterThanOrEqual(0);
      const peer = feed.peers.get(request.peer);
      expect(peer?.transport).toBe(kind);
      expect(peer?.revision).toMatch(/^20\d\d-/);
      expect(peer?.client).toBeDefined();
    }
  }
});

test('requests of one HTTP session have one peer, whatever they are', async () => {
  const { server, feed, client } = await watched();
  const wires = await serveWires(server);
  open.push(wires);
  const wire = await wires.connect('http');
  await wire.request('ping');
  await wire.notify('notifications/roots/list_changed');
  await feed.until(({ entries }) => entries.find(({ method }) => method === 'notifications/roots/list_changed'));
  const peers = new Set(feed.entries.map(({ peer }) => peer));
  expect(peers.size).toBe(1);
  const { sessions } = await client.get<{ sessions: { key: string; transport: string; level: string }[] }>('sessions');
  expect(sessions).toMatchObject([{ transport: 'http', level: 'info', key: expect.stringMatching(/^.{8}$/) }]);
});

test.for(['handshake', '2026-07-28'])('%s: a call with an input request is one group', async (revision) => {
  const { server, feed } = await watched();
  const wires = await serveWires(server);
  open.push(wires);
  const peer = await connect(wires.http.url, {
    revision,
    headers: wires.headersOf('someone'),
    handlers: { elicit: () => ({ action: 'accept', content: { name: 'Ada' } }) },
  });
  open.push(peer);
  await peer.callTool('ask');
  const last = await feed.until(({ entries }) =>
    entries.find((entry) => entry.name === 'ask' && entry.kind === 'response' && entry.outcome === 'ok'),
  );
  const group = feed.entries.filter((entry) => entry.group === last.group).map(line);
  expect(group).toEqual(
    revision === 'handshake'
      ? [
          'in request tools/call ask',
          'out request elicitation/create',
          'in response elicitation/create ok',
          'out response tools/call ask ok',
        ]
      : [
          'in request tools/call ask',
          'out response tools/call ask input-required',
          'in request tools/call ask',
          'out response tools/call ask ok',
        ],
  );
  // What the user typed is not stored; the result of the tool is the tool's own business.
  const typed = feed.entries.filter((entry) => entry.direction === 'in' && entry.text?.includes('Ada'));
  expect(typed).toEqual([]);
});

test('progress, failures, rejections and cancellations are connected with their requests', async () => {
  const { server, feed } = await watched();
  const connection = connectInMemory(server);
  open.push(connection);
  const clientInfo = { name: 'probe', version: '9' };
  const send = (message: object | string): void => connection.send(message);
  send({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo },
  });
  await connection.receive();
  send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'slow', _meta: { progressToken: 'p' } } });
  send({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'fails' } });
  send({ jsonrpc: '2.0', id: 4, method: 'tools/unknown' });
  send({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'ask' } });
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } });
  send('{"broken":');
  await feed.until(({ entries }) => entries.some(({ kind }) => kind === 'invalid'));
  const request = (id: number) =>
    feed.entries.find((entry) => entry.id === id && entry.kind === 'request') as FeedEntry;
  const progress = await feed.until(({ entries }) => {
    const found = entries.filter(({ method }) => method === 'notifications/progress');
    return found.length === 2 && found;
  });
  expect(progress.map(({ group }) => group)).toEqual([request(2).group, request(2).group]);
  expect(await responseTo(feed, request(3))).toMatchObject({ outcome: 'failed' });
  expect(await responseTo(feed, request(4))).toMatchObject({ outcome: 'rejected', code: -32601 });
  expect(request(4).reason).toContain('Method not found');
  const cancelled = feed.entries.find(({ method }) => method === 'notifications/cancelled');
  expect(cancelled).toMatchObject({ requestEntry: request(5).number, outcome: 'cancelled', group: request(5).group });
  const invalid = feed.entries.find(({ kind }) => kind === 'invalid');
  expect(invalid).toMatchObject({ direction: 'in', text: '{"broken":' });
  expect(invalid?.reason).toBeDefined();
  expect(feed.peers.get(request(2).peer)).toMatchObject({
    client: 'probe 9',
    revision: '2025-11-25',
    transport: 'memory',
  });
});

test('secrets are not stored: by name, by shape, and by the schema of the tool', async () => {
  const { server, client, feed } = await watched();
  const connection = connectInMemory(server);
  open.push(connection);
  const secrets = ['hunter2', 'opensesame', 'sk-abcdefghijklmnop1234'];
  const args = { password: secrets[0], code: secrets[1], text: `key ${secrets[2]}` };
  connection.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'echo', arguments: args } });
  const entry = await feed.until(({ entries }) => entries.find(({ id }) => id === 7));
  // Names, and the reasons of rejections, which repeat them.
  const uri = `https://ada:${secrets[0]}@example.com/`;
  connection.send({ jsonrpc: '2.0', id: 8, method: 'resources/read', params: { uri } });
  connection.send({ jsonrpc: '2.0', id: 8, method: secrets[2] });
  await feed.until(({ entries }) => entries.find(({ id, direction }) => id === 8 && direction === 'out'));
  const exported = await fetch(`${client.base}export`, { headers: client.headers });
  const everything = `${JSON.stringify(feed.batches)}${await exported.text()}${JSON.stringify(await client.get(`entries/${entry.number}`))}`;
  expect(entry.text).toContain('[redacted]');
  for (const secret of secrets) expect(everything).not.toContain(secret);
});

test('long texts are left out of the feed, cut in the entry, and large integers keep their digits', async () => {
  const { server, client, feed } = await watched();
  server.method('exact', () => ({ big: 1 }));
  const connection = connectInMemory(server);
  open.push(connection);
  const text = 'long '.repeat(20_000);
  connection.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text } } });
  const entry = await feed.until(({ entries }) => entries.find(({ id, direction }) => id === 1 && direction === 'in'));
  expect(entry.text).toBeUndefined();
  expect(entry.bytes).toBeGreaterThan(100_000);
  const whole = await client.get<FeedEntry>(`entries/${entry.number}`);
  expect(whole.cut).toBe(true);
  expect(whole.text?.length).toBeLessThanOrEqual(64 * 1024);
});

test('the observer is attached while a page is open, and a call costs nothing more when it is not', async () => {
  const { server, console, feed } = await watched();
  feed.close();
  await console.close();
  // Every observer was removed: nothing is recorded, and no outlet is wrapped.
  const connection = connectInMemory(server);
  connection.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
  await connection.receive();
  expect(feed.entries).toEqual([]);
});

test('a burst of 20,000 calls is shown or counted as dropped, never lost silently', async () => {
  const { server, feed } = await watched();
  let received = 0;
  const connection = connectInMemory(server, { onText: () => received++ });
  open.push(connection);
  const calls = 20_000;
  for (let id = 1; id <= calls; id++) connection.send({ jsonrpc: '2.0', id, method: 'ping' });
  await feed.until(({ entries, dropped }) => entries.length + dropped === 2 * calls);
  expect(received).toBe(calls);
  const numbers = feed.entries.map(({ number }) => number);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  expect(feed.entries.at(-1)?.number).toBe(2 * calls);
});
