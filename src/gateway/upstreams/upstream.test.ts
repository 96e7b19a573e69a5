import { expect, test } from 'vitest';
import { inMemory } from '../../client/index.ts';
import { createServer } from '../../engine/server.ts';
import { gatewayConfig } from '../config/decode-gateway.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import { absentCaller } from '../serving/request-caller.ts';
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
