// What the console costs: one that no page watches, and one that a page watches.
import { Pair } from '../lib/pair.mjs';

const perSec = 1_000;

/** @type {import('../lib/suite.mjs').Suite} */
export const consoleSuite = {
  id: 'console',
  title: 'The console',
  note: `Server CPU per answer over HTTP at 64 connections, and at ${perSec.toLocaleString('en-US')} calls per second as a share of a core.
Every server shares its process with one that has no console; the two take turns, as with guards. The first row is the
difference between two equal servers.`,
  transport: 'console',
  rounds: 4,
  columns: [
    { label: 'call CPU µs', metric: 'cpuUs', pick: 'median', digits: 1 },
    { label: 'above none', metric: 'added', pick: 'median', as: 'share', digits: 1 },
    { label: 'core at 1,000 calls/s', metric: 'core', pick: 'median', as: 'share', digits: 1 },
    { label: 'above none', metric: 'addedCore', pick: 'median', as: 'share', digits: 1 },
  ],

  async measure(contestant, era, { ms, warmMs }, round) {
    const pair = await Pair.open(contestant, era, round);
    const page = contestant.id === 'watched' ? await readFeed(pair.client.link) : undefined;
    try {
      await pair.load('calculate', { connections: 64, ms: warmMs, turns: 1 });
      const calls = await pair.load('calculate', { connections: 64, ms: ms / 4, turns: 12 });
      await pair.load('calculate', { connections: 8, ms: warmMs / 2, turns: 1, perSec });
      const paced = await pair.load('calculate', { connections: 8, ms, turns: 6, perSec });
      return {
        revision: pair.client.revision,
        figures: {
          cpuUs: calls.map(([, observed]) => observed.cpuUs),
          added: calls.map(([plain, observed]) => observed.cpuUs / plain.cpuUs - 1),
          core: paced.map(([, observed]) => observed.core),
          addedCore: paced.map(([plain, observed]) => observed.core - plain.core),
        },
      };
    } finally {
      page?.abort();
      await pair.close();
    }
  },
};

/** Reads the feed as the page does, and throws it away. @param {string | undefined} link */
async function readFeed(link = '') {
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
