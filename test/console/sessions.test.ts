// Sessions in the console: what is open in each, and ending one.

import { afterEach, expect, test } from 'vitest';
import type { SessionRow } from '../../src/console/api.ts';
import { createConsole } from '../../src/console/index.ts';
import { createServer } from '../../src/index.ts';
import { serveWires, type WireKind } from '../support/wires.ts';
import { ConsoleClient } from './console-client.ts';

const closing: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of closing.splice(0).reverse()) await each.close();
});

async function start(operate: boolean) {
  const server = createServer({ name: 'port', version: '1.0.0', logger: false });
  server.tool('echo', { run: () => 'hello' });
  const page = createConsole(server, { operate, keep: true });
  closing.push(page);
  const wires = await serveWires(server);
  closing.push(wires);
  const { link } = await page.listen();
  const client = new ConsoleClient(link);
  const sessions = async (): Promise<readonly SessionRow[]> =>
    (await client.get<{ sessions: SessionRow[] }>('sessions')).sessions;
  return { wires, client, sessions };
}

test.each(['http', 'sse', 'websocket'] satisfies WireKind[])(
  'a session on %s is ended, and its client with it',
  async (kind) => {
    const { wires, client, sessions } = await start(true);
    const wire = await wires.connect(kind);
    await wire.request('tools/list');
    const other = await wires.connect(kind);
    await other.request('tools/list');
    const rows = await sessions();
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({ transport: kind, canEnd: true });
    if (kind !== 'http') expect(rows[0]?.streams).toBe(1);
    await client.post('operate/end-session', { id: String(rows[0]?.peer) });
    expect((await sessions()).map(({ peer }) => peer)).toEqual([rows[1]?.peer]);
    const after = await Promise.race([
      wire.request('tools/list').then(
        ({ result }) => (result === undefined ? 'rejected' : 'served'),
        () => 'rejected',
      ),
      new Promise((resolve) => setTimeout(() => resolve('no answer'), 1_000)),
    ]);
    expect(after).not.toBe('served');
    expect((await other.request('tools/list')).result.tools).toHaveLength(1);
    await expect(client.post('operate/end-session', { id: String(rows[0]?.peer) })).rejects.toThrow(/^Error: 404|404/);
  },
);

test('an open stream of an HTTP session is counted', async () => {
  const { wires, sessions } = await start(false);
  const wire = await wires.connect('http');
  await wire.request('tools/list');
  await expect.poll(async () => (await sessions())[0]?.streams).toBe(1);
});

test('a connection on stdio ends with its client only, and ending needs the right to operate', async () => {
  const { wires, client, sessions } = await start(true);
  const wire = await wires.connect('stdio');
  await wire.request('tools/list');
  const [row] = await sessions();
  expect(row).toMatchObject({ transport: 'stdio', canEnd: false, streams: 1 });
  await expect(client.post('operate/end-session', { id: String(row?.peer) })).rejects.toThrow('404');
  const { client: viewer } = await start(false);
  await expect(viewer.post('operate/end-session', { id: '1' })).rejects.toThrow('403');
});
