// The ready-made servers from spawn to the first answer, as a client starts them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startColumns } from '../lib/start-columns.mjs';
import { StdioClient } from '../lib/stdio-client.mjs';

/** @type {import('../lib/suite.mjs').Suite} */
export const profiles = {
  id: 'profiles',
  title: 'Start of the ready-made servers',
  note: 'Milliseconds from spawn of `mooring serve …` to the first answer, and the CPU time spent until then.',
  transport: 'profiles',
  rounds: 15,
  columns: startColumns('first answer'),

  async measure(contestant, era) {
    // No configuration and no data, as on the first day. Made here, so that no server spends time on it.
    const folder = mkdtempSync(join(tmpdir(), 'mooring-bench-'));
    try {
      const client = await StdioClient.open(contestant, era, {
        env: { XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
      });
      const figures = { ms: client.startMs, cpuMs: client.cpuMicros / 1000, rssMb: client.rssMb };
      await client.end();
      return { revision: client.revision, figures };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
