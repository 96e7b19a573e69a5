// The same scenarios with processes and sockets: upstreams over stdio and HTTP, clients over HTTP and WebSocket, at the
// addresses of single servers.
import { afterAll, beforeAll } from 'vitest';
import type { HttpServer } from '../../src/index.ts';
import { connectMooring } from '../client/mooring-peer.ts';
import { stdioSubject } from '../conformance/subject.ts';
import type { Revision } from '../peers/peer.ts';
import { describePeer } from '../peers/scenarios.ts';
import { describeConcurrent } from '../support/concurrent-suites.ts';
import { upstream } from './fixture.ts';
import { type ServedGateway, serveEverything, serveGateway } from './served-gateway.ts';

const revisions: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
const slugOf = (transport: string, up: Revision, down: Revision): string => `${transport}-${up}-${down}`;

/** Processes take long to start, so that they are tried with the newest client of each era only. */
const clients = { http: revisions, stdio: ['2025-11-25', '2026-07-28'] } as const;

for (const transport of ['http', 'stdio'] as const) {
  describeConcurrent(`upstreams over ${transport}`, () => {
    let behind: HttpServer;
    let front: ServedGateway;

    beforeAll(async () => {
      behind = await serveEverything();
      const [command, ...args] = stdioSubject;
      const entry = transport === 'http' ? { url: behind.url } : { command, args };
      // One for each pair: the scenarios count the changes that they cause.
      const pairs = revisions.flatMap((up) =>
        clients[transport].map((down) => ({ up, slug: slugOf(transport, up, down) })),
      );
      const servers = pairs.map(({ up, slug }) => upstream(slug, { entry, revision: up, idleMs: 10_000 }));
      front = await serveGateway(servers);
    });
    afterAll(async () => {
      await front.close();
      await behind.close();
    });

    for (const up of revisions) {
      for (const down of clients[transport]) {
        const open = () => connectMooring(front.urlOf(slugOf(transport, up, down)), { revision: down });
        describePeer(`a server at ${up} with a client at ${down}`, down, open, up);
      }
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
