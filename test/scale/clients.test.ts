// The official clients with two workers, each request served by another one than the request before; and with three replicas and
// Redis, each request sent to a random one.
import { StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe } from 'vitest';
import type { HttpSubject } from '../conformance/subject.ts';
import { connectNewLine } from '../peers/new-line.ts';
import { connectOldLine } from '../peers/old-line.ts';
import { describeResumption } from '../peers/resumption.ts';
import { describePeer } from '../peers/scenarios.ts';
import { describeConcurrentHttp } from '../support/concurrent-suites.ts';
import { isFullRun } from '../support/full.ts';
import { hasRedis } from '../support/redis.ts';
import { startWorkersSubject } from '../support/workers.ts';
import { startRedisSubject } from './support/redis-programs.ts';

// Short, so that a resumption does not make the tests wait.
const reconnectionOptions = {
  initialReconnectionDelay: 20,
  maxReconnectionDelay: 200,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 10,
};

/** By default one half of the clients with each subject, and broken connections with both. */
const declareClients = (half: 'first' | 'second') => (subject: () => HttpSubject) => {
  const url = () => new URL(subject().url);
  if (isFullRun || half === 'first') {
    describePeer('the old line over HTTP+SSE', '2024-11-05', () =>
      connectOldLine(new SSEClientTransport(new URL(subject().sseUrl)), '2024-11-05'),
    );
    describePeer('the new line', '2026-07-28', () => connectNewLine(new NewTransport(url()), { mode: 'auto' }));
  }
  if (isFullRun || half === 'second') {
    describePeer('the old line at 2025-06-18', '2025-06-18', () =>
      connectOldLine(new OldTransport(url()), '2025-06-18'),
    );
    describePeer('the new line by handshake', '2025-11-25', () =>
      connectNewLine(new NewTransport(url()), { mode: 'legacy' }),
    );
  }
  describeResumption(
    'the old line over a bad network',
    () => subject().url,
    (address) => connectOldLine(new OldTransport(address, { reconnectionOptions }), '2025-11-25'),
  );
};

describeConcurrentHttp('with two workers', declareClients('first'), startWorkersSubject);
describe.skipIf(!hasRedis())('with Redis', () => {
  describeConcurrentHttp('and three replicas', declareClients('second'), startRedisSubject);
});
