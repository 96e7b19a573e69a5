// mooring call --detach and mooring task, with a server of the extension and with the reference server of 2025-11-25.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort, type Listening, startListening } from '../client/third-party.ts';
import { useHome } from '../support/program.ts';
import { TaskServer } from '../support/task-server.ts';
import { hasTerminal, Terminal } from '../support/terminal.ts';

const home = useHome();
let server: TaskServer;
let url = '';
beforeEach(async () => {
  server = new TaskServer();
  url = await server.listen();
});
afterEach(() => server.close());

const detach = async (tool: string): Promise<string> => (await home.run(['call', url, tool, '--detach'])).stdout.trim();

test('a call is started, shown, and waited for by other processes', async () => {
  expect(await home.run(['call', url, 'work', '--detach'])).toEqual({ code: 0, stdout: 'task-1\n', stderr: '' });
  const got = await home.run(['task', 'get', url, 'task-1']);
  expect(got).toMatchObject({ code: 0, stderr: '' });
  expect(got.stdout).toMatch(/^task +task-1\nstatus +working\ncreated +2026-01-01T00:00:00Z\n/);
  expect(got.stdout).toMatch(/^expires +2026-01-01T01:00:00.000Z$/m);
  const waiting = home.run(['task', 'wait', url, 'task-1']);
  const polls = () => server.methods.filter((method) => method === 'tasks/get').length;
  await expect.poll(polls).toBeGreaterThan(3);
  server.complete('task-1', 'harbour reached');
  expect(await waiting).toEqual({ code: 0, stdout: 'harbour reached\n', stderr: '' });
  expect(server.requests.find(({ method }) => method === 'tasks/get')?.name).toBe('task-1');
});

test('with --json every action prints JSON', async () => {
  const started = JSON.parse((await home.run(['call', url, 'work', '--detach', '--json'])).stdout);
  expect(started).toMatchObject({ taskId: 'task-1', status: 'working', ttlMs: 3_600_000 });
  const immediate = await home.run(['call', url, 'quick', '--detach', '--json']);
  expect(JSON.parse(immediate.stdout)).toMatchObject({ taskId: null, status: 'completed', result: { content: [{}] } });
  const cancelled = await home.run(['task', 'cancel', url, 'task-1', '--json']);
  expect(cancelled.code).toBe(0);
  expect(JSON.parse(cancelled.stdout)).toMatchObject({ taskId: 'task-1', status: 'cancelled' });
  const waited = await home.run(['task', 'wait', url, 'task-1', '--json']);
  expect(waited.code).toBe(1);
  expect(JSON.parse(waited.stdout)).toMatchObject({ error: { code: 'task-cancelled', exitCode: 1 } });
  const gone = await home.run(['task', 'get', url, 'task-9', '--json']);
  expect(JSON.parse(gone.stdout)).toMatchObject({ error: { code: 'task-gone', exitCode: 1 } });
});

test('a result that is there at once is printed', async () => {
  const { code, stdout, stderr } = await home.run(['call', url, 'quick', '--detach']);
  expect([code, stdout]).toEqual([0, 'at once\n']);
  expect(stderr).toBe('The server returned the result immediately, so there is no task.\n');
});

test('a task that failed or is gone is an error', async () => {
  const failed = await home.run(['task', 'wait', url, await detach('fail')]);
  expect(failed).toMatchObject({ code: 1, stderr: 'mooring: Task "task-1" failed: No wind (-32050)\n' });
  const gone = await home.run(['task', 'wait', url, 'other']);
  expect(gone).toMatchObject({ code: 1, stdout: '' });
  expect(gone.stderr).toMatch(/^mooring: The server has no task "other"/);
});

test('input of a task is shown, answered, and answered while waiting', async () => {
  const id = await detach('ask');
  const got = await home.run(['task', 'get', url, id]);
  expect(got.stdout).toMatch(/^asks +Which harbour\?$/m);
  expect(got.stderr).toBe('The task waits for input: "mooring task answer" answers it.\n');
  const without = await home.run(['task', 'answer', url, id]);
  expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('Answer with --answer name=value') });
  const unable = await home.run(['task', 'wait', url, id]);
  expect(unable).toMatchObject({ code: 1, stderr: expect.stringContaining('The task waits for input.') });
  const wrong = await home.run(['task', 'answer', url, id, '--answer', 'harbour=Kiel', '--answer', 'tide=spring']);
  expect(wrong).toMatchObject({
    code: 2,
    stderr:
      'mooring: --answer tide: "spring" is not valid; it must be one of high tide, low tide, or its number from 1 to 2. ' +
      "Write, for example, --answer 'tide=high tide'\n",
  });
  const missing = await home.run(['task', 'answer', url, id, '--answer', 'tide=2']);
  expect(missing).toMatchObject({ code: 2, stderr: 'mooring: --answer is missing for harbour\n' });
  const answered = await home.run(['task', 'answer', url, id, '--answer', 'harbour=Kiel']);
  expect(answered).toMatchObject({ code: 0, stderr: '' });
  expect(await home.run(['task', 'wait', url, id])).toMatchObject({ code: 0, stdout: 'to Kiel\n' });
  const late = await home.run(['task', 'answer', url, id, '--answer', 'harbour=Kiel']);
  expect(late).toMatchObject({ code: 1, stderr: 'mooring: the task does not wait for input\n' });
  const waited = await home.run(['task', 'wait', url, await detach('ask'), '--answer', 'harbour=Cuxhaven']);
  expect(waited).toMatchObject({ code: 0, stdout: 'to Cuxhaven\n' });
  const called = await home.run(['call', url, 'ask', '--answer', 'harbour=Husum']);
  expect(called).toMatchObject({ code: 0, stdout: 'to Husum\n' });
});

test('a task that asks for a model response cannot be answered by flags, and the error says so', async () => {
  const { code, stderr } = await home.run(['task', 'answer', url, await detach('model'), '--answer', 'a=b']);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /asks for sampling\/createMessage\nRun the command in a terminal.*--answer fills in forms only\n$/,
  );
});

test('a detached call from a script can be answered later, and uses the answers that it was given', async () => {
  const id = await detach('ask');
  const { params } = server.requests.find(({ method }) => method === 'tools/call') as (typeof server.requests)[0];
  const declared = (params['_meta'] as Record<string, unknown>)['io.modelcontextprotocol/clientCapabilities'];
  expect(declared).toMatchObject({ elicitation: { form: {} } });
  expect(declared).not.toHaveProperty('sampling');
  expect(server.task(id).status).toBe('input_required');
  const answered = await home.run(['call', url, 'ask', '--detach', '--answer', 'harbour=Emden']);
  expect(answered).toEqual({ code: 0, stdout: 'task-2\n', stderr: '' });
  expect(await home.run(['task', 'wait', url, 'task-2'])).toMatchObject({ code: 0, stdout: 'to Emden\n' });
  const ended = await home.run(['call', url, 'fail', '--detach', '--answer', 'harbour=Emden']);
  expect(ended).toMatchObject({ code: 1, stdout: 'task-3\n', stderr: expect.stringContaining('No wind') });
});

test('Ctrl-C cancels the task of a call, but not a task that is only waited for', async () => {
  const polls = () => server.methods.filter((method) => method === 'tasks/get').length;
  const stopping = async (args: string[]): Promise<{ code: number | null; stderr: string }> => {
    const before = polls();
    const child = home.start(args);
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      stderr += part;
    });
    await expect.poll(polls).toBeGreaterThan(before + 1);
    child.kill('SIGINT');
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr })));
  };
  expect(await stopping(['call', url, 'work'])).toMatchObject({ code: 130 });
  expect(server.task('task-1').status).toBe('cancelled');
  const id = await detach('work');
  const waited = await stopping(['task', 'wait', url, id]);
  expect(waited).toMatchObject({ code: 130, stderr: expect.stringContaining('The task continues.') });
  expect(server.task(id).status).toBe('working');
  expect(server.methods.filter((method) => method === 'tasks/cancel')).toHaveLength(1);
});

test('usage errors say what is possible', async () => {
  const error = async (...args: string[]) => {
    const { code, stderr } = await home.run(['task', ...args]);
    expect(code).toBe(2);
    return stderr;
  };
  expect(await error()).toBe('mooring: Usage: mooring task <get|wait|answer|cancel|list> <server> [id]\n');
  expect(await error('cancle', url, 'x')).toBe('mooring: Unknown action "cancle"; did you mean "cancel"?\n');
  expect(await error('stop', url, 'x')).toContain('use one of get, wait, answer, cancel, list');
  expect(await error('get', url)).toBe('mooring: Usage: mooring task get <server> <id>\n');
  expect(await error('list', url, 'x')).toBe('mooring: Usage: mooring task list <server>\n');
  const list = await home.run(['task', 'list', url, '--revision', '2026-07-28']);
  expect(list).toMatchObject({ code: 1, stderr: expect.stringContaining('tasks/list does not exist in 2026-07-28') });
  const none = await home.run(['call', 'clipboard', 'get_clipboard', '--detach']);
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('does not offer tasks') });
});

test.runIf(hasTerminal)('a terminal shows the status as a bar and prompts for input', async () => {
  const id = await detach('ask');
  const terminal = new Terminal(home, ['task', 'wait', url, id]);
  await terminal.sees('Which harbour?');
  terminal.type('Emden\r');
  await terminal.sees('tide (1–2, optional)');
  terminal.type('\r');
  await terminal.sees('Send this?');
  terminal.type('\r');
  await terminal.sees('to Emden');
  expect(await terminal.exited).toBe(0);
  const working = await detach('work');
  Object.assign(server.task(working), { statusMessage: 'berth 3 of 4' });
  const bar = new Terminal(home, ['task', 'wait', url, working]);
  await bar.sees(/█+░+ +75 % +berth 3 of 4/);
  server.complete(working, 'moored');
  await bar.sees('moored');
  expect(await bar.exited).toBe(0);
});

describe('our server', () => {
  let ours: Listening;
  beforeAll(async () => {
    ours = await startListening([fileURLToPath(new URL('../support/task-program.mjs', import.meta.url)), 'http']);
  });
  afterAll(() => ours.close());

  test.each(['2025-11-25', '2026-07-28'])('a task of %s is answered and waited for', async (revision) => {
    const connection = [ours.url, '--revision', revision];
    const id = (await home.run(['call', ...connection, 'greet', '--detach', '--answer', 'name=Ada'])).stdout.trim();
    const waited = await home.run(['task', 'wait', ...connection, id, '--answer', 'name=Grace']);
    expect(waited).toMatchObject({ code: 0, stderr: '' });
    // The server may ask while the first command still disconnects.
    expect(waited.stdout).toMatch(/^Hello, (Ada|Grace)\n$/);
    const called = await home.run(['call', ...connection, 'broken']);
    expect(called).toMatchObject({ code: 1, stdout: '' });
    expect(called.stderr).toContain('The mast broke (-32050)');
  });

  test('the tasks of a user are listed', async () => {
    const connection = [ours.url, '--revision', '2025-11-25', '--token', 'lister'];
    const started = await home.run(['call', ...connection, 'endless', '--detach']);
    const list = await home.run(['task', 'list', ...connection]);
    expect(list).toMatchObject({ code: 0, stderr: '' });
    expect(list.stdout).toMatch(/^task +status +created +message$/m);
    expect(list.stdout).toContain(`${started.stdout.trim()}  working`);
    const json = await home.run(['task', 'list', ...connection, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject([{ taskId: started.stdout.trim(), status: 'working' }]);
  });
});

describe('the reference server', () => {
  const started: Listening[] = [];
  let reference = '';
  beforeAll(async () => {
    const require = createRequire(import.meta.url);
    const folder = dirname(require.resolve('@modelcontextprotocol/server-everything/package.json'));
    const port = await freePort();
    const program = [join(folder, 'dist/index.js'), 'streamableHttp'];
    started.push(await startListening(program, { PORT: String(port) }, /(running|listening) on port/i));
    reference = `http://127.0.0.1:${port}/mcp`;
  });
  afterAll(() => {
    for (const each of started) each.close();
  });

  test('a tool that requires a task is called, asks and ends', { timeout: 60_000 }, async () => {
    const args = ['--arg', 'topic=python', '--arg', 'ambiguous=true', '--answer', 'interpretation=snake'];
    const called = await home.run(['call', reference, 'simulate-research-query', ...args]);
    expect(called).toMatchObject({ code: 0, stderr: '' });
    expect(called.stdout).toContain('# Research Report: python (snake)');
  });

  test('tasks of another session are not listed', { timeout: 60_000 }, async () => {
    const started = await home.run(['call', reference, 'simulate-research-query', '--arg', 'topic=tides', '--detach']);
    expect(started.code).toBe(0);
    const list = await home.run(['task', 'list', reference]);
    expect(list).toMatchObject({ code: 0, stdout: '', stderr: 'There are no tasks.\n' });
  });
});
