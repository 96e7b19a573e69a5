// What operators see of tasks: lines of the audit log, metrics and lines of the log. Never what tasks contain.

import { afterEach, expect, test, vi } from 'vitest';
import { type LogFields, type Logger, silentLogger } from '../../src/common/logger.ts';
import { createServer, type Server } from '../../src/engine/server.ts';
import type { ServerOptions } from '../../src/engine/server-options.ts';
import { type AuditEntry, openAuditLog, queryAudit } from '../../src/security/audit/index.ts';
import { openDataFolder } from '../../src/stores/sqlite/index.ts';
import { serveHttp } from '../../src/transports/http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Message, TestClient } from '../support/test-client.ts';

const capabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const ada = { transport: 'memory', principal: { id: 'ada', issuer: 'https://issuer.example' } } as const;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function serverWith(options: Partial<ServerOptions> = {}): Server {
  const server = createServer({ name: 'observed', version: '1.0.0', logger: false, ...options });
  closing.push(() => server.close());
  const form = { type: 'object', properties: { name: { type: 'string' } } } as const;
  server.tool('ask', {
    description: 'Asks for a name',
    input: { type: 'object' },
    task: { support: 'required' },
    run: async (_args, ctx) => {
      const answer = await ctx.elicit('Name?', form, { key: 'name' });
      return JSON.stringify(answer);
    },
  });
  server.tool('fail', {
    description: 'Fails',
    input: { type: 'object' },
    task: { support: 'required' },
    run: () => ({ content: [], isError: true }),
  });
  return server;
}

async function until(client: TestClient, taskId: string, status: string): Promise<Message> {
  for (;;) {
    const message = await client.stateless('tasks/get', { taskId }, capabilities);
    if (message.result.status === status) return message;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function call(client: TestClient, name: string): Promise<string> {
  const params = { name, arguments: { secret: 'topsecret' } };
  return (await client.stateless('tools/call', params, capabilities)).result.taskId;
}

/** One task that gets a response, one that is cancelled, one that fails. */
async function useTasks(server: Server): Promise<{ answered: string; cancelled: string; failed: string }> {
  const client = new TestClient(server, ada);
  const answered = await call(client, 'ask');
  await until(client, answered, 'input_required');
  const inputResponses = { name: { action: 'accept', content: { name: 'topsecret' } } };
  await client.stateless('tasks/update', { taskId: answered, inputResponses }, capabilities);
  await until(client, answered, 'completed');
  const cancelled = await call(client, 'ask');
  await until(client, cancelled, 'input_required');
  await client.stateless('tasks/cancel', { taskId: cancelled }, capabilities);
  await until(client, cancelled, 'cancelled');
  const failed = await call(client, 'fail');
  await until(client, failed, 'completed');
  return { answered, cancelled, failed };
}

test('the audit log says who created, answered and cancelled a task, and how it ended, but not what it contains', async () => {
  const directory = temporaryFolder();
  const server = serverWith();
  const log = await openAuditLog({ directory, arguments: 'none' });
  await server.use(log);
  const { answered, cancelled, failed } = await useTasks(server);
  await log.flush();
  const lines: AuditEntry[] = [];
  for await (const line of queryAudit(directory, {})) lines.push(line);
  const about = (id: string): unknown[] =>
    lines
      .filter(({ event, details }) => event === 'task' && details?.['task'] === id)
      .map(({ details, outcome }) => [details?.['change'], details?.['by'], outcome]);
  expect(about(answered)).toEqual([
    ['created', 'caller', undefined],
    ['input-requested', 'server', undefined],
    ['input-answered', 'caller', undefined],
    ['ended', 'server', 'ok'],
  ]);
  expect(about(cancelled)).toEqual([
    ['created', 'caller', undefined],
    ['input-requested', 'server', undefined],
    ['cancel-requested', 'caller', undefined],
    ['ended', 'server', 'cancelled'],
  ]);
  expect(about(failed).at(-1)).toEqual(['ended', 'server', 'failed']);
  const tasks = lines.filter(({ event }) => event === 'task');
  for (const { principal, issuer, details } of tasks) {
    expect([principal, issuer]).toEqual(['ada', 'https://issuer.example']);
    expect(['ask', 'fail']).toContain(details?.['tool']);
  }
  expect(tasks.find(({ details }) => details?.['change'] === 'input-answered')?.details).toMatchObject({ key: 'name' });
  expect(JSON.stringify(lines)).not.toContain('topsecret');
  // Polls would fill the log.
  expect(lines.some(({ method }) => method === 'tasks/get')).toBe(false);
  expect(lines.filter(({ event, outcome }) => event === 'call' && outcome === 'detached')).toHaveLength(3);
});

test('metrics count the tasks that run, how long they took and how they ended', async () => {
  const server = serverWith();
  const http = await serveHttp(server, { port: 0, metricsPath: '/metrics' });
  closing.push(() => http.close());
  const metrics = async (): Promise<string> => (await fetch(new URL('/metrics', http.url))).text();
  expect(await metrics()).not.toContain('mooring_task');
  await useTasks(server);
  const client = new TestClient(server, ada);
  const waiting = await call(client, 'ask');
  await until(client, waiting, 'input_required');
  const text = await metrics();
  expect(text).toContain('mooring_tasks{status="input_required"} 1\n');
  expect(text).toContain('mooring_tasks{status="working"} 0\n');
  expect(text).toContain('mooring_task_duration_seconds_count{tool="ask",outcome="ok"} 1\n');
  expect(text).toContain('mooring_task_duration_seconds_count{tool="ask",outcome="cancelled"} 1\n');
  expect(text).toContain('mooring_task_duration_seconds_count{tool="fail",outcome="failed"} 1\n');
  expect(text).toContain('mooring_task_leases_lost_total 0\n');
});

test('a task that another process took over is counted and logged', async () => {
  const folder = temporaryFolder();
  const heard: [string, LogFields | undefined][] = [];
  const logger: Logger = {
    ...silentLogger,
    info: (text, fields) => void heard.push([text, fields]),
    warn: (text, fields) => void heard.push([text, fields]),
  };
  const start = async (): Promise<{ server: Server; data: Awaited<ReturnType<typeof openDataFolder>> }> => {
    const data = await openDataFolder(folder, { pollMs: 5 });
    closing.push(() => data.close());
    return { server: serverWith({ logger, tasks: { store: data.tasks } }), data };
  };
  const first = await start();
  const http = await serveHttp(first.server, { port: 0, metricsPath: '/metrics', logger: silentLogger });
  closing.push(() => http.close());
  const client = new TestClient(first.server, ada);
  const id = await call(client, 'ask');
  await until(client, id, 'input_required');
  // The lease ends, and another process is the first to claim the task.
  const second = await openDataFolder(folder, { pollMs: 0 });
  closing.push(() => second.close());
  const holder = (await first.data.tasks.read(id))?.lease?.holder ?? '';
  await second.tasks.renew(holder, [id], -1);
  await second.tasks.claim('other', ['observed'], 30_000, 1);
  const texts = (): string[] => heard.filter(([, fields]) => fields?.['task'] === id).map(([text]) => text);
  await vi.waitFor(() => expect(texts()).toHaveLength(2), 10_000);
  expect(texts()).toEqual(['task created', 'task stopped here: another process may run it']);
  expect(await (await fetch(new URL('/metrics', http.url))).text()).toContain('mooring_task_leases_lost_total 1\n');
});
