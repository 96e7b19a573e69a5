// Our client with our server: every revision, every transport, by the one list of scenarios; with MOORING_TEST_FULL=1 every revision
// over every transport.
import { inMemory } from '../../src/client/index.ts';
import { createServer } from '../../src/index.ts';
import { everything } from '../../src/packs/everything/index.ts';
import { stdioSubject } from '../conformance/subject.ts';
import type { Revision } from '../peers/peer.ts';
import { describePeer } from '../peers/scenarios.ts';
import { describeConcurrent, describeConcurrentHttp } from '../support/concurrent-suites.ts';
import { isFullRun } from '../support/full.ts';
import { connectMooring } from './mooring-peer.ts';

const handshakes: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const all: readonly Revision[] = [...handshakes, '2026-07-28'];

describeConcurrent('in memory', () => {
  for (const revision of all) {
    describePeer(`at ${revision}`, revision, async () => {
      const server = createServer({ name: 'everything', version: '1.0.0' });
      await server.use(everything());
      return connectMooring(inMemory(server), { revision });
    });
  }
});

/** In memory and over HTTP all of them; by default each on one of the other transports, and both eras on each. */
const some = (many: readonly Revision[], few: readonly Revision[]): readonly Revision[] => (isFullRun ? many : few);

describeConcurrent('over stdio', () => {
  for (const revision of some(all, ['2025-03-26', '2026-07-28'])) {
    describePeer(`at ${revision}`, revision, () => connectMooring([...stdioSubject], { revision }));
  }
  describePeer('finding out by itself', '2026-07-28', () => connectMooring([...stdioSubject]));
});

describeConcurrentHttp('over HTTP', (subject) => {
  for (const revision of all) {
    describePeer(`at ${revision}`, revision, () => connectMooring(subject().url, { revision }));
  }
  describePeer('finding out by itself', '2026-07-28', () => connectMooring(subject().url));
  describePeer('through fetch', '2026-07-28', () => connectMooring(subject().url, { fetch }));
  describePeer('through fetch, with a session', '2025-11-25', () =>
    connectMooring(subject().url, { fetch, revision: 'handshake' }),
  );
});

describeConcurrentHttp('over HTTP+SSE', (subject) => {
  for (const revision of some(handshakes, ['2024-11-05'])) {
    describePeer(`at ${revision}`, revision, () => connectMooring(subject().sseUrl, { revision }));
  }
  describePeer('finding out by itself', '2025-11-25', () => connectMooring(subject().sseUrl));
});

describeConcurrentHttp('over WebSocket', (subject) => {
  for (const revision of some(all, ['2025-06-18', '2026-07-28'])) {
    describePeer(`at ${revision}`, revision, () => connectMooring(subject().webSocketUrl, { revision }));
  }
  describePeer('finding out by itself', '2026-07-28', () => connectMooring(subject().webSocketUrl));
});
