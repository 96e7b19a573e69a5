// What guards cost: calls over HTTP to a server with a policy file and an audit log, next to one without.
import { HttpClient } from '../lib/http-client.mjs';

/** How often the two servers take turns: what disturbs one turn seldom disturbs the next one as well. */
const turns = 12;

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
    // Of two equal servers the one that is created and called first is faster by about half a percent.
    const order = round % 2 === 0 ? /** @type {const} */ ([1, 0]) : both;
    const env = { ...contestant.env, BENCH_GUARDED_FIRST: String(order[0] === 1) };
    const client = await HttpClient.open({ ...contestant, env }, era);
    try {
      /** @type {(string | undefined)[][]} */
      const sessions = [];
      for (const which of order) {
        client.turnTo(which);
        sessions[which] = await client.openSessions(64);
        await client.checkValidation(sessions[which][0]);
      }
      /** @param {'calculate' | 'echo'} call @param {number} connections @param {number} forMs @param {number} turn */
      const inTurn = async (call, connections, forMs, turn) => {
        /** @type {Awaited<ReturnType<typeof client.load>>[]} */
        const found = [];
        // The second one finds the machine warmer, so each is the second in every other turn.
        for (const which of turn % 2 === 0 ? order : order.toReversed()) {
          client.turnTo(which);
          found[which] = await client.load(call, { connections, ms: forMs, sessions: sessions[which] });
        }
        return found;
      };
      await inTurn('calculate', 64, warmMs, 0);
      const calls = [];
      for (let turn = 0; turn < turns; turn++) calls.push(await inTurn('calculate', 64, ms / 4, turn));
      await inTurn('echo', 16, warmMs, 0);
      const echoes = [];
      for (let turn = 0; turn < turns / 2; turn++) echoes.push(await inTurn('echo', 16, ms / 8, turn));
      return {
        revision: client.revision,
        figures: {
          cpuUs: calls.map(([, guarded]) => guarded.cpuUs),
          perSec: calls.map(([, guarded]) => guarded.perSec),
          rateShare: calls.map(([open, guarded]) => guarded.perSec / open.perSec),
          share: calls.map(([open, guarded]) => open.cpuUs / guarded.cpuUs),
          echoUs: echoes.map(([, guarded]) => guarded.cpuUs),
          echoShare: echoes.map(([open, guarded]) => open.cpuUs / guarded.cpuUs),
        },
      };
    } finally {
      await client.close();
    }
  },
};

/** Without guards, and with. */
const both = /** @type {const} */ ([0, 1]);
