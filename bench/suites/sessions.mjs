// What an initialized session costs while it is not used, and what many of them cost the others.
import { HttpClient } from '../lib/http-client.mjs';
import { sleep } from '../lib/process.mjs';

/** @type {import('../lib/suite.mjs').Suite} */
export const sessions = {
  id: 'sessions',
  title: 'Idle HTTP sessions',
  note: 'Memory per idle session after a collection, and calls before and after the sessions were opened.',
  transport: 'http',
  rounds: 2,
  columns: [
    { label: 'heap KB/session', metric: 'heapKb', pick: 'min', digits: 2 },
    { label: 'RSS KB/session', metric: 'rssKb', pick: 'min', digits: 1 },
    { label: 'opened/s', metric: 'openedPerSec', pick: 'max' },
    { label: 'CPU µs with 64', metric: 'fewUs', pick: 'min' },
    { label: 'CPU µs with all', metric: 'manyUs', pick: 'min' },
    { label: 'slower by', metric: 'slowdown', pick: 'min', digits: 2 },
  ],
  admits: ({ shape, id }, era) => era === 'handshake' && (shape === 'json' || id === 'mcp-lite'),

  async measure(contestant, era, { ms, warmMs, sessions: count }) {
    const client = await HttpClient.open(contestant, era);
    try {
      const few = await client.openSessions(64);
      await client.load('calculate', { connections: 64, ms: warmMs * 2, sessions: few });
      const before = await client.load('calculate', { connections: 64, ms: ms * 2, sessions: few });
      const heldBefore = await client.heldBytes();
      const rssBefore = client.rssMb;
      const begun = performance.now();
      const many = await client.openSessions(count);
      const seconds = (performance.now() - begun) / 1000;
      await sleep(200);
      const heldAfter = await client.heldBytes();
      const rssAfter = client.rssMb;
      // The collection threw compiled code away as well; let it settle again before it counts.
      await client.load('calculate', { connections: 64, ms: warmMs * 2, sessions: many });
      const after = await client.load('calculate', { connections: 64, ms: ms * 2, sessions: many });
      return {
        revision: client.revision,
        figures: {
          heapKb: (heldAfter - heldBefore) / 1024 / count,
          rssKb: ((rssAfter - rssBefore) * 1024) / count,
          openedPerSec: count / seconds,
          fewUs: before.cpuUs,
          manyUs: after.cpuUs,
          slowdown: after.cpuUs / before.cpuUs - 1,
        },
      };
    } finally {
      await client.close();
    }
  },
};
