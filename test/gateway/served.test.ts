// The same scenarios with processes and sockets: upstreams over stdio and HTTP, clients over HTTP and WebSocket, at the
// addresses of single servers.
import { afterAll, beforeAll } from 'vitest';
import type { HttpServer } from '../../src/index.ts';
import { connectMooring } from '../client/mooring-peer.ts';
import { stdioSubject } from '../conformance/subject.ts';
import type { Revision } from '../peers/peer.ts';
import { describePeer } from '../peers/scenarios.ts';
import { describeConcurrent } from '../support/concurrent-suites.ts';
import { isFullRun } from '../support/full.ts';
import { upstream } from './fixture.ts';
import { type ServedGateway, serveEverything, serveGateway } from './served-gateway.ts';

const revisions: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
const slugOf = (transport: string, up: Revision, down: Revision): string => `${transport}-${up}-${down}`;

type Pair = readonly [up: Revision, down: Revision];
const every: readonly Pair[] = revisions.flatMap((up) => revisions.map((down) => [up, down] as const));
/** All pairs are tried in memory, see matrix.test.ts: here each revision on each side, across the eras and within them. */
const some: readonly Pair[] = [
  ['2024-11-05', '2026-07-28'],
  ['2025-03-26', '2025-03-26'],
  ['2025-06-18', '2025-06-18'],
  ['2025-11-25', '2026-07-28'],
  ['2026-07-28', '2024-11-05'],
  ['2026-07-28', '2025-11-25'],
];
/** Processes take long to start, so that they are tried with the newest client of each era only. */
const isNewest = ([, down]: Pair): boolean => down === '2025-11-25' || down === '2026-07-28';
const pairs = {
  http: isFullRun ? every : some,
  stdio: isFullRun ? every.filter(isNewest) : some.filter(isNewest),
};

for (const transport of ['http', 'stdio'] as const) {
  describeConcurrent(`upstreams over ${transport}`, () => {
    let behind: HttpServer;
    let front: ServedGateway;

    beforeAll(async () => {
      behind = await serveEverything();
      const [command, ...args] = stdioSubject;
      const entry = transport === 'http' ? { url: behind.url } : { command, args };
      // One for each pair: the scenarios count the changes that they cause.
      const servers = pairs[transport].map(([up, down]) =>
        upstream(slugOf(transport, up, down), { entry, revision: up, idleMs: 10_000 }),
      );
      front = await serveGateway(servers);
    });
    afterAll(async () => {
      await front.close();
      await behind.close();
    });

    for (const [up, down] of pairs[transport]) {
      const open = () => connectMooring(front.urlOf(slugOf(transport, up, down)), { revision: down });
      describePeer(`a server at ${up} with a client at ${down}`, down, open, up);
    }
    describePeer(
      'a server at 2025-11-25 with a client at 2026-07-28 over WebSocket',
      '2026-07-28',
      () => {
        const url = front.urlOf(slugOf(transport, '2025-11-25', '2026-07-28'));
        return connectMooring(url.replace(/^http/, 'ws'), { revision: '2026-07-28' });
      },
      '2025-11-25',
    );
  });
}
