// The servers that transcripts are played against: three that share a Redis, each in this process, and the program of
// fixtures/transcript-workers.ts with two workers.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import type { Principal } from '../../../src/protocol/callers/principal.ts';
import { settled } from '../../support/bus.ts';
import { HttpTestClient } from '../../support/http-client.ts';
import { openRedisReplicas } from '../../support/redis-replicas.ts';
import type { CreateServer } from '../../support/replicas.ts';
import { ReceivedRequests } from '../../support/transcript-http.ts';
import { taskServer, transcriptServer } from '../../transcripts/server.ts';

export interface TranscriptGroup {
  /** A client of the server that gets the next request. */
  pick(): HttpTestClient;
  readonly received: ReceivedRequests;
  /** Before a case: what the one before has announced has reached all servers. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** `file`: the name of the transcript. */
export type OpenTranscriptGroup = (file: string) => Promise<TranscriptGroup>;

/** Tasks are listed for authenticated callers only. */
const authenticate = (): Principal => ({ id: 'storyteller' });

const isAboutTasks = (file: string): boolean => file.startsWith('tasks');

export const openRedisGroup: OpenTranscriptGroup = async (file) => {
  const group = await openRedisReplicas();
  const received = new ReceivedRequests();
  const receipts = { last: 0 };
  try {
    for (let n = 0; n < 3; n++) {
      const create: CreateServer = (shared) => {
        const options = { ...shared, logger: false } as const;
        return isAboutTasks(file) ? taskServer(options) : transcriptServer(options, receipts);
      };
      const { server } = await group.startServer(create, { authenticate });
      server.observe({ received: (message) => received.add(message) });
    }
  } catch (error) {
    await group.close();
    throw error;
  }
  return {
    received,
    pick: () => (group.all[Math.floor(Math.random() * group.all.length)] as (typeof group.all)[number]).client,
    async reset() {
      await settled(...group.all.map(({ server }) => server));
      received.clear();
      receipts.last = 0;
    },
    close: () => group.close(),
  };
};

/** Each request is a new connection, and the workers take connections in turn. */
export const openWorkersGroup: OpenTranscriptGroup = async (file) => {
  // Inside the project, so that the bundle finds its packages.
  const root = resolve(import.meta.dirname, '../../..');
  mkdirSync(join(root, '.tmp'), { recursive: true });
  const folder = mkdtempSync(join(root, '.tmp/transcripts-'));
  const program = join(folder, 'workers.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, '../fixtures/transcript-workers.ts')],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  const args = [program, join(folder, 'data'), isAboutTasks(file) ? 'tasks' : 'other'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<void>((done) => child.once('close', () => done()));
  const received = new ReceivedRequests();
  const url = await new Promise<string>((listens, failed) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const printed = JSON.parse(line) as { readonly url?: string; readonly received?: unknown };
      if (printed.url !== undefined) listens(printed.url);
      else received.add(printed.received);
    });
    void exited.then(() => failed(new Error('the workers did not start')));
  });
  const client = new HttpTestClient(Number(new URL(url).port), { keepAlive: false });
  return {
    received,
    pick: () => client,
    async reset() {
      // A level that was set is known to all workers when that is acknowledged, and so is what its worker has announced before. Each of
      // the two requests has another worker.
      const session = await client.initialize();
      for (const level of ['error', 'info']) await client.session(session, 'logging/setLevel', { level });
      received.clear();
    },
    async close() {
      client.close();
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
