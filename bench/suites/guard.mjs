// What guards cost: calls over HTTP to a server with a policy file and an audit log, next to one without.
import { Pair } from '../lib/pair.mjs';

/** @type {import('../lib/suite.mjs').Suite} */
export const guard = {
  id: 'guard',
  title: 'Guards',
  note: `Server CPU per answer over HTTP at 64 connections (16 for echo), writing of the audit log included. The policy is a
file with one rule and two rate limits. Every server shares its process with one that has no guards. The two take turns,
each is the second in every other turn, and each is created and called first in every other process. The first row is
the difference between two equal servers: no figure is more precise than that.`,
  transport: 'guard',
  rounds: 6,
  columns: [
    { label: 'call CPU µs', metric: 'cpuUs', pick: 'median' },
    { label: 'of unguarded', metric: 'share', pick: 'median', as: 'share', digits: 1 },
    { label: 'calls/s', metric: 'perSec', pick: 'median' },
    { label: 'of unguarded', metric: 'rateShare', pick: 'median', as: 'share', digits: 1 },
    { label: '100 KB echo CPU µs', metric: 'echoUs', pick: 'median' },
    { label: 'of unguarded', metric: 'echoShare', pick: 'median', as: 'share' },
  ],

  async measure(contestant, era, { ms, warmMs }, round) {
    const pair = await Pair.open(contestant, era, round);
    try {
      await pair.load('calculate', { connections: 64, ms: warmMs, turns: 1 });
      const calls = await pair.load('calculate', { connections: 64, ms: ms / 4, turns: 12 });
      await pair.load('echo', { connections: 16, ms: warmMs, turns: 1 });
      const echoes = await pair.load('echo', { connections: 16, ms: ms / 8, turns: 6 });
      return {
        revision: pair.client.revision,
        figures: {
          cpuUs: calls.map(([, guarded]) => guarded.cpuUs),
          perSec: calls.map(([, guarded]) => guarded.perSec),
          rateShare: calls.map(([plain, guarded]) => guarded.perSec / plain.perSec),
          share: calls.map(([plain, guarded]) => plain.cpuUs / guarded.cpuUs),
          echoUs: echoes.map(([, guarded]) => guarded.cpuUs),
          echoShare: echoes.map(([plain, guarded]) => plain.cpuUs / guarded.cpuUs),
        },
      };
    } finally {
      await pair.close();
    }
  },
};
