// What guards cost: calls over HTTP with a rate limit and an audit log on, next to the same server without.
import { HttpClient } from '../lib/http-client.mjs';
import { quantile } from '../lib/stats.mjs';
import { inSlices } from '../lib/suite.mjs';

/** @type {import('../lib/suite.mjs').Suite} */
export const guard = {
  id: 'guard',
  title: 'Guards',
  note: `Server CPU per answer over HTTP at 64 connections (16 for echo), writing of the audit log included. The tiny call does
nothing at all, so every microsecond of a guard shows. Two processes of the same server differ by as much as a guard
costs, so many take turns, and a figure is the middle one of theirs.`,
  transport: 'guard',
  rounds: 15,
  columns: [
    { label: 'call CPU µs', metric: 'cpuUs', pick: 'median' },
    { label: 'calls/s', metric: 'perSec', pick: 'median' },
    { label: 'of unguarded', metric: 'cpuUs', pick: 'median', to: 'mooring', as: 'share' },
    { label: '100 KB echo CPU µs', metric: 'echoUs', pick: 'median' },
    { label: 'of unguarded', metric: 'echoUs', pick: 'median', to: 'mooring', as: 'share' },
  ],

  async measure(contestant, era, { ms, warmMs }) {
    const client = await HttpClient.open(contestant, era);
    try {
      const sessions = await client.openSessions(64);
      await client.checkValidation(sessions[0]);
      await client.load('calculate', { connections: 64, ms: warmMs, sessions });
      const call = await inSlices(ms, (slice) => client.load('calculate', { connections: 64, ms: slice, sessions }));
      await client.load('echo', { connections: 16, ms: warmMs / 6, sessions });
      const echo = await inSlices(ms / 2, (slice) => client.load('echo', { connections: 16, ms: slice, sessions }));
      return {
        revision: client.revision,
        figures: {
          cpuUs: middle(call.map(({ cpuUs }) => cpuUs)),
          perSec: middle(call.map(({ perSec }) => perSec)),
          echoUs: middle(echo.map(({ cpuUs }) => cpuUs)),
        },
      };
    } finally {
      await client.close();
    }
  },
};

/** @param {number[]} slices */
const middle = (slices) => quantile(slices, 0.5);
