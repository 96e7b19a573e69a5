// Tasks in a durable store, of a server with a key: the file does not show what they contain, and another key does not run
// them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/engine/server.ts';
import { connectSqlite } from '../../src/stores/sqlite/driver.ts';
import { openDataFolder } from '../../src/stores/sqlite/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { TestClient } from '../support/test-client.ts';

const capabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const keys = ['q3+Zr8Wq0sYw7vJ1mB5tKx2LhPd9uFgC6eNaRiTzVbE=', 'Zm8vYmFyL2Jhei9xdXgvMTIzNDU2Nzg5MC9hYmNkZWZn'];

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server on a folder, and a client. */
async function start(folder: string, key: string | undefined): Promise<{ server: Server; client: TestClient }> {
  const data = await openDataFolder(folder, { pollMs: 5 });
  closing.push(() => data.close());
  const server = createServer({
    name: 'secret',
    version: '1.0.0',
    logger: false,
    tasks: { store: data.tasks, limits: { suspendAfterMs: 1 } },
    ...(key === undefined ? {} : { key }),
  });
  closing.push(() => server.close());
  server.tool('ask', {
    description: 'Asks and answers',
    input: { type: 'object', properties: { secret: { type: 'string' } } },
    task: { support: 'required', recover: 'replay' },
    run: async (args, ctx) => {
      await ctx.step('step', () => `step of ${(args as { secret: string }).secret}`);
      const form = { type: 'object', properties: { name: { type: 'string' } } } as const;
      const answer = await ctx.elicit('Name of the topsecret?', form, { key: 'name' });
      return `outcome ${JSON.stringify(answer)}`;
    },
  });
  await server.prepare();
  return { server, client: new TestClient(server) };
}

async function until(client: TestClient, taskId: string, status: string) {
  for (;;) {
    const { result } = await client.stateless('tasks/get', { taskId }, capabilities);
    if (result.status === status) return result;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function created(client: TestClient): Promise<string> {
  const params = { name: 'ask', arguments: { secret: 'topsecret' } };
  const { result } = await client.stateless('tools/call', params, capabilities);
  await until(client, result.taskId, 'input_required');
  return result.taskId;
}

const answer = (client: TestClient, taskId: string) =>
  client.stateless(
    'tasks/update',
    { taskId, inputResponses: { name: { action: 'accept', content: { name: 'topsecret' } } } },
    capabilities,
  );

const shows = (folder: string): boolean =>
  ['', '-wal'].some((end) => readFileSync(join(folder, `mooring.db${end}`)).includes('topsecret'));

test('with a key, nothing that a task contains is readable in the file', async () => {
  const folder = temporaryFolder();
  const { client } = await start(folder, keys[0]);
  const id = await created(client);
  await answer(client, id);
  const { result } = await until(client, id, 'completed');
  expect(result.content[0].text).toContain('topsecret');
  expect(shows(folder)).toBe(false);
});

test('without a key it is, so the test above can fail', async () => {
  const folder = temporaryFolder();
  const { client } = await start(folder, undefined);
  const id = await created(client);
  await answer(client, id);
  await until(client, id, 'completed');
  expect(shows(folder)).toBe(true);
});

test.each([
  ['another key', keys[0], keys[1]],
  ['no key', keys[0], undefined],
  ['a key that did not exist before', undefined, keys[0]],
])('a server with %s fails the task with a plain reason and does not run it', async (_what, before, after) => {
  const folder = temporaryFolder();
  const first = await start(folder, before);
  const suspended = await created(first.client);
  const finished = await created(first.client);
  await answer(first.client, finished);
  await until(first.client, finished, 'completed');
  for (const close of closing.splice(0).reverse()) await close();
  const { client } = await start(folder, after);
  const reason = { message: 'The stored task cannot be decrypted with the key of this server' };
  const shown = await until(client, suspended, 'failed');
  expect(shown.error).toMatchObject(reason);
  expect(JSON.stringify(shown)).not.toContain('topsecret');
  expect((await until(client, finished, 'failed')).error).toMatchObject(reason);
});

test('a task that was changed in the file does not run', async () => {
  const folder = temporaryFolder();
  const { client } = await start(folder, keys[0]);
  const [one, other] = [await created(client), await created(client)];
  const db = await connectSqlite(join(folder, 'mooring.db'));
  // A whole record of one task under the id of another, with right checksums, cannot be made without the key.
  const { crc32 } = await import('node:zlib');
  const value = db
    .prepare(`select value from task_parts where kind = 'arguments' and task = (select number from tasks where id = ?)`)
    .get(one)?.['value'] as string;
  const number = Number(db.prepare('select number from tasks where id = ?').get(other)?.['number']);
  db.prepare(`update task_parts set value = ?, checksum = ? where task = ? and kind = 'arguments'`).run(
    value,
    crc32([`${number}\narguments\n0`, value].join('\n')),
    number,
  );
  db.close();
  const shown = await until(client, other, 'failed');
  expect(shown.error.message).toContain('cannot be decrypted');
});
