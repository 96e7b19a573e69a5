// Our client with the tasks of the reference server (2025-11-25): a tool that requires a task and asks for input in it.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Client, connect } from '../../src/client/index.ts';
import { freePort, type Listening, startListening } from './third-party.ts';

const require = createRequire(import.meta.url);
const everything = join(
  dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist/index.js',
);
const tool = 'simulate-research-query';

const started: Listening[] = [];
afterAll(() => {
  for (const each of started) each.close();
});

const targets: Record<string, () => Promise<string | string[]>> = {
  stdio: async () => ['node', everything, 'stdio'],
  HTTP: async () => {
    const port = await freePort();
    const server = [everything, 'streamableHttp'];
    started.push(await startListening(server, { PORT: String(port) }, /(running|listening) on port/i));
    return `http://127.0.0.1:${port}/mcp`;
  },
};

// They mostly wait.
describe.concurrent.each(Object.entries(targets))('the reference server over %s', (_name, open) => {
  const using = async (work: (client: Client) => Promise<void>): Promise<void> => {
    const client = await connect(await open(), {
      handlers: { elicit: () => ({ action: 'accept', content: { interpretation: 'snake' } }) },
    });
    try {
      await work(client);
    } finally {
      await client.close();
    }
  };

  test('a tool that requires a task is called like any other', { timeout: 60_000 }, () =>
    using(async (client) => {
      const statuses: string[] = [];
      const result = await client.callTool(
        tool,
        { topic: 'python', ambiguous: true },
        { onTask: (task) => task.onChange(({ status }) => statuses.push(status)) },
      );
      expect(JSON.stringify(result.content)).toContain('Research Report: python (snake)');
      expect(statuses).toContain('input_required');
      expect(statuses.at(-1)).toBe('completed');
    }),
  );

  test('a task is started, listed, attached and cancelled', { timeout: 60_000 }, () =>
    using(async (client) => {
      const task = await client.tasks.start(tool, { topic: 'harbours' }, { ttlMs: 60_000 });
      expect(task.status).toBe('working');
      expect((await client.tasks.list()).map(({ taskId }) => taskId)).toContain(task.id);
      const attached = await client.tasks.attach(task.id as string);
      await attached.cancel();
      await expect(task.wait()).rejects.toMatchObject({ code: 'task-cancelled' });
      await expect(client.tasks.attach('no-such-task')).rejects.toMatchObject({ code: 'task-gone' });
    }),
  );
});
