// Servers of others behind the gateway, with a client of each era: what works with the server itself works through it.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { inMemory } from '../../src/client/index.ts';
import { createGateway } from '../../src/gateway/index.ts';
import type { Server } from '../../src/index.ts';
import { demo, describeThirdParty, type ThirdPartyServer } from '../client/third-party.ts';
import { useClosers } from '../support/closers.ts';
import { gatewayConfig, upstream } from './fixture.ts';

const closers = useClosers(afterAll);
const require = createRequire(import.meta.url);
const script = (name: string): string => fileURLToPath(new URL(`../client/servers/${name}.mjs`, import.meta.url));
const reference = join(
  dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist/index.js',
);

type Offer = Omit<ThirdPartyServer, 'revision' | 'transport' | 'serverName'>;

const everything: Offer = {
  echo: ['echo', { message: 'hi' }],
  echoes: 'Echo: hi',
  structured: { call: ['get-structured-content', { location: 'Chicago' }], value: { temperature: 36 } },
  progress: { call: ['trigger-long-running-operation', { duration: 0.4, steps: 4 }], steps: [1, 2, 3, 4] },
  asks: { call: ['trigger-elicitation-request'], text: /Name: Ada/ },
  samples: { call: ['trigger-sampling-request', { prompt: 'Capital?', maxTokens: 10 }], text: /Paris/ },
  // It works on regardless, so that it can not tell.
  cancels: { call: ['trigger-long-running-operation', { duration: 20, steps: 2 }] },
  watches: { uri: 'demo://resource/static/document/architecture.md', trigger: ['toggle-subscriber-updates'] },
  resource: { uri: 'demo://resource/static/document/architecture.md', text: /Architecture/ },
  prompt: { name: 'args-prompt', args: { city: 'Hamburg' }, text: /Hamburg/ },
};
const sdk: Offer = { ...demo, structured: { call: ['add', { a: 1, b: 2 }], value: { sum: 3 } } };

const servers: readonly (readonly [title: string, args: readonly string[], offer: Offer])[] = [
  ['the reference server', [reference, 'stdio'], everything],
  ['the old line of the SDK', [script('sdk-old'), 'stdio'], sdk],
  ['the new line of the SDK', [script('sdk-new'), 'stdio'], sdk],
  ['FastMCP', [script('fastmcp'), 'stdio'], demo],
];

for (const [title, args, offer] of servers) {
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const open = () => {
      const entry = { command: process.execPath, args };
      const gateway = createGateway(gatewayConfig([upstream('one', { entry, timeoutMs: 30_000 })]), { logger: false });
      closers.push(() => gateway.close());
      return inMemory(gateway.single('one') as Server);
    };
    const seen = { ...offer, revision, transport: 'memory' as never, serverName: 'mooring' };
    describeThirdParty(`${title}, with a client at ${revision}`, seen, open, { revision });
  }
}
