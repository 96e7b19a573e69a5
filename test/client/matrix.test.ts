// Our client with our server: every revision over every transport, by the one list of scenarios.
import { afterAll, beforeAll, describe } from 'vitest';
import { inMemory } from '../../src/client/index.ts';
import { createServer } from '../../src/index.ts';
import { everything } from '../../src/packs/everything/index.ts';
import { type HttpSubject, startHttpSubject, stdioSubject } from '../conformance/subject.ts';
import type { Revision } from '../peers/peer.ts';
import { describePeer } from '../peers/scenarios.ts';
import { connectMooring } from './mooring-peer.ts';

const handshakes: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const all: readonly Revision[] = [...handshakes, '2026-07-28'];

describe('in memory', () => {
  for (const revision of all) {
    describePeer(`at ${revision}`, revision, async () => {
      const server = createServer({ name: 'everything', version: '1.0.0' });
      await server.use(everything());
      return connectMooring(inMemory(server), { revision });
    });
  }
});

describe('over stdio', () => {
  for (const revision of all) {
    describePeer(`at ${revision}`, revision, () => connectMooring([...stdioSubject], { revision }));
  }
  describePeer('finding out by itself', '2026-07-28', () => connectMooring([...stdioSubject]));
});

describe('over a network', () => {
  let subject: HttpSubject;
  beforeAll(async () => {
    subject = await startHttpSubject();
  });
  afterAll(() => subject?.close());

  for (const revision of all) {
    describePeer(`HTTP at ${revision}`, revision, () => connectMooring(subject.url, { revision }));
  }
  for (const revision of handshakes) {
    describePeer(`HTTP+SSE at ${revision}`, revision, () => connectMooring(subject.sseUrl, { revision }));
  }
  for (const revision of all) {
    describePeer(`WebSocket at ${revision}`, revision, () => connectMooring(subject.webSocketUrl, { revision }));
  }
  describePeer('WebSocket, finding out by itself', '2026-07-28', () => connectMooring(subject.webSocketUrl));
  describePeer('HTTP+SSE, finding out by itself', '2025-11-25', () => connectMooring(subject.sseUrl));
  describePeer('HTTP, finding out by itself', '2026-07-28', () => connectMooring(subject.url));
  describePeer('HTTP through fetch', '2026-07-28', () => connectMooring(subject.url, { fetch }));
  describePeer('HTTP through fetch, with a session', '2025-11-25', () =>
    connectMooring(subject.url, { fetch, revision: 'handshake' }),
  );
});
