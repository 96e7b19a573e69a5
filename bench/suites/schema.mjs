// What generated code for schemas earns: a call with eight arguments over stdio, with it and without it.
import { StdioClient } from '../lib/stdio-client.mjs';
import { inSlices } from '../lib/suite.mjs';

/** @type {import('../lib/suite.mjs').Suite} */
export const schema = {
  id: 'schema',
  title: 'Generated code for schemas',
  note: `Server CPU per answer over stdio, 256 requests in flight, for a tool with eight arguments, one of them an object. The
second server is the same as the first: no figure is more precise than their difference. The third may not generate code
(\`--disallow-code-generation-from-strings\`).`,
  transport: 'schema',
  rounds: 6,
  columns: [
    { label: 'call CPU µs', metric: 'cpuUs', pick: 'min', digits: 2 },
    { label: 'of generated', metric: 'cpuUs', pick: 'min', to: 'mooring', as: 'share', digits: 1 },
    { label: 'median', metric: 'cpuUs', pick: 'median', digits: 2 },
    { label: 'of generated', metric: 'cpuUs', pick: 'median', to: 'mooring', as: 'share', digits: 1 },
  ],

  async measure(contestant, era, { ms, warmMs }) {
    const client = await StdioClient.open(contestant, era, { nodeArgs: contestant.nodeArgs });
    try {
      await client.load('createIssue', { inFlight: 256, ms: warmMs });
      const taken = await inSlices(ms, (slice) => client.load('createIssue', { inFlight: 256, ms: slice }));
      return { revision: client.revision, figures: { cpuUs: taken.map(({ cpuUs }) => cpuUs) } };
    } finally {
      await client.close();
    }
  },
};
