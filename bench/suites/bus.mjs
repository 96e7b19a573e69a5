// What a connection to Redis costs a call that needs nothing of it: the bus between processes is on, and silent.
import { Pair } from '../lib/pair.mjs';

/** @type {import('../lib/suite.mjs').Suite} */
export const bus = {
  id: 'bus',
  title: 'Redis between processes',
  note: `Server CPU per answer over HTTP at 64 connections. Every server shares its process with one without Redis; the two take
turns, as with guards. The first row is the difference between two equal servers. What Redis itself computes is not counted.`,
  transport: 'bus',
  rounds: 6,
  columns: [
    { label: 'call CPU µs', metric: 'cpuUs', pick: 'median', digits: 1 },
    { label: 'above none', metric: 'addedUs', pick: 'median', as: 'above', digits: 1 },
  ],

  async measure(contestant, era, { ms, warmMs }, round) {
    const pair = await Pair.open(contestant, era, round);
    try {
      await pair.load('calculate', { connections: 64, ms: warmMs, turns: 1 });
      const calls = await pair.load('calculate', { connections: 64, ms: ms / 4, turns: 12 });
      return {
        revision: pair.client.revision,
        figures: {
          cpuUs: calls.map(([, shared]) => shared.cpuUs),
          addedUs: calls.map(([plain, shared]) => shared.cpuUs - plain.cpuUs),
        },
      };
    } finally {
      await pair.close();
    }
  },
};
