// Extensions that the gateway does not know: only at the address of the server that has them, as they are.

import { afterEach, describe, expect, test } from 'vitest';
import { createGateway } from '../../src/gateway/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { wireErrors } from '../../src/protocol/errors.ts';
import { useClosers } from '../support/closers.ts';
import { type Message, TestClient } from '../support/test-client.ts';
import { clientOf, gatewayConfig, gatewayOf, upstream } from './fixture.ts';
import { scriptedUpstream } from './scripted-upstream.ts';

const closers = useClosers(afterEach);
const id = 'com.example/tides';

function tidal() {
  const seen: unknown[] = [];
  const server = createServer({ name: 'tidal', version: '1.0.0', logger: false, extensions: { [id]: { level: 2 } } });
  server.tool('plain', { run: () => 'done' });
  server.method(`${id}/next`, ({ _meta, ...params }, ctx) => {
    seen.push({ params, extensions: ctx.clientCapabilities['extensions'] });
    ctx.notify(`notifications/${id}/turned`, { at: 'noon' });
    return { next: params['port'], _meta: { note: 'kept' } };
  });
  server.method(`${id}/fail`, () => {
    throw wireErrors.invalidParams('no such port');
  });
  server.setOtherMethods({
    request: (method) => {
      throw wireErrors.methodNotFound(method);
    },
    notified: (method, params) => void seen.push({ method, params }),
  });
  return { server, seen };
}

const pairs = ['2025-11-25', '2026-07-28'].flatMap((up) =>
  ['2025-11-25', '2026-07-28'].map((down) => [up, down] as const),
);

describe.each(pairs)('an upstream at %s with a client at %s', (up, down) => {
  async function open(of: (gateway: ReturnType<typeof gatewayOf>) => Server) {
    const { server, seen } = tidal();
    const gateway = gatewayOf(closers, { one: server }, { revision: up });
    const heard: unknown[] = [];
    // A server that is not known yet declares nothing of its own.
    await (await clientOf(closers, of(gateway))).listTools();
    const client = await clientOf(closers, of(gateway), {
      revision: down,
      capabilities: { extensions: { [id]: {} } },
      onNotification: (method, params) => heard.push({ method, params }),
    });
    return { client, seen, heard };
  }

  test('requests, results, errors and notifications pass at the address of the server', async () => {
    const { client, seen, heard } = await open((gateway) => gateway.single('one') as Server);
    expect(client.capabilities['extensions']).toMatchObject({ [id]: { level: 2 } });
    expect(await client.request(`${id}/next`, { port: 'Brest' })).toMatchObject({
      next: 'Brest',
      _meta: { note: 'kept' },
    });
    expect(seen[0]).toMatchObject({ params: { port: 'Brest' } });
    if (up === '2026-07-28') expect(seen[0]).toMatchObject({ extensions: { [id]: {} } });
    await expect.poll(() => heard).toEqual([{ method: `notifications/${id}/turned`, params: { at: 'noon' } }]);
    await expect(client.request(`${id}/fail`)).rejects.toMatchObject({ serverError: { code: -32602 } });
    await expect(client.request(`${id}/none`)).rejects.toMatchObject({ serverError: { code: -32601 } });
  });

  test('they do not exist in a view', async () => {
    const { client, seen } = await open((gateway) => gateway.server);
    expect(JSON.stringify(client.capabilities)).not.toContain(id);
    await expect(client.request(`${id}/next`, { port: 'Brest' })).rejects.toMatchObject({
      serverError: { code: -32601 },
    });
    expect(seen).toEqual([]);
  });
});

test('a notification of a session reaches the server', async () => {
  const { server, seen } = tidal();
  const gateway = gatewayOf(closers, { one: server }, { revision: '2025-11-25' });
  const single = gateway.single('one') as Server;
  const client = await clientOf(closers, single, { revision: '2025-11-25' });
  await client.callTool('plain');
  client.notify(`notifications/${id}/moved`, { to: 'Nantes' });
  await expect.poll(() => seen).toEqual([{ method: `notifications/${id}/moved`, params: { to: 'Nantes' } }]);
});

test('without extensions, other methods are not passed on', async () => {
  const server = createServer({ name: 'plain', version: '1.0.0', logger: false });
  server.tool('plain', { run: () => 'done' });
  server.method('com.example/hidden', () => ({}));
  const gateway = gatewayOf(closers, { one: server });
  const client = await clientOf(closers, gateway.single('one') as Server);
  await expect(client.request('com.example/hidden')).rejects.toMatchObject({ serverError: { code: -32601 } });
});

test('a caller from whom a policy hides something cannot use them', async () => {
  const { server, seen } = tidal();
  const gateway = gatewayOf(
    closers,
    { one: server },
    {},
    {
      prepareServer: (each) => void each.restrict((_kind, _key, principal) => principal?.id === 'ada'),
    },
  );
  const single = gateway.single('one') as Server;
  const request = async (who: string): Promise<Message> => {
    const client = await TestClient.open(single, '2025-11-25', {}, { transport: 'memory', principal: { id: who } });
    return client.request(`${id}/next`, { port: 'Brest' });
  };
  expect((await request('eve')).error?.code).toBe(-32601);
  expect(seen).toEqual([]);
  expect((await request('ada')).result).toMatchObject({ next: 'Brest' });
});

test('neither the state of tasks nor reserved members of notifications pass', async () => {
  const { target, called } = scriptedUpstream(() => {});
  const config = upstream('one', { revision: '2025-11-25' });
  const gateway = createGateway(gatewayConfig([config]), { logger: false, target: () => target });
  closers.push(() => gateway.close());
  const client = await TestClient.open(gateway.single('one') as Server, '2025-11-25');
  await client.request('tools/list');
  const call = client.call('work');
  await expect.poll(() => called()?.received.at(-1)?.method).toBe('tools/call');
  const status = { taskId: 't', status: 'working', statusMessage: 'of another caller' };
  called().send({ method: 'notifications/tasks/status', params: status });
  const _meta = { 'io.modelcontextprotocol/subscriptionId': 1, 'x/own': 2 };
  called().send({ method: `notifications/${id}/turned`, params: { at: 'noon', _meta } });
  const { params } = await client.next(({ method }) => method === `notifications/${id}/turned`);
  expect(params).toEqual({ at: 'noon', _meta: { 'x/own': 2 } });
  expect(JSON.stringify(client.received)).not.toContain('of another caller');
  called().send({ id: called().received.at(-1)?.id, result: { content: [] } });
  await call;
});
