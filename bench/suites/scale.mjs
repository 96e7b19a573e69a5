// Several processes: what the bus adds to a call, and what a second worker adds to the throughput.
import { HttpClient } from '../lib/http-client.mjs';
import { serverCores } from '../lib/process.mjs';
import { inSlices } from '../lib/suite.mjs';

/** @type {import('../lib/suite.mjs').Suite} */
export const scale = {
  id: 'scale',
  title: 'Several processes',
  note: `\`mooring serve --http\` at 64 connections: CPU of all its processes per answer, and answers per second. The servers have
${serverCores === 1 ? 'one core, so a second worker can add nothing here: only the CPU per call can be compared' : `${serverCores} cores, the load has another one`}. With Redis, that of the same machine is not counted.`,
  transport: 'scale',
  rounds: 3,
  columns: [
    { label: 'call CPU µs', metric: 'cpuUs', pick: 'min', digits: 1 },
    { label: 'calls/s', metric: 'perSec', pick: 'max' },
    { label: 'of one process', metric: 'perSec', pick: 'max', to: 'mooring', as: 'times', digits: 2 },
    { label: 'RSS MB, all processes', metric: 'rssMb', pick: 'min', digits: 0 },
  ],

  async measure(contestant, era, { ms, warmMs }) {
    const client = await HttpClient.open(contestant, era);
    try {
      const sessions = await client.openSessions(64);
      await client.checkValidation(sessions[0]);
      await client.load('calculate', { connections: 64, ms: warmMs * 2, sessions });
      const slices = await inSlices(ms * 2, (forMs) =>
        client.load('calculate', { connections: 64, ms: forMs, sessions }),
      );
      return {
        revision: client.revision,
        figures: {
          cpuUs: slices.map(({ cpuUs }) => cpuUs),
          perSec: slices.map(({ perSec }) => perSec),
          rssMb: client.rssMb,
        },
      };
    } finally {
      // Not by a signal: it has to end the program that it has started.
      await client.end();
    }
  },
};
