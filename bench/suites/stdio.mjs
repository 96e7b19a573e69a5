// Calls over stdio: a tiny tools/call many at a time and one by one, a 100 KB echo, and a list of 100 tools.

import { quantile } from '../lib/stats.mjs';
import { StdioClient } from '../lib/stdio-client.mjs';
import { inSlices } from '../lib/suite.mjs';
import { listLength } from '../lib/wire.mjs';

/** @type {import('../lib/suite.mjs').Suite} */
export const stdio = {
  id: 'stdio',
  title: 'Calls over stdio',
  note: `Server CPU per answer; 256 requests in flight for calls, 16 for echo and list. Shares and factors compare CPU. Tiny
answers gain by coalesced writes and long ones lose by them, so each is held against the faster bare script.`,
  transport: 'stdio',
  // It matters to the start only.
  admits: ({ compileCache }) => compileCache !== true,
  rounds: 3,
  columns: [
    { label: 'call CPU µs', metric: 'cpuUs', pick: 'min', digits: 1 },
    { label: 'calls/s', metric: 'perSec', pick: 'max' },
    { label: 'of coalesced', metric: 'cpuUs', pick: 'min', to: 'bare-coalesced', as: 'share' },
    { label: 'vs old SDK', metric: 'cpuUs', pick: 'min', to: 'sdk-old', as: 'times' },
    { label: 'vs new SDK', metric: 'cpuUs', pick: 'min', to: 'sdk-new', as: 'times' },
    { label: 'one by one p50 µs', metric: 'p50Us', pick: 'min' },
    { label: '100 KB echo CPU µs', metric: 'echoUs', pick: 'min' },
    { label: 'of bare', metric: 'echoUs', pick: 'min', to: 'bare', as: 'share' },
    { label: 'list CPU µs', metric: 'listUs', pick: 'min' },
    { label: 'of bare', metric: 'listUs', pick: 'min', to: 'bare', as: 'share' },
  ],

  async measure(contestant, era, effort) {
    const { ms, warmMs } = effort;
    const client = await StdioClient.open(contestant, era);
    try {
      if (!contestant.bare) await client.checkValidation();
      await client.load('calculate', { inFlight: 256, ms: warmMs });
      const many = await inSlices(ms, (slice) => client.load('calculate', { inFlight: 256, ms: slice }));
      const single = await inSlices(ms, (slice) => client.load('calculate', { inFlight: 1, ms: slice }));
      await client.load('echo', { inFlight: 16, ms: warmMs / 4 });
      const echo = await inSlices(ms, (slice) => client.load('echo', { inFlight: 16, ms: slice }));
      const list = await measureList(contestant, era, effort);
      return {
        revision: client.revision,
        figures: {
          cpuUs: many.map(({ cpuUs }) => cpuUs),
          perSec: many.map(({ perSec }) => perSec),
          p50Us: single.map(({ latencies }) => quantile(latencies, 0.5) * 1000),
          echoUs: echo.map(({ cpuUs }) => cpuUs),
          listUs: list.map(({ cpuUs }) => cpuUs),
        },
      };
    } finally {
      await client.close();
    }
  },
};

/** A server of its own, so that a long catalog weighs on no other figure. @type {import('../lib/suite.mjs').Measure<{ cpuUs: number }[]>} */
async function measureList(contestant, era, { ms, warmMs }) {
  const client = await StdioClient.open(contestant, era, { env: { BENCH_TOOLS: String(listLength) } });
  try {
    await client.load('list', { inFlight: 16, ms: warmMs / 2 });
    return await inSlices(ms, (slice) => client.load('list', { inFlight: 16, ms: slice }));
  } finally {
    await client.close();
  }
}
