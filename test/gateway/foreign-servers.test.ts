// Servers of others behind the gateway, with clients of both eras: what works with the server itself works through it.
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { inMemory } from '../../src/client/index.ts';
import { createGateway } from '../../src/gateway/index.ts';
import type { Server } from '../../src/index.ts';
import {
  demo,
  describeThirdParty,
  referenceOffer,
  referenceServer,
  type ThirdPartyServer,
} from '../client/third-party.ts';
import { useClosers } from '../support/closers.ts';
import { pairsOf } from '../support/full.ts';
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
