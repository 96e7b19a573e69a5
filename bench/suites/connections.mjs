// Clients that come and go: what a connection costs from start to end, and what a thousand of them leave behind.
import { runClient } from '../lib/client-job.mjs';

/** @typedef {{ revision: string, cpuMs: number, heapKb: number, descriptors: number, children: number }} Rounds  what clients/rounds.mjs prints */

/** @type {import('../lib/suite.mjs').Suite} */
export const connections = {
  id: 'connections',
  title: 'Clients that connect and close',
  note: `A client connects, calls once and closes, 1,000 times over; CPU of the client per round, and what its process has more
of afterwards: heap, open descriptors, child processes. Over stdio every round starts a server of a few lines of shell.`,
  transport: 'client',
  who: 'client',
  rounds: 1,
  columns: [
    { label: 'stdio CPU ms', metric: 'stdioMs', pick: 'min', digits: 2 },
    { label: 'heap KB', metric: 'stdioHeapKb', pick: 'min' },
    { label: 'descriptors', metric: 'stdioDescriptors', pick: 'max' },
    { label: 'children', metric: 'stdioChildren', pick: 'max' },
    { label: 'HTTP CPU ms', metric: 'httpMs', pick: 'min', digits: 2 },
    { label: 'heap KB', metric: 'httpHeapKb', pick: 'min' },
    { label: 'descriptors', metric: 'httpDescriptors', pick: 'max' },
  ],

  async measure({ id }, era, { connections: rounds }) {
    const job = { client: id, era, rounds };
    /** @type {Rounds} */
    const stdio = await runClient('rounds.mjs', { ...job, transport: 'stdio' }, 300_000);
    /** @type {Rounds} */
    const http = await runClient('rounds.mjs', { ...job, transport: 'http' }, 300_000);
    return {
      revision: stdio.revision,
      figures: {
        stdioMs: stdio.cpuMs,
        stdioHeapKb: stdio.heapKb,
        stdioDescriptors: stdio.descriptors,
        stdioChildren: stdio.children,
        httpMs: http.cpuMs,
        httpHeapKb: http.heapKb,
        httpDescriptors: http.descriptors,
      },
    };
  },
};
