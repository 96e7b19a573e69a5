// Tools that run as tasks, under the names and with the behaviour that the official conformance suite expects.

import { elicit } from '../../engine/input-requests/input-request.ts';
import type { Server } from '../../engine/server.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { fieldOf } from './input-required.ts';

const text = (field: string) =>
  ({ type: 'object', properties: { [field]: { type: 'string' } }, required: [field] }) as const;
const confirmation = {
  type: 'object',
  properties: { confirm: { type: 'boolean' } },
  required: ['confirm'],
} as const;

/** Waits, and rejects when the task is cancelled. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

export function installTasks(server: Server): void {
  server.tool('greet', {
    description: 'Greets at once; never a task',
    input: { type: 'object', properties: { name: { type: 'string' } } },
    run: ({ name }) => `Hello, ${name ?? 'World'}!`,
  });
  server.tool('slow_compute', {
    description: 'Computes for some seconds',
    input: {
      type: 'object',
      properties: { seconds: { type: 'number', minimum: 0, maximum: 3600 }, label: { type: 'string' } },
    },
    task: { start: 'on-detach' },
    timeoutMs: 0,
    run: async ({ seconds = 1, label = 'result' }, ctx) => {
      if (seconds > 0) await ctx.detach();
      for (let second = 0; second < seconds; second++) {
        await ctx.progress(second, seconds, `${second} of ${seconds} seconds`);
        await sleep(Math.min(1, seconds - second) * 1_000, ctx.signal);
      }
      return `${label}: computed for ${seconds} seconds`;
    },
  });
  server.tool('failing_job', {
    description: 'Fails after a second; only runs as a task',
    task: 'required',
    run: async (_args, ctx) => {
      await sleep(1_000, ctx.signal);
      return { content: [{ type: 'text', text: 'The job failed, as intended' }], isError: true };
    },
  });
  server.tool('protocol_error_job', {
    description: 'Ends with an error of the protocol',
    task: { start: 'immediately' },
    run: () => {
      throw wireErrors.failed('The job ended with an error of the protocol, as intended');
    },
  });
  server.tool('confirm_delete', {
    description: 'Asks before it pretends to delete a file',
    input: { type: 'object', properties: { filename: { type: 'string' } }, required: ['filename'] },
    task: { start: 'immediately' },
    run: async ({ filename }, ctx) => {
      const answer = await ctx.requestInput('confirm', elicit(`Delete ${filename}?`, confirmation));
      return fieldOf(answer, 'confirm') === 'true' ? `Deleted ${filename}` : `Kept ${filename}`;
    },
  });
  server.tool('multi_input', {
    description: 'Asks for two things at once',
    task: { start: 'immediately' },
    run: async (_args, ctx) => {
      const { own, other } = await ctx.requestInputs({
        own: elicit('What is your name?', text('name')),
        other: elicit('What is the name of your friend?', text('name')),
      });
      return `${fieldOf(own, 'name')} and ${fieldOf(other, 'name')}`;
    },
  });
  server.tool('test_tool_with_task', {
    description: 'Asks for a name, then continues as a task',
    task: { support: 'required', start: 'on-detach' },
    run: async (_args, ctx) => {
      const answer = await ctx.requestInput('user_name', elicit('What is your name?', text('name')));
      await ctx.detach();
      await sleep(100, ctx.signal);
      return `Hello, ${fieldOf(answer, 'name')}!`;
    },
  });
}
