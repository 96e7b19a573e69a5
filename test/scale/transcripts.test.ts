// The transcripts over HTTP, each message sent to a random one of three servers that share everything: by the bus of workers, and by
// Redis.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { settled } from '../support/bus.ts';
import { isFullRun } from '../support/full.ts';
import { hasRedis } from '../support/redis.ts';
import { openRedisReplicas } from '../support/redis-replicas.ts';
import { type Replica, type ReplicaGroup, Replicas } from '../support/replicas.ts';
import { parseTranscript, play } from '../support/transcript.ts';
import { overHttp } from '../support/transcript-http.ts';
import { transcriptServer } from '../transcripts/server.ts';

/** Stories that are different here, and why. Those about tasks are left out: what is sent about a task arrives on another stream. */
const different: Readonly<Record<string, string>> = {
  'before initialize only ping is served': 'a request without a session is rejected',
  'the id of a request in flight may not be used again': 'each process knows its own requests',
  'what is not JSON, or not a message, gets an error without an id':
    'its session is not looked up, so it has the id null',
  '2026-07-28: an unexpected response is ignored': 'responses belong to sessions, so it is rejected',
  'a listener gets the requested notifications, tagged with its request id':
    'what a process registers is registered there only',
  'a changed list is announced': 'what a process registers is registered there only',
  'roots are requested, and cached if the client declares listChanged': 'each process has a cache',
  'input requests returned together are sent together, and steps are not repeated': 'each process counts receipts',
  'a handler that returns its input requests runs again with the retry': 'each process counts receipts',
  'a handler that returns its input requests runs again with the responses; what this revision lacks is skipped':
    'each process counts receipts',
  'a subscriber is notified of changes until it unsubscribes': 'that reaches a slow process a moment later',
  'a session sets its log level': 'it reaches the other processes a moment later',
  'a cancelled call gets no response': 'the call may reach its process after the cancellation',
};

/** The others in full runs. */
const newest = ['2025-11-25', '2026-07-28'];

const folder = resolve(import.meta.dirname, '../transcripts');

function declareTranscripts(open: () => Promise<ReplicaGroup>): void {
  for (const file of readdirSync(folder).filter(
    (each) => each.endsWith('.transcript') && each !== 'tasks.transcript',
  )) {
    describe(file.replace('.transcript', ''), () => {
      let group: ReplicaGroup | undefined;
      const replicas: Replica[] = [];
      beforeAll(async () => {
        group = await open();
        for (let n = 0; n < 3; n++)
          replicas.push(await group.startServer((shared) => transcriptServer({ ...shared, logger: false })));
      });
      afterAll(() => group?.close());
      for (const story of parseTranscript(readFileSync(`${folder}/${file}`, 'utf8'))) {
        for (const revision of story.revisions.filter((each) => isFullRun || newest.includes(each))) {
          if (story.title in different || `${revision}: ${story.title}` in different) continue;
          test(`${revision}: ${story.title}`, async () => {
            const pick = () => (replicas[Math.floor(Math.random() * replicas.length)] as Replica).client;
            // Changes of the story before must not reach the clients of this one.
            await settled(...replicas.map(({ server }) => server));
            await play(story, revision, overHttp(revision, pick));
          });
        }
      }
    });
  }
}

// Both in full runs only: they test the same.
describe.skipIf(!isFullRun && hasRedis())('with the bus of workers', () =>
  declareTranscripts(async () => new Replicas()),
);
describe.skipIf(!hasRedis())('with Redis', () => declareTranscripts(openRedisReplicas));
