import { expect, test, vi } from 'vitest';
import { connect } from '../connect.ts';
import { ClientError } from '../errors.ts';
import { ScriptedServer, scriptError } from '../testing/scripted-server.ts';

const text = (words: string) => ({ content: [{ type: 'text', text: words }] });
const retry = { baseDelayMs: 1, maxDelayMs: 5 };

/** A server whose connection breaks at the first requests of a method, and which answers the later ones. */
function fragile(method: string, breaks: number, answer: Record<string, unknown>, more = {}): ScriptedServer {
  let left = breaks;
  return new ScriptedServer('handshake', {
    [method]: (_message, self) => {
      if (left-- <= 0) return answer;
      self.break();
      return undefined;
    },
    ...more,
  });
}

test('a list is asked for again over a new connection', async () => {
  const states: string[] = [];
  const server = fragile('tools/list', 2, { tools: [] });
  const client = await connect(server.target, { retry, onState: (state) => states.push(state) });
  expect(await client.listTools()).toEqual([]);
  expect(server.connections).toBe(3);
  expect(states).toEqual(['lost', 'restored', 'lost', 'restored']);
});

test('it is not asked for without end', async () => {
  const server = fragile('tools/list', 100, {});
  const client = await connect(server.target, { retry });
  await expect(client.listTools()).rejects.toMatchObject({ code: 'connection-lost' });
  expect(server.of('tools/list')).toHaveLength(3);
});

test('a call is not repeated unless it is known to do no harm', async () => {
  const tools = {
    'tools/list': () => ({ tools: [{ name: 'look', inputSchema: {}, annotations: { readOnlyHint: true } }] }),
  };
  const server = fragile('tools/call', 1, text('ok'), tools);
  const client = await connect(server.target, { retry });
  await expect(client.callTool('change')).rejects.toMatchObject({ code: 'connection-lost' });
  const declared = fragile('tools/call', 1, text('ok'), tools);
  const second = await connect(declared.target, { retry });
  await second.listTools();
  expect(await second.callTool('look')).toEqual(text('ok'));
  const said = fragile('tools/call', 1, text('ok'));
  expect(await (await connect(said.target, { retry })).callTool('any', {}, { idempotent: true })).toEqual(text('ok'));
});

test('with retry switched off nothing is repeated, but the next call finds a new connection', async () => {
  const server = fragile('tools/list', 1, { tools: [] });
  const client = await connect(server.target, { retry: false });
  await expect(client.listTools()).rejects.toMatchObject({ code: 'connection-lost' });
  expect(await client.listTools()).toEqual([]);
});

test('a transport that cannot be made again stays lost', async () => {
  const server = fragile('tools/list', 1, { tools: [] });
  const client = await connect(server.target(), { retry });
  await expect(client.listTools()).rejects.toMatchObject({ code: 'connection-lost' });
  await expect(client.listTools()).rejects.toMatchObject({ code: 'connection-lost' });
});

test('calls that wait for a new connection share it', async () => {
  const server = new ScriptedServer('handshake', { 'tools/list': () => ({ tools: [] }), ping: () => ({}) });
  const client = await connect(server.target);
  server.break();
  await Promise.all([client.listTools(), client.ping(), client.listTools()]);
  expect(server.connections).toBe(2);
});

test('a connection opened again speaks as the first one did', async () => {
  const server = new ScriptedServer('handshake', { ping: () => ({}), 'logging/setLevel': () => ({}) });
  const client = await connect(server.target, { revision: '2025-03-26' });
  await client.setLogLevel('error');
  server.break();
  await client.ping();
  expect(client.revision).toBe('2025-03-26');
  await vi.waitFor(() => expect(server.of('logging/setLevel')).toHaveLength(2), 20_000);
});

test('a cancelled call tells the server, and a call cancelled before it began sends nothing', async () => {
  for (const era of ['handshake', 'stateless'] as const) {
    const server = new ScriptedServer(era, { 'tools/call': () => undefined });
    const client = await connect(server.target);
    const abort = new AbortController();
    const call = client.callTool('x', {}, { signal: abort.signal });
    await vi.waitFor(() => expect(server.of('tools/call')).toHaveLength(1), 20_000);
    abort.abort(new Error('enough'));
    const error = await call.catch((reason: unknown) => reason as ClientError);
    expect(error).toMatchObject({ code: 'cancelled', cause: { message: 'enough' } });
    await vi.waitFor(() => expect(server.of('notifications/cancelled')).toHaveLength(1), 20_000);
    expect(server.of('notifications/cancelled')[0]?.params).toMatchObject({
      requestId: server.of('tools/call')[0]?.id,
    });
    await expect(client.callTool('x', {}, { signal: abort.signal })).rejects.toMatchObject({ code: 'cancelled' });
    expect(server.of('tools/call')).toHaveLength(1);
  }
});

test('a time limit tells the server too, and says how long it was', async () => {
  const server = new ScriptedServer('handshake', { 'tools/call': () => undefined });
  const client = await connect(server.target);
  const error = await client.callTool('x', {}, { timeoutMs: 20 }).catch((reason: unknown) => reason as ClientError);
  expect(error).toMatchObject({ code: 'timeout', message: 'No response to tools/call within 20 ms' });
  await vi.waitFor(() => expect(server.of('notifications/cancelled')).toHaveLength(1), 20_000);
});

test('what the server rejects is told with its words, code and data', async () => {
  const server = new ScriptedServer('handshake', {
    'tools/call': () => scriptError(-32050, 'No more\u001b[31m tea', { cups: 0 }),
  });
  const error = (await (await connect(server.target)).callTool('x').catch((reason: unknown) => reason)) as ClientError;
  expect(error).toBeInstanceOf(ClientError);
  expect(error.serverError).toEqual({ code: -32050, message: 'No more\u001b[31m tea', data: { cups: 0 } });
  expect(error.message).toBe('The server rejected tools/call: No more [31m tea (-32050)');
});

test('closing ends calls that wait between two attempts, and those who connect again', async () => {
  const server = fragile('tools/list', 100, {});
  const client = await connect(server.target, { retry: { baseDelayMs: 60_000, maxDelayMs: 60_000 } });
  const waiting = client.listTools();
  await vi.waitFor(() => expect(server.of('tools/list')).toHaveLength(1), 20_000);
  await client.close();
  await expect(waiting).rejects.toMatchObject({ code: 'closed' });
});
