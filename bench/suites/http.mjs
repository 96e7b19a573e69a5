// Calls over Streamable HTTP with 64 keep-alive connections: sessions in the handshake era, none in the stateless one.
import { HttpClient } from '../lib/http-client.mjs';
import { inSlices } from '../lib/suite.mjs';

/** @type {import('../lib/suite.mjs').Suite} */
export const http = {
  id: 'http',
  title: 'Calls over HTTP',
  note: 'Server CPU per answer at 64 connections (16 for echo); handshake revisions use 64 sessions. Factors compare CPU.',
  transport: 'http',
  rounds: 3,
  columns: [
    { label: 'call CPU µs', metric: 'cpuUs', pick: 'min' },
    { label: 'calls/s', metric: 'perSec', pick: 'max' },
    { label: 'of bare', metric: 'cpuUs', pick: 'min', to: 'bare', as: 'share' },
    { label: 'vs mcp-lite', metric: 'cpuUs', pick: 'min', to: 'mcp-lite', as: 'times' },
    { label: 'vs old SDK', metric: 'cpuUs', pick: 'min', to: 'sdk-old', as: 'times' },
    { label: 'vs new SDK', metric: 'cpuUs', pick: 'min', to: 'sdk-new', as: 'times' },
    { label: '100 KB echo CPU µs', metric: 'echoUs', pick: 'min' },
    { label: 'of bare', metric: 'echoUs', pick: 'min', to: 'bare', as: 'share' },
  ],

  async measure(contestant, era, { ms, warmMs }) {
    const client = await HttpClient.open(contestant, era);
    try {
      const sessions = await client.openSessions(64);
      if (!contestant.bare) await client.checkValidation(sessions[0]);
      await client.load('calculate', { connections: 64, ms: warmMs * 2, sessions });
      const call = await inSlices(ms * 2, (slice) =>
        client.load('calculate', { connections: 64, ms: slice, sessions }),
      );
      await client.load('echo', { connections: 16, ms: warmMs / 4, sessions });
      const echo = await inSlices(ms, (slice) => client.load('echo', { connections: 16, ms: slice, sessions }));
      return {
        revision: client.revision,
        figures: {
          cpuUs: call.map(({ cpuUs }) => cpuUs),
          perSec: call.map(({ perSec }) => perSec),
          echoUs: echo.map(({ cpuUs }) => cpuUs),
        },
      };
    } finally {
      await client.close();
    }
  },
};
