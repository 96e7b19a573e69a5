// What one hop through a gateway costs, next to a direct call over the same pair of transports: our server on the side of
// the client and our client on the side of the server behind it.
import { contestants } from '../contestants.mjs';
import { runClient } from '../lib/client-job.mjs';
import { HttpClient } from '../lib/http-client.mjs';
import { StdioClient } from '../lib/stdio-client.mjs';
import { inSlices } from '../lib/suite.mjs';

const connections = 64;

/** The compiler settles after so many calls, not after so much time: on a busy machine there are few in a second. */
const warmCalls = { stdio: 20_000, http: 5_000 };

/** @param {number} warmMs @param {number} atLeast @param {(ms: number) => Promise<{ calls: number }>} run */
async function warmUp(warmMs, atLeast, run) {
  let calls = 0;
  const until = performance.now() + 20_000;
  do calls += (await run(warmMs)).calls;
  while (calls < atLeast && performance.now() < until);
}

/** @type {import('../lib/suite.mjs').Suite} */
export const gateway = {
  id: 'gateway',
  title: 'One hop through a gateway',
  note: `CPU of the gateway per call, ${connections} in flight; the server behind it is ours, has the revision of the client, and does
not count. A direct call is what our server costs over the first transport and our client over the second one.`,
  transport: 'gateway',
  who: 'gateway',
  rounds: 3,
  columns: [
    { label: 'hop CPU µs', metric: 'hopUs', pick: 'min', digits: 1 },
    { label: 'calls/s', metric: 'perSec', pick: 'max' },
    { label: 'direct call CPU µs', metric: 'directUs', pick: 'min', digits: 1 },
    { label: 'hops per direct call', metric: 'hops', pick: 'min', digits: 2 },
  ],

  async measure(contestant, era, effort) {
    const { BENCH_FRONT: front = 'http', BENCH_BACK: back = 'stdio' } = contestant.env ?? {};
    const load = front === 'http' ? loadHttp : loadStdio;
    // The client of a direct call has one revision, too.
    const revision = era === 'handshake' ? '2025-11-25' : '2026-07-28';
    const hop = await load({ ...contestant, env: { ...contestant.env, BENCH_REVISION: revision } }, era, effort);
    const ours = /** @type {import('../contestants.mjs').Contestant} */ (
      contestants[/** @type {'http' | 'stdio'} */ (front)].find(({ id }) => id === 'mooring')
    );
    const server = await load(ours, era, effort);
    const transport = /** @type {'http' | 'stdio'} */ (back);
    const { ms, warmMs } = effort;
    const job = { client: 'mooring', era, ms, warmMs, inFlight: connections, slices: 5, transport };
    /** @type {import('./client.mjs').Load} */
    const client = await runClient('load.mjs', job, 120_000);
    const best = (/** @type {{ cpuUs: number }[]} */ taken) => Math.min(...taken.map(({ cpuUs }) => cpuUs));
    const directUs = best(server) + best(client.taken);
    return {
      revision,
      figures: {
        hopUs: hop.map(({ cpuUs }) => cpuUs),
        perSec: hop.map(({ perSec }) => perSec),
        directUs,
        hops: best(hop) / directUs,
      },
    };
  },
};

/** @type {import('../lib/suite.mjs').Measure<{ cpuUs: number, perSec: number }[]>} */
async function loadHttp(contestant, era, { ms, warmMs }) {
  const client = await HttpClient.open(contestant, era);
  try {
    const sessions = await client.openSessions(1);
    const run = (/** @type {number} */ forMs) => client.load('calculate', { connections, ms: forMs, sessions });
    await warmUp(warmMs, warmCalls.http, run);
    return await inSlices(ms, run);
  } finally {
    await client.close();
  }
}

/** @type {import('../lib/suite.mjs').Measure<{ cpuUs: number, perSec: number }[]>} */
async function loadStdio(contestant, era, { ms, warmMs }) {
  const client = await StdioClient.open(contestant, era);
  try {
    const run = (/** @type {number} */ forMs) => client.load('calculate', { inFlight: connections, ms: forMs });
    await warmUp(warmMs, warmCalls.stdio, run);
    return await inSlices(ms, run);
  } finally {
    await client.end();
  }
}
