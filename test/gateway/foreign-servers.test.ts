// Servers of others behind the gateway, with clients of both eras: what works with the server itself works through it.
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { type Client, connect, inMemory } from '../../src/client/index.ts';
import { createGateway } from '../../src/gateway/index.ts';
import type { Server } from '../../src/index.ts';
import {
  allHandlers,
  demo,
  describeThirdParty,
  packaged,
  referenceOffer,
  referenceServer,
  type ThirdPartyServer,
} from '../client/third-party.ts';
import { useClosers } from '../support/closers.ts';
import { pairsOf } from '../support/full.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { gatewayConfig, upstream } from './fixture.ts';

const closers = useClosers(afterAll);
const script = (name: string): string => fileURLToPath(new URL(`../client/servers/${name}.mjs`, import.meta.url));

type Offer = Omit<ThirdPartyServer, 'revision' | 'transport' | 'serverName'>;

const sdk: Offer = { ...demo, structured: { call: ['add', { a: 1, b: 2 }], value: { sum: 3 } } };

const servers: readonly (readonly [title: string, args: readonly string[], offer: Offer])[] = [
  ['the reference server', [referenceServer, 'stdio'], referenceOffer],
  ['the old line of the SDK', [script('sdk-old'), 'stdio'], sdk],
  ['the new line of the SDK', [script('sdk-new'), 'stdio'], sdk],
  ['FastMCP', [script('fastmcp'), 'stdio'], demo],
];

for (const [[title, args, offer], revision] of pairsOf(servers, ['2025-11-25', '2026-07-28'])) {
  const open = () => {
    const entry = { command: process.execPath, args };
    const gateway = createGateway(gatewayConfig([upstream('one', { entry, timeoutMs: 30_000 })]), { logger: false });
    closers.push(() => gateway.close());
    return inMemory(gateway.single('one') as Server);
  };
  const seen = { ...offer, revision, transport: 'memory' as never, serverName: 'mooring' };
  describeThirdParty(`${title}, with a client at ${revision}`, seen, open, { revision });
}

test.each(['everything', 'filesystem', 'memory'])(
  'the lists of server-%s are those of a direct connection',
  async (name) => {
    const args = [packaged(`server-${name}`), ...(name === 'filesystem' ? [temporaryFolder()] : [])];
    const command = process.execPath;
    const config = upstream('one', { entry: { command, args }, revision: '2025-11-25' });
    const gateway = createGateway(gatewayConfig([config]), { logger: false });
    closers.push(() => gateway.close());
    // Some servers have other tools for clients that do not support these.
    const handlers = { ...allHandlers, elicitUrl: () => ({ action: 'decline' as const }) };
    const direct = await connect([command, ...args], { revision: '2025-11-25', handlers });
    closers.push(() => direct.close());
    const open = async (): Promise<Client> => {
      const client = await connect(inMemory(gateway.single('one') as Server), { revision: '2025-11-25' });
      closers.push(() => client.close());
      return client;
    };
    // A client does not wait for a server that is not known yet; the next one gets its instructions.
    await (await open()).listTools();
    const through = await open();
    const { capabilities } = direct;
    expect(await listsOf(through, capabilities)).toEqual(await listsOf(direct, capabilities));
  },
);

async function listsOf(client: Client, { prompts, resources }: Client['capabilities']): Promise<unknown> {
  const tools = await client.listTools();
  return {
    instructions: client.instructions,
    // A tool without `execution` does not support tasks either.
    tools: tools.map(({ execution, ...tool }) => ({ ...tool, task: execution?.taskSupport ?? 'forbidden' })),
    prompts: prompts === undefined ? [] : await client.listPrompts(),
    resources: resources === undefined ? [] : await client.listResources(),
    resourceTemplates: resources === undefined ? [] : await client.listResourceTemplates(),
  };
}
