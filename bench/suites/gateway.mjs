// What one hop through a gateway costs, next to a direct call over the same pair of transports: our server on the side of
// the client and our client on the side of the server behind it. The three take turns.
import { contestants } from '../contestants.mjs';
import { ClientLoad } from '../lib/client-job.mjs';
import { HttpClient } from '../lib/http-client.mjs';
import { reachesRate } from '../lib/stats.mjs';
import { StdioClient } from '../lib/stdio-client.mjs';

const connections = 64;
const turns = 5;
/** As many as a busy gateway of one user has: the process sleeps between them. */
const pacedPerSec = 1_000;
const patienceMs = 120_000;

/** The compiler settles after so many calls, not after so much time: on a busy machine there are few in a second. */
const warmCalls = { stdio: 20_000, http: 5_000 };

/** @typedef {{ calls: number, cpuUs: number, perSec: number }} Slice */

/** The bare relay over the same pair of transports; the gateways of others have HTTP in front of stdio. @param {string} id */
const bareRelay = (id) => `bare-${/(?:stdio|http)-(?:stdio|http)$/.exec(id)?.[0] ?? 'http-stdio'}`;

/** @type {import('../lib/suite.mjs').Suite} */
export const gateway = {
  id: 'gateway',
  title: 'One hop through a gateway',
  note: `CPU of the gateway per call, with ${connections} in flight and at ${pacedPerSec.toLocaleString('en-US')} calls per second. A direct call is what our server costs over the first transport and our
client over the second one. The gateway, that server and that client take turns, and the last column is the median of the
turns. At ${pacedPerSec.toLocaleString('en-US')} calls per second, only turns count in which the gateway reached nine tenths of that rate. A bare relay passes messages on and checks nothing: the least that a gateway on this platform costs. The server behind the gateway and the client is a bare one, has the revision of the client, and does not count. With
${connections} calls in flight, what the gateway keeps of each call between its request and its response exceeds the first-level cache
of a core; a server that answers in the same turn, and a client, keep less.`,
  transport: 'gateway',
  who: 'gateway',
  rounds: 3,
  columns: [
    { label: 'hop CPU µs', metric: 'hopUs', pick: 'min', digits: 1 },
    { label: 'calls/s', metric: 'perSec', pick: 'max' },
    { label: 'direct call CPU µs', metric: 'directUs', pick: 'min', digits: 1 },
    { label: 'hops per direct call', metric: 'hops', pick: 'median', digits: 2 },
    { label: 'of bare', metric: 'hops', pick: 'median', to: bareRelay, as: 'share' },
    { label: 'at 1,000/s: hop µs', metric: 'pacedHopUs', pick: 'min', digits: 0 },
    { label: 'direct µs', metric: 'pacedDirectUs', pick: 'min', digits: 0 },
    { label: 'hops per direct call', metric: 'pacedHops', pick: 'median', digits: 2 },
    { label: 'of bare', metric: 'pacedHops', pick: 'median', to: bareRelay, as: 'share' },
  ],

  async measure(contestant, era, { ms, warmMs }) {
    const { BENCH_FRONT: front = 'http', BENCH_BACK: back = 'stdio' } = contestant.env ?? {};
    const open = front === 'http' ? openHttp : openStdio;
    // The client of a direct call has one revision, too.
    const revision = era === 'handshake' ? '2025-11-25' : '2026-07-28';
    const ours = /** @type {import('../contestants.mjs').Contestant} */ (
      contestants[/** @type {'http' | 'stdio'} */ (front)].find(({ id }) => id === 'mooring')
    );
    const transport = /** @type {'http' | 'stdio'} */ (back);
    const job = { client: 'mooring', era, warmMs, inFlight: connections, transport };
    /** @type {{ close(): Promise<void> }[]} */
    const opened = [];
    /** @template {{ close(): Promise<void> }} T @param {T} one */
    const keep = (one) => {
      opened.push(one);
      return one;
    };
    try {
      const env = { ...contestant.env, BENCH_REVISION: revision };
      const hop = keep(await open({ ...contestant, env }, era, warmMs));
      const server = keep(await open(ours, era, warmMs));
      const client = keep(await ClientLoad.open(job, patienceMs));
      const inTurns = async (/** @type {number} */ forMs, /** @type {number | undefined} */ perSec) => {
        const taken = [];
        for (let turn = 0; turn < turns; turn++) {
          const hopped = await hop.load(forMs, perSec);
          const served = await server.load(forMs, perSec);
          const called = await client.load(forMs, patienceMs, perSec);
          taken.push({ hopped, directUs: served.cpuUs + called.cpuUs });
        }
        return taken;
      };
      const full = await inTurns(ms / turns, undefined);
      const paced = (await inTurns((ms * 3) / turns, pacedPerSec)).filter(({ hopped }) =>
        reachesRate(hopped, pacedPerSec),
      );
      return {
        revision,
        figures: {
          hopUs: full.map(({ hopped }) => hopped.cpuUs),
          perSec: full.map(({ hopped }) => hopped.perSec),
          directUs: full.map(({ directUs }) => directUs),
          hops: full.map(({ hopped, directUs }) => hopped.cpuUs / directUs),
          pacedHopUs: paced.map(({ hopped }) => hopped.cpuUs),
          pacedDirectUs: paced.map(({ directUs }) => directUs),
          pacedHops: paced.map(({ hopped, directUs }) => hopped.cpuUs / directUs),
        },
      };
    } finally {
      for (const each of opened) await each.close();
    }
  },
};

/** A server over HTTP, warm. @type {(contestant: import('../contestants.mjs').Contestant, era: import('../contestants.mjs').Era, warmMs: number) => Promise<{ load(ms: number, perSec?: number): Promise<Slice>, close(): Promise<void> }>} */
async function openHttp(contestant, era, warmMs) {
  const client = await HttpClient.open(contestant, era);
  const sessions = await client.openSessions(1);
  const load = (/** @type {number} */ ms, /** @type {number | undefined} */ perSec) =>
    client.load('calculate', { connections: perSec === undefined ? connections : 8, ms, sessions, perSec });
  await warmUp(warmMs, warmCalls.http, load);
  return { load, close: () => client.close() };
}

/** A server over stdio, warm. @type {typeof openHttp} */
async function openStdio(contestant, era, warmMs) {
  const client = await StdioClient.open(contestant, era);
  const load = (/** @type {number} */ ms, /** @type {number | undefined} */ perSec) =>
    client.load('calculate', { inFlight: perSec === undefined ? connections : 1, ms, perSec });
  await warmUp(warmMs, warmCalls.stdio, load);
  return { load, close: () => client.end() };
}

/** @param {number} warmMs @param {number} atLeast @param {(ms: number) => Promise<Slice>} run */
async function warmUp(warmMs, atLeast, run) {
  let calls = 0;
  const until = performance.now() + 20_000;
  do calls += (await run(warmMs)).calls;
  while (calls < atLeast && performance.now() < until);
}
