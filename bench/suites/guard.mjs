// What guards cost: calls over HTTP with a rate limit and an audit log on, next to the same server without.
import { contestants } from '../contestants.mjs';
import { HttpClient } from '../lib/http-client.mjs';

/** @typedef {{ revision: string, figures: Record<string, number[]> }} Taken */

/** How often the servers take turns: what disturbs one slice seldom disturbs all of its kind. */
const turns = 8;

/** What was measured together and is asked for one by one. @type {Map<string, Taken>} */
const taken = new Map();

/** @type {import('../lib/suite.mjs').Suite} */
export const guard = {
  id: 'guard',
  title: 'Guards',
  note: `Server CPU per answer over HTTP at 64 connections (16 for echo), writing of the audit log included; the servers share a
process and take turns. The tiny call does nothing at all, so every microsecond of a guard shows.`,
  transport: 'guard',
  rounds: 3,
  columns: [
    { label: 'call CPU µs', metric: 'cpuUs', pick: 'min' },
    { label: 'calls/s', metric: 'perSec', pick: 'max' },
    { label: 'of unguarded', metric: 'cpuUs', pick: 'min', to: 'mooring', as: 'share' },
    { label: '100 KB echo CPU µs', metric: 'echoUs', pick: 'min' },
    { label: 'of unguarded', metric: 'echoUs', pick: 'min', to: 'mooring', as: 'share' },
  ],

  async measure({ id }, era, effort) {
    const key = `${era} ${id}`;
    if (!taken.has(key))
      for (const [one, figures] of await measureAll(era, effort)) taken.set(`${era} ${one}`, figures);
    const mine = /** @type {Taken} */ (taken.get(key));
    taken.delete(key);
    return mine;
  },
};

/** @param {import('../contestants.mjs').Era} era @param {import('../lib/suite.mjs').Effort} effort */
async function measureAll(era, { ms, warmMs }) {
  const client = await HttpClient.open(contestants.guard[0], era);
  try {
    const servers = [];
    for (const { id } of contestants.guard) {
      client.turnTo(id);
      const sessions = await client.openSessions(64);
      await client.checkValidation(sessions[0]);
      servers.push({ id, sessions, figures: { cpuUs: [], perSec: [], echoUs: [] } });
    }
    /** @param {'calculate' | 'echo'} call @param {number} connections @param {number} forMs */
    const everybody = async (call, connections, forMs) => {
      const found = [];
      for (const { id, sessions } of servers) {
        client.turnTo(id);
        found.push(await client.load(call, { connections, ms: forMs, sessions }));
      }
      return found;
    };
    await everybody('calculate', 64, warmMs);
    for (let turn = 0; turn < turns; turn++) {
      const found = await everybody('calculate', 64, ms / 2);
      found.forEach(({ cpuUs, perSec }, n) => {
        servers[n].figures.cpuUs.push(cpuUs);
        servers[n].figures.perSec.push(perSec);
      });
    }
    await everybody('echo', 16, warmMs / 4);
    for (let turn = 0; turn < turns; turn++) {
      const found = await everybody('echo', 16, ms / 4);
      found.forEach(({ cpuUs }, n) => {
        servers[n].figures.echoUs.push(cpuUs);
      });
    }
    return servers.map(({ id, figures }) => /** @type {const} */ ([id, { revision: client.revision, figures }]));
  } finally {
    await client.close();
  }
}
