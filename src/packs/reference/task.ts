// long_running_task: takes a while, reports its progress, and can be cancelled. Clients with tasks get a task.

import { UserError } from '../../common/user-error.ts';
import { pause } from '../../common/wait.ts';
import type { Server } from '../../engine/server.ts';

const defaultSteps = 5;
const defaultDelaySeconds = 0.5;
const maxSteps = 1_000;
const maxDelaySeconds = 60;
/** The longest duration of a call: stops forgotten calls from piling up. */
const maxSeconds = 300;

export function installTask(server: Server): void {
  server.tool('long_running_task', {
    description: 'Demo tool that shows progress notifications',
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: {
      type: 'object',
      properties: {
        steps: { type: 'integer', description: 'Number of steps (default: 5)', minimum: 1, maximum: maxSteps },
        delay: {
          type: 'number',
          description: 'Delay per step in seconds (default: 0.5)',
          minimum: 0,
          maximum: maxDelaySeconds,
        },
      },
      required: [],
    } as const,
    task: 'optional',
    // A little more than the arguments allow, so that the longest allowed call still ends successfully.
    timeoutMs: (maxSeconds + 60) * 1000,
    run: async ({ steps = defaultSteps, delay = defaultDelaySeconds }, ctx) => {
      if (steps * delay > maxSeconds) {
        throw new UserError(
          `steps × delay is ${steps * delay} seconds; at most ${maxSeconds} are allowed. Ask for less.`,
        );
      }
      for (let step = 1; step <= steps; step++) {
        await pause(delay * 1000, ctx.signal);
        await ctx.progress(step, steps, `Step ${step} of ${steps}`);
      }
      return `Completed ${steps} ${steps === 1 ? 'step' : 'steps'}`;
    },
  });
}
