// The official clients talk to `serve everything --http`: Streamable HTTP with both lines, HTTP+SSE with the old one, and broken connections.
import { StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll } from 'vitest';
import { type HttpSubject, startHttpSubject } from '../conformance/subject.ts';
import { connectNewLine } from './new-line.ts';
import { connectOldLine } from './old-line.ts';
import type { Revision } from './peer.ts';
import { describeResumption } from './resumption.ts';
import { describePeer } from './scenarios.ts';

const handshakes: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const url = () => new URL(subject.url);
// Short, so that a resumption does not make the tests wait.
const reconnectionOptions = {
  initialReconnectionDelay: 20,
  maxReconnectionDelay: 200,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 10,
};

let subject: HttpSubject;
beforeAll(async () => {
  subject = await startHttpSubject();
});
afterAll(() => subject?.close());

for (const revision of handshakes) {
  describePeer(`the old line over HTTP at ${revision}`, revision, () =>
    connectOldLine(new OldTransport(url()), revision),
  );
}
for (const revision of handshakes) {
  describePeer(`the old line over HTTP+SSE at ${revision}`, revision, () =>
    connectOldLine(new SSEClientTransport(new URL(subject.sseUrl)), revision),
  );
}
describePeer('the new line over HTTP, handshake', '2025-11-25', () =>
  connectNewLine(new NewTransport(url()), { mode: 'legacy' }),
);
describePeer('the new line over HTTP, finding out by itself', '2026-07-28', () =>
  connectNewLine(new NewTransport(url()), { mode: 'auto' }),
);
describePeer('the new line over HTTP, pinned', '2026-07-28', () =>
  connectNewLine(new NewTransport(url()), { mode: { pin: '2026-07-28' } }),
);

for (const revision of handshakes.slice(1)) {
  describeResumption(
    `the old line over a bad network at ${revision}`,
    () => subject.url,
    (address) => connectOldLine(new OldTransport(address, { reconnectionOptions }), revision),
  );
}
describeResumption(
  'the new line over a bad network',
  () => subject.url,
  (address) => connectNewLine(new NewTransport(address, { reconnectionOptions }), { mode: 'legacy' }),
);
