// The official clients talk to `serve everything --http`: Streamable HTTP with both lines, HTTP+SSE with the old one, and broken connections.
import { StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describeConcurrentHttp } from '../support/concurrent-suites.ts';
import { isFullRun } from '../support/full.ts';
import { connectNewLine } from './new-line.ts';
import { connectOldLine } from './old-line.ts';
import type { Revision } from './peer.ts';
import { describeResumption } from './resumption.ts';
import { describePeer } from './scenarios.ts';

const handshakes: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
// Short, so that a resumption does not make the tests wait.
const reconnectionOptions = {
  initialReconnectionDelay: 20,
  maxReconnectionDelay: 200,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 10,
};

describeConcurrentHttp('the old line over HTTP', (subject) => {
  for (const revision of handshakes) {
    describePeer(`at ${revision}`, revision, () => connectOldLine(new OldTransport(new URL(subject().url)), revision));
  }
});

describeConcurrentHttp('the old line over HTTP+SSE', (subject) => {
  for (const revision of isFullRun ? handshakes : (['2024-11-05', '2025-11-25'] as const)) {
    describePeer(`at ${revision}`, revision, () =>
      connectOldLine(new SSEClientTransport(new URL(subject().sseUrl)), revision),
    );
  }
});

describeConcurrentHttp('the new line over HTTP', (subject) => {
  const transport = () => new NewTransport(new URL(subject().url));
  describePeer('handshake', '2025-11-25', () => connectNewLine(transport(), { mode: 'legacy' }));
  describePeer('finding out by itself', '2026-07-28', () => connectNewLine(transport(), { mode: 'auto' }));
  describePeer('pinned', '2026-07-28', () => connectNewLine(transport(), { mode: { pin: '2026-07-28' } }));
});

describeConcurrentHttp('over a bad network', (subject) => {
  const target = () => subject().url;
  for (const revision of isFullRun ? handshakes.slice(1) : (['2025-03-26'] as const)) {
    describeResumption(`the old line at ${revision}`, target, (address) =>
      connectOldLine(new OldTransport(address, { reconnectionOptions }), revision),
    );
  }
  describeResumption('the new line', target, (address) =>
    connectNewLine(new NewTransport(address, { reconnectionOptions }), { mode: 'legacy' }),
  );
});
