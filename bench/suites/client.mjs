// Clients instead of servers: what a call costs the one who makes it, against the same bare server.
import { runClient } from '../lib/client-job.mjs';

const inFlight = 64;
const slices = 5;

/** @typedef {{ revision: string, taken: { cpuUs: number, perSec: number }[] }} Load  what clients/load.mjs prints */

/** @type {import('../lib/suite.mjs').Suite} */
export const client = {
  id: 'client',
  title: 'Calls from the client',
  note: `CPU of the client per call, ${inFlight} in flight, against the bare server, which is the same for all. Every client has
listed the tools before, checks what its documentation says it checks, and calls a tool with three arguments.`,
  transport: 'client',
  who: 'client',
  rounds: 3,
  columns: [
    { label: 'stdio CPU µs', metric: 'stdioUs', pick: 'min', digits: 1 },
    { label: 'vs old SDK', metric: 'stdioUs', pick: 'min', to: 'sdk-old', as: 'times' },
    { label: 'vs new SDK', metric: 'stdioUs', pick: 'min', to: 'sdk-new', as: 'times' },
    { label: 'calls/s', metric: 'stdioPerSec', pick: 'max' },
    { label: 'HTTP CPU µs', metric: 'httpUs', pick: 'min', digits: 1 },
    { label: 'vs old SDK', metric: 'httpUs', pick: 'min', to: 'sdk-old', as: 'times' },
    { label: 'vs new SDK', metric: 'httpUs', pick: 'min', to: 'sdk-new', as: 'times' },
    { label: 'calls/s', metric: 'httpPerSec', pick: 'max' },
  ],

  async measure({ id }, era, { ms, warmMs }) {
    const job = { client: id, era, ms: ms * 2, warmMs: warmMs * 2, inFlight, slices };
    const patienceMs = 120_000;
    /** @type {Load} */
    const stdio = await runClient('load.mjs', { ...job, transport: 'stdio' }, patienceMs);
    /** @type {Load} */
    const http = await runClient('load.mjs', { ...job, transport: 'http' }, patienceMs);
    return {
      revision: stdio.revision,
      figures: {
        stdioUs: stdio.taken.map(({ cpuUs }) => cpuUs),
        stdioPerSec: stdio.taken.map(({ perSec }) => perSec),
        httpUs: http.taken.map(({ cpuUs }) => cpuUs),
        httpPerSec: http.taken.map(({ perSec }) => perSec),
      },
    };
  },
};
