// Profile `orchestrator` and its workers through the wire: real programs in the real sandbox.

import { chownSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createServer } from '../../src/engine/server.ts';
import {
  createMemoryRegistry,
  type WorkerRecord,
  type WorkersOptions,
  workers,
} from '../../src/packs/workers/index.ts';
import { afterwards, assemble, makeFolder, memoryLogger, useProfiles } from '../support/profile.ts';
import { type Message, TestClient } from '../support/test-client.ts';
import { haveSandbox as available, processes } from './system/session.ts';

useProfiles();

const old = '2024-11-05';

type Call = (name: string, args?: object) => Promise<Record<string, unknown> & { id: string }>;

function caller(client: TestClient): Call {
  return async (name, args = {}) => {
    const { result } = await client.call(name, args);
    return JSON.parse(result.content[0].text);
  };
}

async function open(options: Partial<WorkersOptions> = {}) {
  const { server } = await assemble('orchestrator', {
    allowedCommands: ['cat', 'sh', 'sleep'],
    packs: { workers: { supervision: { restartMs: 20, stopGraceMs: 100 }, ...options } },
  });
  const client = await TestClient.open(server, old);
  return { server, client, call: caller(client) };
}

/** Waits until a worker is in one of these states. */
async function until(call: Call, id: string, ...states: string[]): Promise<Record<string, unknown>> {
  for (;;) {
    const { workers: all } = (await call('list_workers')) as unknown as { workers: Record<string, unknown>[] };
    const found = all.find((worker) => worker['id'] === id);
    if (found !== undefined && states.includes(found['status'] as string)) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe.skipIf(!available)('in the sandbox', () => {
  test('S3-19 S3-20: initialize declares tools and resources, name and version', async () => {
    const { server } = await open();
    const { result } = await new TestClient(server).request('initialize', { protocolVersion: old });
    expect(result).toEqual({
      protocolVersion: old,
      capabilities: { tools: {}, resources: { subscribe: true, listChanged: true } },
      serverInfo: { name: 'claude-code-mcp-server', version: '1.0.0' },
    });
  });

  test('a worker is started, written to, read and stopped', async () => {
    const { call } = await open();
    const worker = await call('start_worker', { program: 'cat', name: 'echo' });
    expect(worker).toMatchObject({ name: 'echo', program: 'cat', args: [], status: 'running', restarts: 0 });
    const { next } = await call('message_worker', { id: worker.id, text: 'zażółć 😀' });
    const read = await call('read_worker', { id: worker.id, from: next, wait_ms: 10_000 });
    expect(read).toMatchObject({ status: 'running', output: 'zażółć 😀\n', dropped: 0 });
    const again = await call('read_worker', { id: worker.id, from: read['next'] });
    expect(again).toMatchObject({ output: '', next: read['next'] });
    expect(await call('stop_worker', { id: worker.id })).toMatchObject({ status: 'stopped', exitCode: 0 });
    expect(await call('message_worker', { id: worker.id, text: 'x' })).toEqual({
      error: `Worker ${worker.id} is not running (stopped)`,
    });
    await call('stop_worker', { id: worker.id, forget: true });
    expect(await call('list_workers')).toEqual({ workers: [] });
  });

  test('a worker whose start is cancelled does not keep running', async () => {
    const registry = createMemoryRegistry();
    const server = createServer({ name: 'w', version: '1' });
    afterwards(() => server.close());
    const save = (record: WorkerRecord): void => {
      void registry.save(record);
      if (record.status === 'starting') client.notify('notifications/cancelled', { requestId: 'cancelled' });
    };
    await server.use(workers({ programs: ['sleep'], registry: { ...registry, save } }));
    const client = await TestClient.open(server, old);
    const params = { name: 'start_worker', arguments: { program: 'sleep', args: ['100'] } };
    client.send({ jsonrpc: '2.0', id: 'cancelled', method: 'tools/call', params });
    await expect.poll(async () => (await registry.load()).map(({ status }) => status)).toEqual(['stopped']);
  });

  test('a client with tasks gets the worker as a task, which ends with it; cancelling the task stops the worker', async () => {
    const { server, call } = await open();
    const client = new TestClient(server);
    const declared = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const { result: described } = await client.stateless('server/discover', {}, declared);
    expect(described.capabilities).toMatchObject(declared);
    const start = async (args: object): Promise<string> => {
      const { result } = await client.stateless('tools/call', { name: 'start_worker', arguments: args }, declared);
      expect(result).toMatchObject({ resultType: 'task', status: 'working' });
      return result.taskId;
    };
    const untilTask = async (taskId: string, isReached: (task: Message['result']) => boolean) => {
      for (;;) {
        const { result } = await client.stateless('tasks/get', { taskId }, declared);
        if (isReached(result)) return result;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const ended = await untilTask(
      await start({ program: 'sh', args: ['-c', 'read line; echo "got $line"'], message: 'coal' }),
      ({ status }) => status === 'completed',
    );
    expect(JSON.parse(ended.result.content[0].text)).toMatchObject({
      status: 'exited',
      exitCode: 0,
      lastOutput: 'got coal\n',
    });
    const taskId = await start({ program: 'cat' });
    const { statusMessage } = await untilTask(taskId, (task) => /is running/.test(task.statusMessage ?? ''));
    const id = /Worker (\S+) is running/.exec(statusMessage)?.[1] as string;
    // It is a worker like any other.
    const { next } = await call('message_worker', { id, text: 'hello' });
    expect(await call('read_worker', { id, from: next, wait_ms: 10_000 })).toMatchObject({ output: 'hello\n' });
    await client.stateless('tasks/cancel', { taskId }, declared);
    await untilTask(taskId, ({ status }) => status === 'cancelled');
    await until(call, id, 'stopped');
  });

  test('S3-16 S3-17: workers are resources of a scheme of their own, as JSON and as text', async () => {
    const { client, call } = await open();
    const { id } = await call('start_worker', {
      program: 'sh',
      args: ['-c', 'printf "\\033[31mred\\033[0m"; exec cat'],
      name: 'w',
    });
    await call('read_worker', { id, from: 0, wait_ms: 10_000 });
    const { result } = await client.request('resources/list', {}, 3);
    expect(result).toEqual({
      resources: [
        { uri: `worker://${id}`, name: 'w', description: 'State of sh (running)', mimeType: 'application/json' },
        { uri: `worker://${id}/output`, name: 'w output', description: 'Latest output of sh', mimeType: 'text/plain' },
      ],
    });
    const output = await client.request('resources/read', { uri: `worker://${id}/output` }, 4);
    expect(output.result).toEqual({
      contents: [{ uri: `worker://${id}/output`, mimeType: 'text/plain', text: 'red' }],
    });
    const state = await client.request('resources/read', { uri: `worker://${id}` });
    const shown = JSON.parse(state.result.contents[0].text);
    expect(shown).toMatchObject({ id, status: 'running' });
    expect(shown).not.toHaveProperty('owner');
    expect((await client.request('resources/read', { uri: 'worker://missing' })).error?.code).toBe(-32002);
  });

  test('changes are announced: of the list to all clients, of a worker to its subscribers', async () => {
    const { client, call } = await open();
    const { id } = await call('start_worker', { program: 'cat' });
    await client.next((each) => each.method === 'notifications/resources/list_changed');
    const uri = `worker://${id}`;
    await client.request('resources/subscribe', { uri });
    const updated = (each: Message) => each.method === 'notifications/resources/updated';
    await call('message_worker', { id, text: 'x' });
    expect((await client.next(updated)).params).toEqual({ uri });
    const before = client.received.filter(updated).length;
    await call('stop_worker', { id });
    await client.next(() => client.received.filter(updated).length > before);
  });

  test('S3-23 S3-25 S3-27: errors are results, with the documented texts', async () => {
    const { client, call } = await open();
    expect(await call('start_worker', { program: 'rm' })).toEqual({
      error: expect.stringMatching(
        /^Command not allowed: "rm" \(allowed: .*\bcat\b.*; the operator can allow programs with --allow-command\)$/,
      ),
    });
    expect(await call('read_worker', { id: 'missing' })).toEqual({ error: 'Unknown worker: missing' });
    expect(await call('missing')).toEqual({ error: 'Unknown tool: missing' });
    expect((await client.call('list_workers')).result.content[0].text).toBe('{"error":"No arguments provided"}');
    expect((await client.call('start_worker', {})).result.content[0].text).toMatch(/^Validation error: .*program/);
  });

  test('a worker that could not be started is neither listed nor announced', async () => {
    const { client, call } = await open();
    expect(await call('start_worker', { program: 'rm', name: 'ghost' })).toHaveProperty('error');
    expect(await call('start_worker', { program: 'cat', cwd: '/nowhere' })).toHaveProperty('error');
    expect(await call('list_workers')).toEqual({ workers: [] });
    expect((await client.request('resources/list')).result.resources).toEqual([]);
    const told = client.received.filter(({ method }) => method === 'notifications/resources/list_changed');
    expect(told).toEqual([]);
  });

  test('S3-34: health_check is there as well', async () => {
    const { call } = await open();
    expect(await call('health_check')).toMatchObject({
      status: 'healthy',
      parts: [
        { name: 'data', status: 'ok' },
        { name: 'workers', status: 'ok' },
      ],
    });
  });

  test('a worker that fails is restarted with pauses, a limited number of times', async () => {
    const { call } = await open({ supervision: { restartMs: 5, maxRestarts: 2 } });
    const script = 'echo life; echo no >&2; exit 3';
    const { id } = await call('start_worker', { program: 'sh', args: ['-c', script], restart: 'on-failure' });
    const worker = await until(call, id, 'failed');
    expect(worker).toMatchObject({
      restarts: 2,
      exitCode: 3,
      reason: 'not restarted again after 2 restarts (exit code 3)',
      errors: 'no',
    });
    expect(await call('read_worker', { id, from: 0 })).toMatchObject({ output: 'life\nlife\nlife\n' });
  });

  test('one that ends with code 0 is not restarted, unless it is always to run', async () => {
    const { call } = await open({ supervision: { restartMs: 5, maxRestarts: 1 } });
    const once = await call('start_worker', { program: 'sh', args: ['-c', 'exit 0'], restart: 'on-failure' });
    expect(await until(call, once.id, 'exited')).toMatchObject({ restarts: 0, exitCode: 0 });
    const always = await call('start_worker', { program: 'sh', args: ['-c', 'exit 0'], restart: 'always' });
    expect(await until(call, always.id, 'failed')).toMatchObject({ restarts: 1 });
  });

  test('output is limited, and readers see how much they missed', async () => {
    const { call } = await open({ supervision: { maxOutputChars: 1000 } });
    const script = 'i=0; while [ $i -lt 1000 ]; do echo 123456789; i=$((i+1)); done; exec cat';
    const { id } = await call('start_worker', { program: 'sh', args: ['-c', script] });
    for (;;) {
      const { output } = (await call('list_workers').then((all) => (all['workers'] as { output: number }[])[0])) ?? {
        output: 0,
      };
      if (output === 10_000) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const read = await call('read_worker', { id, from: 0 });
    expect(read).toMatchObject({ next: 10_000, dropped: 9_000 });
    expect(read['output']).toHaveLength(1000);
    const tail = await call('read_worker', { id, max_chars: 10 });
    expect(tail).toMatchObject({ output: '123456789\n', dropped: 0 });
  });

  test('stopping ends everything a worker started, even what ignores its end of input', async () => {
    const { call } = await open();
    const script = 'trap "" TERM INT; sleep 31536001 & sleep 31536001';
    const { id } = await call('start_worker', { program: 'sh', args: ['-c', script] });
    while (processes('sleep 31536001') < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await call('stop_worker', { id })).toMatchObject({ status: 'stopped' });
    expect(processes('sleep 31536001')).toBe(0);
  });

  test('closing the server ends all workers', async () => {
    const { server, call } = await open();
    await call('start_worker', { program: 'sleep', args: ['31536002'], restart: 'always' });
    await server.close();
    expect(processes('sleep 31536002')).toBe(0);
  });

  test('a number of workers is a limit, and a place is free when one ends', async () => {
    const { call } = await open({ maxAlive: 1 });
    const { id } = await call('start_worker', { program: 'cat' });
    expect(await call('start_worker', { program: 'cat' })).toEqual({
      error: '1 workers are already running; stop one first',
    });
    await call('stop_worker', { id });
    expect(await call('start_worker', { program: 'cat' })).toMatchObject({ status: 'running' });
  });

  test('what belongs to one principal does not exist for another', async () => {
    const { server, call } = await open();
    const other = await TestClient.open(server, old, {}, { transport: 'memory', principal: { id: 'eve' } });
    const { id } = await call('start_worker', { program: 'cat' });
    const eve = caller(other);
    expect(await eve('list_workers')).toEqual({ workers: [] });
    for (const tool of ['read_worker', 'stop_worker'])
      expect(await eve(tool, { id })).toEqual({ error: `Unknown worker: ${id}` });
    expect(await eve('message_worker', { id, text: 'x' })).toEqual({ error: `Unknown worker: ${id}` });
    expect((await other.request('resources/list')).result.resources).toEqual([]);
    expect((await other.request('resources/read', { uri: `worker://${id}` })).error?.code).toBe(-32002);
    expect(await call('read_worker', { id })).toMatchObject({ status: 'running' });
  });

  test('workers see their folder and nothing else of the host; what they write stays', async () => {
    const folder = makeFolder({ open: true });
    // As root the sandbox takes the folder's owner, who must be another user.
    if (process.getuid?.() === 0) chownSync(folder, 12_345, 12_345);
    const { server } = await assemble('orchestrator', { allowedCommands: ['sh'], roots: [folder] });
    const call = caller(await TestClient.open(server, old));
    const script = 'pwd; echo hi > note; cat note; ls /etc/hostname /home /root 2>&1 | head -3; cat';
    const { id } = await call('start_worker', { program: 'sh', args: ['-c', script] });
    let output = '';
    while (!output.includes('/root')) {
      output = String((await call('read_worker', { id, from: 0 }))['output']);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(output).toContain(`${folder}\nhi\n`);
    expect(output).toMatch(/\/root.*No such file/);
  });

  test('the data folder remembers workers from one run to the next', async () => {
    const dataDir = makeFolder();
    const run = async () => {
      const { server } = await assemble('orchestrator', { dataDir, allowedCommands: ['cat', 'sh'] });
      return { server, call: caller(await TestClient.open(server, old)) };
    };
    const first = await run();
    const ended = await first.call('start_worker', { program: 'sh', args: ['-c', 'exit 4'], name: 'ended' });
    await until(first.call, ended.id, 'failed');
    await first.call('start_worker', { program: 'cat', name: 'alive' });
    await first.server.close();
    const { workers: all } = (await (await run()).call('list_workers')) as unknown as { workers: object[] };
    expect(all).toMatchObject([
      { name: 'ended', status: 'failed', exitCode: 4 },
      { name: 'alive', status: 'stopped' },
    ]);
  });

  test('records outlive the server: running workers become lost, ended ones are still listed', async () => {
    const registry = createMemoryRegistry();
    const make = async () => {
      const server = createServer({ name: 'w', version: '1' });
      await server.use(workers({ programs: ['cat', 'sh'], registry }));
      afterwards(() => server.close());
      return { server, call: caller(await TestClient.open(server)) };
    };
    const first = await make();
    const ended = await first.call('start_worker', { program: 'sh', args: ['-c', 'exit 0'] });
    await until(first.call, ended.id, 'exited');
    const stale: WorkerRecord = {
      ...{ id: 'old', name: 'old', owner: '', program: 'cat', args: [], restart: 'always', status: 'running' },
      ...{ createdAt: new Date().toISOString(), restarts: 0, serverPid: 2 ** 22 - 3 },
    };
    await registry.save(stale);
    await registry.save({ ...stale, id: 'elsewhere', serverPid: process.ppid });
    const second = await make();
    const { workers: all } = (await second.call('list_workers')) as unknown as {
      workers: { id: string; status: string }[];
    };
    expect(all.map(({ id, status }) => [id, status])).toEqual([
      [ended.id, 'exited'],
      ['old', 'lost'],
    ]);
    expect((await registry.load()).find(({ id }) => id === 'old')?.status).toBe('lost');
  });
});

test('without the sandbox there are no workers, and the log says why', async () => {
  const logger = memoryLogger();
  const server = createServer({ name: 'w', version: '1', logger });
  // A control group cannot be demanded of the level without walls: stands for any level this machine lacks.
  const uid = process.getuid?.() === 0 ? 0 : 1;
  await server.use(workers({ programs: ['cat'], runAs: { uid, gid: 0 } }));
  expect(server.catalog.tools.size).toBe(0);
  expect(logger.lines.join('\n')).toContain('the worker tools are disabled: Sandbox level "kernel" does not work');
});
