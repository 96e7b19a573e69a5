// Recordings: what is exported can be opened again and shows the same.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { FeedEntry, PeerInfo } from '../../src/console/api.ts';
import { createConsole } from '../../src/console/index.ts';
import { openRecording } from '../../src/console/inspect/index.ts';
import { connectInMemory, createServer } from '../../src/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ConsoleClient } from './console-client.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function consoleWithTraffic() {
  const server = createServer({ name: 'recorded', version: '1.2.3', logger: false });
  server.tool('echo', { run: (args) => JSON.stringify(args) });
  const console = createConsole(server);
  const client = new ConsoleClient((await console.listen()).link);
  const feed = await client.feed();
  open.push(console, feed);
  for (const name of ['first', 'second']) {
    const connection = connectInMemory(server);
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name, version: '1' } };
    connection.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    await connection.receive();
    connection.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { name } } });
    connection.send('{broken');
    await connection.receive();
    await connection.receive();
    connection.close();
  }
  await feed.until(({ entries }) => entries.length === 12);
  const exported = await (await fetch(`${client.base}export`, { headers: client.headers })).text();
  return { client, feed, exported };
}

async function shown(link: string): Promise<{ entries: FeedEntry[]; peers: PeerInfo[] }> {
  const client = new ConsoleClient(link);
  const feed = await client.feed();
  open.push(feed);
  await feed.until(({ batches }) => batches.length > 0);
  return { entries: feed.entries, peers: [...feed.peers.values()] };
}

test('export, then open: the same messages, peers and pairs', async () => {
  const { feed, exported } = await consoleWithTraffic();
  const lines = exported
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each));
  expect(lines[0]).toMatchObject({ type: 'recording', version: 1, server: { name: 'recorded', version: '1.2.3' } });
  expect(lines.filter(({ type }) => type === 'message')).toHaveLength(12);
  const file = join(temporaryFolder(), 'traffic.ndjson');
  writeFileSync(file, exported);
  const console = openRecording(file, {});
  open.push(console);
  const { link } = await console.listen();
  const opened = await shown(link);
  expect(opened.entries).toEqual(feed.entries);
  expect(opened.peers).toEqual([...feed.peers.values()]);
  expect(await new ConsoleClient(link).get('state')).toMatchObject({
    mode: 'recording',
    server: { name: 'recorded', version: '1.2.3' },
    screens: ['overview', 'timeline', 'about'],
  });
  await expect(new ConsoleClient(link).post('calls', { method: 'tools/call', params: { name: 'x' } })).rejects.toThrow(
    '404',
  );
});

test('an import into a console with traffic is added after it, with its pairs', async () => {
  const { client, feed, exported } = await consoleWithTraffic();
  expect(await client.post('import', exported)).toEqual({ entries: 12 });
  await feed.until(({ entries }) => entries.length === 24);
  const added = feed.entries.slice(12);
  expect(added.map(({ number }) => number)).toEqual(Array.from({ length: 12 }, (_, index) => index + 13));
  for (const { requestEntry, method } of added) {
    if (requestEntry === undefined) continue;
    expect(feed.entries.find(({ number }) => number === requestEntry)?.method).toBe(method);
    expect(requestEntry).toBeGreaterThan(12);
  }
});

test('secrets in a recording are hidden when it is opened', async () => {
  const { client, feed } = await consoleWithTraffic();
  const text = JSON.stringify({ jsonrpc: '2.0', method: 'note', params: { password: 'hunter2' } });
  const entry = {
    type: 'message',
    number: 1,
    at: '',
    direction: 'in',
    side: 'client',
    peer: 1,
    kind: 'notification',
    bytes: 1,
    text,
  };
  await client.post('import', `${JSON.stringify({ type: 'recording', version: 1 })}\n${JSON.stringify(entry)}\n`);
  const added = await feed.until(({ entries }) => entries[12]);
  expect(added.text).toContain('[redacted]');
  expect(added.text).not.toContain('hunter2');
});

test.for([
  ['', 'Line 1'],
  ['{"type":"message"}', 'not a recording'],
  ['{"type":"recording","version":99}', 'version 99'],
  ['{"type":"recording","version":1}\nnot json', 'Line 2'],
  ['{"type":"recording","version":1}\n{"type":"message","number":1}', 'Line 2'],
  [
    '{"type":"recording","version":1}\n{"type":"message","number":-1,"peer":1,"direction":"in","side":"client","kind":"request"}',
    'Line 2',
  ],
])('a file that is not a recording is rejected: %s', async ([text, expected]) => {
  const console = createConsole(createServer({ name: 'x', version: '1', logger: false }));
  open.push(console);
  const client = new ConsoleClient((await console.listen()).link);
  await expect(client.post('import', text)).rejects.toThrow(expected);
});
