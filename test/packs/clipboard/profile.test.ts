// Profile `clipboard`: what the document says about messages, tools and errors, on a clipboard in memory.

import { expect, test, vi } from 'vitest';
import { createClipboardServer } from '../../../src/app/profiles/clipboard.ts';
import { silentLogger } from '../../../src/common/logger.ts';
import { type ClipboardBackend, ClipboardError, type ClipboardOptions } from '../../../src/packs/clipboard/index.ts';
import { memoryBackend } from '../../../src/packs/clipboard/memory.ts';
import { type Message, TestClient } from '../../support/test-client.ts';

const limit = 1_048_576;
const start = (options: ClipboardOptions = {}): TestClient =>
  new TestClient(createClipboardServer(silentLogger, { backend: memoryBackend(), ...options }));

async function ready(options: ClipboardOptions = {}): Promise<TestClient> {
  const client = start(options);
  await client.request('initialize', {});
  return client;
}

const text = ({ result }: Message): string => result.content[0].text;

/** A clipboard that fails in a given way. */
const failing = (error: () => unknown): ClipboardBackend => ({
  name: 'failing',
  read: () => Promise.reject(error()),
  write: () => Promise.reject(error()),
});

test('S0-1 S0-4: initialize answers exactly as the document shows', async () => {
  const { result } = await start().request(
    'initialize',
    {
      protocolVersion: '2024-11-05',
      clientInfo: { name: 'example-client', version: '1.0.0' },
      capabilities: {},
    },
    1,
  );
  expect(result).toEqual({
    protocolVersion: '2024-11-05',
    serverInfo: { name: 'mcp-clipboardify', version: '1.0.0' },
    capabilities: { tools: {} },
  });
});

test('S0-5: any version is accepted and the answer is always 2024-11-05', async () => {
  for (const protocolVersion of ['2025-11-25', '2026-07-28', '1.0', 'nonsense', '']) {
    expect((await start().request('initialize', { protocolVersion })).result.protocolVersion).toBe('2024-11-05');
  }
});

test('S0-6 S0-7: protocolVersion, clientInfo and capabilities may be left out', async () => {
  for (const params of [
    {},
    { protocolVersion: '2024-11-05' },
    { clientInfo: { name: 'x', version: '1' } },
    { capabilities: {} },
  ]) {
    expect((await start().request('initialize', params)).result.protocolVersion).toBe('2024-11-05');
  }
  expect((await start().request('initialize')).result.protocolVersion).toBe('2024-11-05');
});

test('S0-8: ids come back with the type they had', async () => {
  const client = start();
  expect((await client.request('initialize', {}, 'test-id')).id).toBe('test-id');
  for (const id of [0, -3, 7, '7', 'ünïcode']) expect((await client.request('ping', {}, id)).id).toBe(id);
});

test('S0-9 S0-10 S0-11 S0-12 S0-13: tools/list shows the two tools in order, with these fields and no others', async () => {
  const client = await ready();
  for (const params of [{}, undefined]) {
    const { result } = await client.request('tools/list', params);
    expect(result).toEqual({
      tools: [
        {
          name: 'get_clipboard',
          description: 'Get the current text content from the system clipboard',
          inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false },
        },
        {
          name: 'set_clipboard',
          description: 'Set the system clipboard to the provided text content',
          inputSchema: {
            type: 'object',
            properties: {
              text: {
                type: 'string',
                description: 'The text content to copy to the clipboard',
                maxLength: limit,
              },
            },
            required: ['text'],
            additionalProperties: false,
          },
        },
      ],
    });
  }
});

test('S0-14 S0-15: get_clipboard returns one text block, with arguments {} and without any', async () => {
  const client = await ready({ backend: memoryBackend('Hello, World!') });
  for (const args of [{}, undefined]) {
    expect((await client.call('get_clipboard', args)).result).toEqual({
      content: [{ type: 'text', text: 'Hello, World!' }],
    });
  }
});

test('S0-16: an empty clipboard is an empty text', async () => {
  expect((await (await ready()).call('get_clipboard', {})).result).toEqual({ content: [{ type: 'text', text: '' }] });
});

test('S0-17 S0-18 S0-19 S0-20 S0-26: what is set is what is read', async () => {
  const client = await ready();
  for (const each of [
    'Hello, World! 🌍',
    'Hello 世界 🌍 emoji test ñ',
    'A'.repeat(1000),
    'one\ntwo\r\nthree\rfour\n',
    '  spaces \t',
    '\u0000 NUL',
    '',
  ]) {
    expect((await client.call('set_clipboard', { text: each })).result).toEqual({
      content: [{ type: 'text', text: 'Text copied to clipboard' }],
    });
    expect(text(await client.call('get_clipboard', {}))).toBe(each);
  }
});

test('S0-21: a text of exactly the limit is accepted, counted in code points', async () => {
  const client = await ready();
  for (const each of ['x'.repeat(limit), '🌍'.repeat(limit)]) {
    expect(text(await client.call('set_clipboard', { text: each }))).toBe('Text copied to clipboard');
    expect(text(await client.call('get_clipboard')) === each).toBe(true);
  }
});

test('S0-22: one character more is rejected before anything happens', async () => {
  const client = await ready({ backend: memoryBackend('untouched') });
  for (const each of ['x'.repeat(limit + 1), '🌍'.repeat(limit + 1)]) {
    expect((await client.call('set_clipboard', { text: each })).error).toEqual({
      code: -32602,
      message: 'Invalid params',
      data: { details: 'Text content exceeds maximum size of 1048576 characters' },
    });
  }
  expect(text(await client.call('get_clipboard'))).toBe('untouched');
});

test('S0-23: a missing text is named', async () => {
  const client = await ready();
  for (const args of [{}, undefined]) {
    expect((await client.call('set_clipboard', args)).error).toEqual({
      code: -32602,
      message: 'Invalid params',
      data: { details: "set_clipboard requires 'text' parameter" },
    });
  }
});

test('S0-24 S0-25 S0-34: wrong types and additional properties are rejected with details', async () => {
  const client = await ready({ backend: memoryBackend('untouched') });
  for (const [tool, args] of [
    ['set_clipboard', { text: 5 }],
    ['set_clipboard', { text: null }],
    ['set_clipboard', { text: ['a'] }],
    ['set_clipboard', { text: 'a', format: 'html' }],
    ['get_clipboard', { text: 'a' }],
  ] as const) {
    const { error } = await client.call(tool, args);
    expect(error).toMatchObject({
      code: -32602,
      message: 'Invalid params',
      data: { details: expect.stringMatching(/\S/) },
    });
  }
  expect(text(await client.call('get_clipboard'))).toBe('untouched');
});

test('a text with half a surrogate pair is rejected, since no clipboard can hold it', async () => {
  const { error } = await (await ready()).call('set_clipboard', { text: 'a\ud800b' });
  expect(error).toMatchObject({ code: -32602, data: { details: 'Text content is not valid Unicode' } });
});

test('S0-27: an unknown tool is an unknown method', async () => {
  expect((await (await ready()).call('invalid_tool', {})).error).toEqual({
    code: -32601,
    message: 'Method not found',
    data: { details: 'Unknown tool: invalid_tool' },
  });
});

test('S0-28: an unknown method', async () => {
  const { error } = await (await ready()).request('clipboard/clear', {});
  expect(error).toMatchObject({ code: -32601, message: 'Method not found' });
});

test('S0-29: a clipboard that fails is a clipboard error with its reason', async () => {
  const client = await ready({ backend: failing(() => new ClipboardError('No display environment available')) });
  for (const call of [client.call('get_clipboard'), client.call('set_clipboard', { text: 'x' })]) {
    expect((await call).error).toEqual({
      code: -32001,
      message: 'Clipboard error',
      data: { details: 'Failed to access system clipboard: No display environment available' },
    });
  }
});

test('S0-30 S0-31: what is not a message is answered, and the server continues', async () => {
  const client = await ready();
  client.channel.receiveText('{"jsonrpc": "2.0", "id": 1, "method": ');
  expect((await client.next((each) => each.error?.code === -32700)).error).toMatchObject({
    message: 'Parse error',
  });
  expect(client.received.at(-1)?.id).toBeNull();
  for (const wrong of ['"text"', '5', 'null', '{"id":1,"method":"ping"}', '{"jsonrpc":"2.0","id":2}']) {
    client.received.length = 0;
    client.channel.receiveText(wrong);
    const { error } = await client.next((each) => each.error !== undefined);
    expect(error).toMatchObject({ code: -32600, message: 'Invalid Request' });
  }
  expect((await client.request('ping')).result).toEqual({});
});

test('S0-32 S0-33: each kind of failure has its code', async () => {
  const kinds: [() => unknown, number, string][] = [
    [() => new RangeError('bad value'), -32602, 'Invalid params'],
    [() => new ClipboardError('locked'), -32001, 'Clipboard error'],
    [() => new Error('the tool broke'), -32000, 'Server error'],
    [() => new TypeError('undefined is not a function'), -32603, 'Internal error'],
    [() => 'thrown text', -32603, 'Internal error'],
  ];
  for (const [error, code, message] of kinds) {
    const client = await ready({ backend: failing(error) });
    const answer = await client.call('get_clipboard');
    expect(answer.error).toMatchObject({ code, message, data: { details: expect.any(String) } });
    expect(JSON.stringify(answer)).not.toContain('undefined is not');
  }
});

test('S0-35 S0-36 S0-37 S0-40: a batch is answered by one array in order, one failure and all effects included', async () => {
  const lines: string[] = [];
  const server = createClipboardServer(silentLogger, { backend: memoryBackend('Previous clipboard content') });
  const raw = server.connect(
    { transport: 'memory' },
    {
      duplex: true,
      push: (line) => lines.push(line) > 0,
      end: (line) => void (line !== undefined && lines.push(line)),
    },
  );
  raw.receiveText('{"jsonrpc":"2.0","id":0,"method":"initialize"}');
  lines.length = 0;
  const batch = [
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_clipboard', arguments: {} } },
    {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'set_clipboard', arguments: { text: 'Batch operation result' } },
    },
    { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'missing' } },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'get_clipboard' } },
  ];
  raw.receiveText(JSON.stringify(batch));
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  expect(JSON.parse(lines[0] as string)).toEqual([
    { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'Previous clipboard content' }] } },
    { jsonrpc: '2.0', id: 2, result: { content: [{ type: 'text', text: 'Text copied to clipboard' }] } },
    {
      jsonrpc: '2.0',
      id: 3,
      error: { code: -32601, message: 'Method not found', data: { details: 'Unknown tool: missing' } },
    },
    { jsonrpc: '2.0', id: 4, result: { content: [{ type: 'text', text: 'Batch operation result' }] } },
  ]);
});

test('S0-38: an empty batch is one error, not an array', async () => {
  const lines: string[] = [];
  const server = createClipboardServer(silentLogger, { backend: memoryBackend() });
  const raw = server.connect(
    { transport: 'memory' },
    { duplex: true, push: () => true, end: (line) => void lines.push(line ?? '') },
  );
  raw.receiveText('{"jsonrpc":"2.0","id":0,"method":"initialize"}');
  raw.receiveText('[]');
  expect(JSON.parse(lines[1] as string)).toMatchObject({
    id: null,
    error: { code: -32600, message: 'Invalid Request' },
  });
});

test('S0-39 S0-41: notifications are never answered, in a batch or not', async () => {
  const client = await ready();
  client.received.length = 0;
  client.notify('notifications/initialized');
  client.notify('notifications/unknown', { a: 1 });
  client.send([
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'unknown' },
  ]);
  await client.request('ping', {}, 'p');
  expect(client.received.map((each) => each.id)).toEqual(['p']);
});

test('S0-42: everything works without notifications/initialized', async () => {
  const client = start();
  await client.request('initialize', { protocolVersion: '2024-11-05' });
  await client.call('set_clipboard', { text: 'test content' });
  expect(text(await client.call('get_clipboard', {}))).toBe('test content');
});

test('S0-48: an operation that takes too long is an error, and the server continues', async () => {
  let aborted = false;
  const backend: ClipboardBackend = {
    name: 'hanging',
    read: (signal) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          aborted = true;
          reject(signal.reason);
        }),
      ),
    write: async () => {},
  };
  const client = await ready({ backend, timeoutMs: 60 });
  expect((await client.call('get_clipboard')).error).toMatchObject({
    code: -32001,
    message: 'Clipboard error',
    data: { details: 'Failed to access system clipboard: get_clipboard timed out' },
  });
  expect(aborted).toBe(true);
  expect(text(await client.call('set_clipboard', { text: 'x' }))).toBe('Text copied to clipboard');
});

test('S0-48: the limit is five seconds unless it is set', async () => {
  const server = createClipboardServer(silentLogger, { backend: memoryBackend() });
  for (const name of ['get_clipboard', 'set_clipboard']) {
    expect(server.catalog.tools.get(name)?.definition.timeoutMs).toBe(5_000);
  }
});

test('S0-49: requests run one at a time, in the order they came', async () => {
  const steps: string[] = [];
  const backend: ClipboardBackend = {
    name: 'slow',
    read: async () => 'x',
    async write(each) {
      steps.push(`begin ${each}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      steps.push(`end ${each}`);
    },
  };
  const client = await ready({ backend });
  await Promise.all(['a', 'b', 'c'].map((each) => client.call('set_clipboard', { text: each })));
  expect(steps).toEqual(['begin a', 'end a', 'begin b', 'end b', 'begin c', 'end c']);
});

test('S0-51: there is nothing here but the clipboard', async () => {
  const client = await ready();
  for (const method of [
    'resources/list',
    'prompts/list',
    'resources/read',
    'completion/complete',
    'logging/setLevel',
  ]) {
    expect((await client.request(method, { uri: 'file:///etc/passwd' })).error?.code).toBe(-32601);
  }
});

test('S0-57: tools/call without a name is rejected', async () => {
  const client = await ready();
  for (const params of [{}, undefined, { arguments: {} }, { name: 5 }]) {
    expect((await client.request('tools/call', params)).error).toMatchObject({
      code: -32602,
      message: 'Invalid params',
    });
  }
});

test('S0-58: a clipboard that holds more than the limit is rejected, not read in full', async () => {
  const asked: number[] = [];
  const backend: ClipboardBackend = {
    name: 'huge',
    async read(_signal, maxBytes) {
      asked.push(maxBytes);
      return 'x'.repeat(limit + 1);
    },
    write: async () => {},
  };
  const { error } = await (await ready({ backend })).call('get_clipboard');
  expect(error).toMatchObject({
    code: -32001,
    data: { details: expect.stringContaining('more than 1048576 characters') },
  });
  expect(asked).toEqual([limit * 4]);
});

test('the stateless revision is served beside it by the official rules', async () => {
  const client = start({ backend: failing(() => new ClipboardError('locked')) });
  expect((await client.stateless('tools/list')).result.tools).toHaveLength(2);
  const { result } = await client.stateless('tools/call', { name: 'get_clipboard' });
  expect(result.isError).toBe(true);
  expect(result.content[0].text).toBe('Failed to access system clipboard: locked');
  expect((await client.stateless('tools/call', { name: 'missing' })).error?.code).toBe(-32602);
});
