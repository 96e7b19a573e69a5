// An upstream at every revision behind the gateway, with clients of every revision: each scenario that works with the server
// itself works through the gateway.
import { inMemory } from '../../src/client/index.ts';
import { createServer } from '../../src/index.ts';
import { everything } from '../../src/packs/everything/index.ts';
import { connectMooring } from '../client/mooring-peer.ts';
import type { Revision } from '../peers/peer.ts';
import { describePeer } from '../peers/scenarios.ts';
import { describeConcurrent } from '../support/concurrent-suites.ts';
import { gatewayOf } from './fixture.ts';

const revisions: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

for (const up of revisions) {
  describeConcurrent(`a server at ${up}`, () => {
    for (const down of revisions) {
      const open = async () => {
        const server = createServer({ name: 'everything', version: '1.0.0' });
        await server.use(everything());
        const closers: (() => unknown)[] = [];
        const gateway = gatewayOf(closers, { fixture: server }, { revision: up });
        const peer = await connectMooring(inMemory(gateway.single('fixture') as never), { revision: down });
        return {
          ...peer,
          close: async () => {
            await peer.close();
            for (const close of closers) await close();
          },
        };
      };
      describePeer(`with a client at ${down}`, down, open, up);
    }
  });
}
