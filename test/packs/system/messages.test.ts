// Profile `system` through the wire: its handshake, its messages, its log, its prompt.

import { expect, test } from 'vitest';
import { useProfiles } from '../../support/profile.ts';
import { TestClient } from '../../support/test-client.ts';
import { noBus, old, open } from './session.ts';

useProfiles();

const hello = {
  protocolVersion: old,
  capabilities: { roots: { listChanged: true }, sampling: {} },
  clientInfo: { name: 'claude-desktop', version: '1.0.0' },
};

test('S4-2 S4-32 S4-58: initialize as the document shows it, and logging declared because it is offered', async () => {
  const { server } = await open();
  const client = new TestClient(server);
  expect(await client.request('initialize', hello, 1)).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: {
      protocolVersion: old,
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
      },
      serverInfo: { name: 'my-mcp-server', version: '1.0.0' },
    },
  });
});

test('S4-3 S4-4: initialized gets no response, ping gets an empty result', async () => {
  const { client } = await open();
  client.notify('notifications/initialized');
  expect(await client.request('ping', undefined, 9)).toEqual({ jsonrpc: '2.0', id: 9, result: {} });
});

test('S4-5 S4-40 S4-42: shorthand is not the wire; the JSON-RPC codes have their meanings', async () => {
  const { server, client } = await open();
  server.method('test/fault', () => {
    throw new Error('inside');
  });
  client.channel.receiveText('{"id":"s","method":"ping"}');
  expect((await client.next((each) => each.id === 's')).error?.code).toBe(-32600);
  client.channel.receiveText('{"method":');
  expect((await client.next((each) => each.error?.code === -32700)).error).toBeDefined();
  const unknown = await client.request('no/such', {}, 42);
  expect(unknown).toMatchObject({
    id: 42,
    error: { code: -32601, message: expect.stringMatching(/^Method not found/) },
  });
  expect((await client.request('tools/call', {})).error?.code).toBe(-32602);
  expect((await client.request('test/fault')).error?.code).toBe(-32603);
});

test('S4-41: errors of the server itself lie in their range', async () => {
  const { client } = await open({
    packs: { limits: { requests: 1, windowMs: 60_000 }, ...noBus },
  });
  await client.request('tools/list');
  const { error } = await client.request('tools/list');
  expect(error?.code).toBeLessThanOrEqual(-32000);
  expect(error?.code).toBeGreaterThanOrEqual(-32099);
});

test('S4-29 S4-30: levels of the document and of the official text are accepted, others rejected', async () => {
  const { client } = await open();
  for (const level of ['debug', 'info', 'warn', 'error', 'notice', 'warning', 'critical', 'alert', 'emergency']) {
    expect((await client.request('logging/setLevel', { level })).result, level).toEqual({});
  }
  expect((await client.request('logging/setLevel', { level: 'loud' })).error?.code).toBe(-32602);
});

test('S4-30 S4-31: messages below the level are not sent; data is a text or any JSON', async () => {
  const { server, client } = await open();
  server.tool('talk', {
    description: 'Talk',
    run: (_args, ctx) => {
      ctx.log('info', 'Indexed 127 services in 2.3s', 'dbus-indexer');
      ctx.log('warning', { free: 3 });
      ctx.log('error', 'too late');
      return 'done';
    },
  });
  const said = () =>
    client.received.filter((each) => each.method === 'notifications/message').map(({ params }) => params);
  await client.request('logging/setLevel', { level: 'warn' });
  await client.call('talk');
  expect(said()).toEqual([
    { level: 'warning', data: { free: 3 } },
    { level: 'error', data: 'too late' },
  ]);
  await client.request('logging/setLevel', { level: 'debug' });
  await client.call('talk');
  expect(said()[2]).toEqual({ level: 'info', logger: 'dbus-indexer', data: 'Indexed 127 services in 2.3s' });
});

test('S4-10 S4-11 S4-17: results may hold text, images and embedded resources, nested', async () => {
  const { server, client } = await open();
  const content = [
    { type: 'text', text: 'x' },
    { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'file:///x', mimeType: 'text/plain', text: 'y' } },
  ] as const;
  server.tool('show', { description: 'Show', run: () => content });
  expect((await client.call('show')).result).toEqual({ content });
});

test('S4-45: tools and prompts say what they are', async () => {
  const { client } = await open();
  const { tools } = (await client.request('tools/list')).result;
  const { prompts } = (await client.request('prompts/list')).result;
  for (const { name, description } of [...tools, ...prompts]) expect(description, name).toMatch(/\w{4,}/);
});

test('S4-20 S4-21: the prompt, as the document shows it', async () => {
  const { client } = await open();
  expect((await client.request('prompts/list')).result).toEqual({
    prompts: [
      {
        name: 'analyze_system',
        description: 'Analyze current system state',
        arguments: [{ name: 'focus', description: 'Area to focus on', required: false }],
      },
    ],
  });
  const params = { name: 'analyze_system', arguments: { focus: 'network' } };
  expect((await client.request('prompts/get', params)).result).toEqual({
    description: 'System analysis prompt',
    messages: [
      {
        role: 'user',
        content: { type: 'text', text: 'Analyze the network configuration and identify any issues.' },
      },
    ],
  });
  const plain = await client.request('prompts/get', { name: 'analyze_system' });
  expect(plain.result.messages[0].content.text).toBe('Analyze the current system state and identify any issues.');
});
