// Open event streams: what one holds, and how long one change takes to reach them all.
import { HttpClient } from '../lib/http-client.mjs';
import { sleep } from '../lib/process.mjs';

/** The fastest counts: the code of a server is only compiled after some tens of changes. */
const changes = 40;

/** @type {import('../lib/suite.mjs').Suite} */
export const streams = {
  id: 'streams',
  title: 'Open streams',
  note: 'GET streams in the handshake era, subscriptions/listen in the stateless one. The fastest of 40 changes; times include the reading side.',
  transport: 'http',
  rounds: 2,
  columns: [
    { label: 'heap KB/stream', metric: 'heapKb', pick: 'min', digits: 1 },
    { label: 'RSS KB/stream', metric: 'rssKb', pick: 'min', digits: 1 },
    { label: 'change to all ms', metric: 'fanOutMs', pick: 'min', digits: 1 },
    { label: 'of bare', metric: 'fanOutMs', pick: 'min', to: 'bare', as: 'share' },
    { label: 'CPU ms', metric: 'fanOutCpuMs', pick: 'min', digits: 1 },
  ],
  admits: ({ streams: has }) => has === true,

  async measure(contestant, era, { streams: count }) {
    const client = await HttpClient.open(contestant, era);
    try {
      const sessions = await client.openSessions(count);
      await client.check('calculate', sessions[0]);
      const heldBefore = await client.heldBytes();
      const rssBefore = client.rssMb;
      const streams = await client.openStreams(count, sessions);
      await sleep(200);
      const heldAfter = await client.heldBytes();
      const rssAfter = client.rssMb;
      const times = [];
      for (let n = 0; n < changes; n++) times.push(await client.fanOut(streams));
      for (const stream of streams) stream.close();
      return {
        revision: client.revision,
        figures: {
          heapKb: (heldAfter - heldBefore) / 1024 / count,
          rssKb: ((rssAfter - rssBefore) * 1024) / count,
          fanOutMs: Math.min(...times.map(({ ms }) => ms)),
          fanOutCpuMs: Math.min(...times.map(({ cpuMs }) => cpuMs)),
        },
      };
    } finally {
      await client.close();
    }
  },
};
