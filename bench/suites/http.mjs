// Calls over Streamable HTTP with 64 keep-alive connections: sessions in the handshake era, none in the stateless one.
import { contestants } from '../contestants.mjs';
import { HttpClient } from '../lib/http-client.mjs';

/** How often a server and the bare one take turns. An even number: each is the second one as often as the other. */
const turns = 6;
const bare = /** @type {import('../contestants.mjs').Contestant} */ (contestants.http.find(({ id }) => id === 'bare'));

/** @type {import('../lib/suite.mjs').Suite} */
export const http = {
  id: 'http',
  title: 'Calls over HTTP',
  note: `Server CPU per answer at 64 connections (16 for echo); handshake revisions use 64 sessions. Factors compare CPU. Shares
are medians of turns: a bare server runs beside each server, and the load goes to one of the two at a time. The share of
the bare server itself is the difference between two equal processes.`,
  transport: 'http',
  rounds: 3,
  columns: [
    { label: 'call CPU µs', metric: 'cpuUs', pick: 'min' },
    { label: 'calls/s', metric: 'perSec', pick: 'max' },
    { label: 'of bare', metric: 'share', pick: 'median', as: 'share' },
    { label: 'vs mcp-lite', metric: 'cpuUs', pick: 'min', to: 'mcp-lite', as: 'times' },
    { label: 'vs old SDK', metric: 'cpuUs', pick: 'min', to: 'sdk-old', as: 'times' },
    { label: 'vs new SDK', metric: 'cpuUs', pick: 'min', to: 'sdk-new', as: 'times' },
    { label: '100 KB echo CPU µs', metric: 'echoUs', pick: 'min' },
    { label: 'of bare', metric: 'echoShare', pick: 'median', as: 'share' },
  ],

  async measure(contestant, era, { ms, warmMs }) {
    /** @type {HttpClient[]} */
    const clients = [];
    /** @type {(string | undefined)[][]} */
    const sessions = [];
    /** @param {'calculate' | 'echo'} call @param {number} connections @param {number} forMs @param {number} turn */
    const inTurn = async (call, connections, forMs, turn) => {
      /** @type {Awaited<ReturnType<HttpClient['load']>>[]} */
      const found = [];
      for (const n of turn % 2 === 0 ? [0, 1] : [1, 0]) {
        found[n] = await clients[n].load(call, { connections, ms: forMs, sessions: sessions[n] });
      }
      return { bare: found[0], own: found[1] };
    };
    try {
      for (const each of [bare, contestant]) {
        const client = await HttpClient.open(each, era);
        clients.push(client);
        sessions.push(await client.openSessions(64));
        if (!each.bare) await client.checkValidation(sessions.at(-1)?.[0]);
      }
      await inTurn('calculate', 64, warmMs * 2, 0);
      const calls = [];
      for (let turn = 0; turn < turns; turn++) calls.push(await inTurn('calculate', 64, (ms * 2) / turns, turn));
      await inTurn('echo', 16, warmMs / 4, 0);
      const echoes = [];
      for (let turn = 0; turn < turns; turn++) echoes.push(await inTurn('echo', 16, ms / turns, turn));
      return {
        revision: clients[1].revision,
        figures: {
          cpuUs: calls.map(({ own }) => own.cpuUs),
          perSec: calls.map(({ own }) => own.perSec),
          share: calls.map((turn) => turn.bare.cpuUs / turn.own.cpuUs),
          echoUs: echoes.map(({ own }) => own.cpuUs),
          echoShare: echoes.map((turn) => turn.bare.cpuUs / turn.own.cpuUs),
        },
      };
    } finally {
      for (const client of clients) await client.close();
    }
  },
};
