// From spawn to the first answer, to the first tool result, and the memory held then.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '../lib/process.mjs';
import { StdioClient } from '../lib/stdio-client.mjs';

/** @type {import('../lib/suite.mjs').Suite} */
export const start = {
  id: 'start',
  title: 'Start over stdio',
  note: 'Milliseconds from spawn to the first answer and to the first tool result; memory settled after the first answer.',
  transport: 'stdio',
  rounds: 15,
  columns: [
    { label: 'first answer, best', metric: 'ms', pick: 'min', digits: 1 },
    { label: 'above bare', metric: 'ms', pick: 'min', digits: 1, to: 'bare', as: 'above' },
    { label: 'median', metric: 'ms', pick: 'median', digits: 1 },
    { label: 'above bare', metric: 'ms', pick: 'median', digits: 1, to: 'bare', as: 'above' },
    { label: 'CPU ms', metric: 'cpuMs', pick: 'min', digits: 1 },
    { label: 'above bare', metric: 'cpuMs', pick: 'min', digits: 1, to: 'bare', as: 'above' },
    { label: 'first call, best', metric: 'callMs', pick: 'min', digits: 1 },
    { label: 'above bare', metric: 'callMs', pick: 'min', digits: 1, to: 'bare', as: 'above' },
    { label: 'RSS MB', metric: 'rssMb', pick: 'median', digits: 1 },
    { label: 'above bare', metric: 'rssMb', pick: 'median', digits: 1, to: 'bare', as: 'above' },
  ],

  async measure(asListed, era) {
    const contestant = asListed.compileCache ? await withStoredCode(asListed, era) : asListed;
    const client = await StdioClient.open(contestant, era);
    try {
      const cpuMs = client.cpuMicros / 1000;
      const begun = performance.now();
      await client.check('calculate');
      const callMs = client.startMs + performance.now() - begun;
      return {
        revision: client.revision,
        figures: { ms: client.startMs, cpuMs, callMs, rssMb: await settledRss(contestant, era) },
      };
    } finally {
      await client.close();
    }
  },
};

/** @type {Map<string, string>} */
const folders = new Map();
process.on('exit', () => {
  for (const folder of folders.values()) rmSync(folder, { recursive: true, force: true });
});

/**
 * As it is from the second start on: an earlier process has answered, called a tool and ended, which is when Node.js stores the code.
 * @param {import('../contestants.mjs').Contestant} contestant @param {import('../contestants.mjs').Era} era
 */
async function withStoredCode(contestant, era) {
  const stored = folders.get(era);
  const folder = stored ?? mkdtempSync(join(tmpdir(), 'mooring-bench-'));
  const cached = { ...contestant, env: { ...contestant.env, NODE_COMPILE_CACHE: folder } };
  if (stored !== undefined) return cached;
  folders.set(era, folder);
  const client = await StdioClient.open(cached, era);
  await client.check('calculate');
  await client.end();
  return cached;
}

/** A second process that is asked nothing more, so that the first call cannot weigh on the memory of the start. */
async function settledRss(
  /** @type {import('../contestants.mjs').Contestant} */ contestant,
  /** @type {import('../contestants.mjs').Era} */ era,
) {
  const client = await StdioClient.open(contestant, era);
  try {
    await sleep(150);
    return client.rssMb;
  } finally {
    await client.close();
  }
}
