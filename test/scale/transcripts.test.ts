// The transcripts over HTTP, through several processes that share everything: each message of a case reaches another one, at random with
// Redis, in turn with workers. MOORING_TEST_FULL=1: at all revisions, with both.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { hasRedis } from '../support/redis.ts';
import { parseTranscript, play } from '../support/transcript.ts';
import { overHttp } from '../support/transcript-http.ts';
import {
  type OpenTranscriptGroup,
  openRedisGroup,
  openWorkersGroup,
  type TranscriptGroup,
} from './support/transcript-groups.ts';

/** Stories that one server over HTTP plays differently too, or that depend on what a process has in its memory; and why. */
const different: Readonly<Record<string, string>> = {
  'before initialize only ping is served': 'over HTTP, a request without a session is rejected',
  'what is not JSON, or not a message, gets an error without an id':
    'over HTTP, its session is not looked up, so it has the id null',
  '2026-07-28: an unexpected response is ignored': 'over HTTP, responses belong to sessions, so it is rejected',
  'a listener gets the requested notifications, tagged with its request id':
    'over HTTP, a stateless client ends its stream by closing the connection, not by a notification',
  'a changed list is announced': 'what a process registers is registered there only, and only its clients are told',
  'the id of a request in flight may not be used again':
    'each process knows its own requests: to know all, it would have to ask at each request',
  'roots are requested, and cached if the client declares listChanged': 'each process requests and caches them once',
};

/** The same for workers, which are processes of their own. */
const differentWithWorkers = withReason('the server counts receipts in its memory', [
  'input requests returned together are sent together, and steps are not repeated',
  'a handler that returns its input requests runs again with the retry',
  'a handler that returns its input requests runs again with the responses; what this revision lacks is skipped',
]);

function withReason(reason: string, titles: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(titles.map((title) => [title, reason]));
}

/** The others in full runs. */
const newest = ['2025-11-25', '2026-07-28'];

const folder = resolve(import.meta.dirname, '../transcripts');

function declareTranscripts(open: OpenTranscriptGroup, excluded: Readonly<Record<string, string>>): void {
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.transcript'))) {
    describe(file.replace('.transcript', ''), () => {
      let group: TranscriptGroup;
      beforeAll(async () => {
        group = await open(file);
      }, 60_000);
      afterAll(() => group?.close(), 60_000);
      for (const testCase of parseTranscript(readFileSync(`${folder}/${file}`, 'utf8'))) {
        for (const revision of testCase.revisions.filter((each) => isFullRun || newest.includes(each))) {
          if (testCase.title in excluded || `${revision}: ${testCase.title}` in excluded) continue;
          test(`${revision}: ${testCase.title}`, { timeout: 60_000 }, async () => {
            await group.reset();
            await play(
              testCase,
              revision,
              overHttp(revision, () => group.pick(), group.received),
            );
          });
        }
      }
    });
  }
}

describe.skipIf(!hasRedis())('with Redis', () => declareTranscripts(openRedisGroup, different));
describe.skipIf(!isFullRun && hasRedis())('with two workers', () =>
  declareTranscripts(openWorkersGroup, { ...different, ...differentWithWorkers }),
);
