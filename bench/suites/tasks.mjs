// Tasks: polling one that runs, next to a trivial call of the same server, and creating many that end at once.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StdioClient } from '../lib/stdio-client.mjs';
import { inSlices } from '../lib/suite.mjs';
import { calls, request, withTasks } from '../lib/wire.mjs';

/** @type {import('../lib/suite.mjs').Suite} */
export const tasks = {
  id: 'tasks',
  title: 'Tasks',
  note: `Server CPU per answer over stdio, 256 requests in flight: a trivial \`tools/call\`, \`tasks/get\` of a task that runs
in this process, and a \`tools/call\` that creates a task which ends at once (64 in flight, stored on disk in the second row).`,
  transport: 'tasks',
  rounds: 3,
  columns: [
    { label: 'call CPU µs', metric: 'callUs', pick: 'min', digits: 1 },
    { label: 'tasks/get CPU µs', metric: 'getUs', pick: 'min', digits: 1 },
    { label: 'times a call', metric: 'ratio', pick: 'min', digits: 2 },
    { label: 'task CPU µs', metric: 'taskUs', pick: 'min' },
    { label: 'tasks/s', metric: 'tasksPerSec', pick: 'max' },
  ],

  async measure(contestant, era, { ms, warmMs }) {
    const folder = mkdtempSync(join(tmpdir(), 'mooring-bench-'));
    const env = contestant.id === 'sqlite' ? { BENCH_DATA: folder } : {};
    const client = await StdioClient.open(contestant, era, { env });
    try {
      const params = { name: 'wait', arguments: {}, ...withTasks };
      const { result } = await client.ask(request(era, 'w', 'tools/call', params));
      calls.getTask.params = { taskId: result.taskId, ...withTasks };
      await client.load('calculate', { inFlight: 256, ms: warmMs });
      await client.load('getTask', { inFlight: 256, ms: warmMs });
      const called = await inSlices(ms, (slice) => client.load('calculate', { inFlight: 256, ms: slice }));
      const got = await inSlices(ms, (slice) => client.load('getTask', { inFlight: 256, ms: slice }));
      await client.load('createTask', { inFlight: 64, ms: warmMs / 8 });
      const made = await client.load('createTask', { inFlight: 64, ms: ms / 4 });
      const least = (/** @type {{ cpuUs: number }[]} */ all) => Math.min(...all.map(({ cpuUs }) => cpuUs));
      assert.ok(made.calls > 0);
      return {
        revision: client.revision,
        figures: {
          callUs: least(called),
          getUs: least(got),
          ratio: least(got) / least(called),
          taskUs: made.cpuUs,
          tasksPerSec: made.perSec,
        },
      };
    } finally {
      await client.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
