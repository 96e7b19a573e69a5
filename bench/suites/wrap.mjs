// What `mooring inspect --wrap` costs: the CPU of the relay, next to the server that it relays.
import { StdioClient } from '../lib/stdio-client.mjs';

const perSec = 1_000;

/** @type {import('../lib/suite.mjs').Suite} */
export const wrap = {
  id: 'wrap',
  title: 'inspect --wrap',
  note: `CPU per message of the process alone, requests and responses counted alike: 256 calls in flight, ${perSec.toLocaleString('en-US')} calls per
second, and one by one. The bare script reads and writes as often as the relay does for one message of each call; where
messages come one by one, most of the CPU is that of the system's reads and writes.`,
  transport: 'wrap',
  rounds: 5,
  columns: [
    { label: '256 in flight µs', metric: 'manyUs', pick: 'min', digits: 1 },
    { label: '1,000 calls/s µs', metric: 'pacedUs', pick: 'min', digits: 1 },
    { label: 'one by one µs', metric: 'singleUs', pick: 'min', digits: 1 },
  ],

  async measure(contestant, era, { ms, warmMs }) {
    const client = await StdioClient.open(contestant, era);
    try {
      await client.load('calculate', { inFlight: 256, ms: warmMs * 2 });
      const many = await client.load('calculate', { inFlight: 256, ms });
      await client.load('calculate', { inFlight: 10, ms: warmMs, perSec });
      const paced = await client.load('calculate', { inFlight: 10, ms: ms * 3, perSec });
      const single = await client.load('calculate', { inFlight: 1, ms });
      const figures = { manyUs: many.cpuUs / 2, pacedUs: paced.cpuUs / 2, singleUs: single.cpuUs / 2 };
      return { revision: client.revision, figures };
    } finally {
      await client.close();
    }
  },
};
