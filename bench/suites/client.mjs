// Clients instead of servers: what a call costs the one who makes it, against the same bare server.
import { fileURLToPath } from 'node:url';
import { launch, stop, within } from '../lib/process.mjs';

const loadScript = fileURLToPath(new URL('../clients/load.mjs', import.meta.url));
const inFlight = 64;
const slices = 5;

/** @type {import('../lib/suite.mjs').Suite} */
export const client = {
  id: 'client',
  title: 'Calls from the client',
  note: `CPU of the client per call, ${inFlight} in flight, against the bare server, which is the same for all. Every client has
listed the tools before, checks what its documentation says it checks, and calls a tool with three arguments.`,
  transport: 'client',
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

  async measure(contestant, era, effort) {
    const stdio = await load(contestant, era, effort, 'stdio');
    const http = await load(contestant, era, effort, 'http');
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

/**
 * Runs one client and reads what it says.
 * @param {import('../contestants.mjs').Contestant} contestant @param {import('../contestants.mjs').Era} era
 * @param {import('../lib/suite.mjs').Effort} effort @param {'stdio' | 'http'} transport
 * @returns {Promise<{ revision: string, taken: { cpuUs: number, perSec: number }[] }>}
 */
async function load({ id }, era, { ms, warmMs }, transport) {
  const job = JSON.stringify({ client: id, transport, era, ms, warmMs, inFlight, slices });
  const child = launch(loadScript, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { BENCH_JOB: job },
    nodeArgs: ['--no-warnings'],
  });
  try {
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    await within(new Promise((gone) => child.once('close', gone)), ms + warmMs + 120_000, `${id} did not finish`);
    if (said === '') throw new Error(`${id} over ${transport} printed nothing`);
    return JSON.parse(said);
  } finally {
    await stop(child);
  }
}
