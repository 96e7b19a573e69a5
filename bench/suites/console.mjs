// What the console costs: none, one that no page watches, one that a page watches, and the relay of `inspect --wrap`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StdioClient } from '../lib/stdio-client.mjs';

const perSec = 1_000;

/** @type {import('../lib/suite.mjs').Suite} */
export const consoleSuite = {
  id: 'console',
  title: 'The console',
  note: `CPU of the server process at ${perSec} calls per second over stdio, as a share of a core; 256 calls in flight for the
CPU of a call. For the relay: its own CPU per message, requests and responses counted alike.`,
  transport: 'console',
  rounds: 5,
  columns: [
    { label: 'call CPU µs', metric: 'cpuUs', pick: 'min', digits: 2 },
    { label: `core at ${perSec} calls/s`, metric: 'core', pick: 'median', as: 'share' },
    { label: 'per message µs', metric: 'messageUs', pick: 'min', digits: 1 },
    { label: 'one by one, per message µs', metric: 'singleUs', pick: 'min', digits: 1 },
  ],

  async measure(contestant, era, { ms, warmMs }) {
    const folder = mkdtempSync(join(tmpdir(), 'mooring-bench-'));
    const link = join(folder, 'link');
    const client = await StdioClient.open(contestant, era, { env: { BENCH_LINK: link } });
    const isRelay = contestant.id === 'wrap';
    const reader = contestant.id === 'watched' ? await read(readFileSync(link, 'utf8')) : undefined;
    try {
      await client.load('calculate', { inFlight: 256, ms: warmMs * 2 });
      await client.load('calculate', { inFlight: 10, ms: warmMs, perSec });
      const before = client.cpuMicros;
      const begun = performance.now();
      const paced = await client.load('calculate', { inFlight: 10, ms: ms * 3, perSec });
      const core = (client.cpuMicros - before) / ((performance.now() - begun) * 1000);
      const many = await client.load('calculate', { inFlight: 256, ms });
      const single = await client.load('calculate', { inFlight: 1, ms });
      const relay = { messageUs: paced.cpuUs / 2, singleUs: single.cpuUs / 2 };
      return { revision: client.revision, figures: { cpuUs: many.cpuUs, core, ...(isRelay ? relay : {}) } };
    } finally {
      reader?.abort();
      await client.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Reads the feed as the page does, and throws it away. @param {string} link */
async function read(link) {
  const { origin, pathname, hash } = new URL(link);
  const controller = new AbortController();
  const response = await fetch(`${origin}${pathname}api/feed?after=0`, {
    headers: { Authorization: `Bearer ${hash.slice('#t='.length)}` },
    signal: controller.signal,
  });
  if (!response.ok) throw new Error(`the feed of the console cannot be read: ${response.status}`);
  const drain = async () => {
    for await (const _chunk of /** @type {AsyncIterable<Uint8Array>} */ (response.body));
  };
  drain().catch(() => {}); // Aborted at the end.
  return controller;
}
