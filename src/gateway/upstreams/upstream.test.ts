import { expect, test } from 'vitest';
import { ClientError, inMemory } from '../../client/index.ts';
import { createServer } from '../../engine/server.ts';
import { gatewayConfig } from '../config/decode-gateway.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import { absentCaller } from '../serving/request-caller.ts';
import type { ConnectionCaller } from './contract.ts';
import { Upstream } from './upstream.ts';

test('a connection that is opened to cancel a task has the credentials of its caller', async () => {
  const { servers } = await gatewayConfig({
    mcpServers: { one: { url: 'https://one.example', mooring: { isolation: 'session' } } },
  });
  const owners: string[] = [];
  const upstream = new Upstream(
    servers[0] as UpstreamConfig,
    {
      client: { name: 'test', version: '1' },
      logger: undefined,
      target: () => inMemory(createServer({ name: 'one', version: '1', logger: false })),
      authorizer: (_, principalKey) => {
        owners.push(principalKey);
        return undefined;
      },
    },
    { listsChanged() {}, callerListsChanged() {}, resourceUpdated() {}, stateChanged() {} },
  );
  await upstream.cancelTask(absentCaller({ principal: { id: 'alice' }, session: undefined }), 'task-1');
  expect(owners).toEqual(['\u0000alice']);
  await upstream.close();
});

test('a server that does not respond to one caller is not unavailable for others', async () => {
  const auth = { kind: 'token-exchange', issuer: 'https://login.example', clientId: 'gateway', clientSecret: 's' };
  const { servers } = await gatewayConfig({
    mcpServers: { one: { url: 'https://one.example', mooring: { auth } } },
  });
  const upstream = new Upstream(
    servers[0] as UpstreamConfig,
    {
      client: { name: 'test', version: '1' },
      logger: undefined,
      target: () => inMemory(createServer({ name: 'one', version: '1', logger: false })),
      authorizer(_, principalKey) {
        if (principalKey.endsWith('eve')) throw new ClientError('connect-timeout', 'no response');
        return undefined;
      },
    },
    { listsChanged() {}, callerListsChanged() {}, resourceUpdated() {}, stateChanged() {} },
  );
  const [eve, dave] = ['eve', 'dave'].map((id) => absentCaller({ principal: { id }, session: undefined })) as [
    ConnectionCaller,
    ConnectionCaller,
  ];
  const failing = upstream.known(eve);
  await expect.poll(() => upstream.startFailureOf(eve)).toBeDefined();
  expect(upstream.startFailureOf(dave)).toBeUndefined();
  expect(upstream.status.state).not.toBe('down');
  expect(await upstream.known(dave)).toBeUndefined();
  expect(upstream.listsOf(dave)).toBeDefined();
  expect(upstream.startFailureOf(eve)).toBeDefined();
  await upstream.close();
  await failing;
});
