// kill -9 of a process that runs a task, at every moment that matters, with a process that starts afterwards and with one
// that runs beside it: the task has exactly one outcome, nothing that was acknowledged is lost, and a step that must happen
// once does not happen twice.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connectSqlite } from '../../src/stores/sqlite/driver.ts';
import { openDataFolder } from '../../src/stores/sqlite/index.ts';
import { isFullRun } from '../support/full.ts';
import { TaskProcess, useTaskServer } from '../support/task-process.ts';
import { taskRecord } from '../support/task-records.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

useTaskServer();

const interrupted = { status: 'failed', error: { message: expect.stringContaining('interrupted') } };
const unknown = { status: 'failed', error: { message: expect.stringContaining('is unknown') } };
const completed = { status: 'completed', result: { content: [{ type: 'text', text: 'Hello Ada' }] } };

interface Case {
  readonly failpoint: string;
  readonly recover: 'fail' | 'replay';
  readonly outcome: object;
  /** How often handlers and steps ran. */
  readonly effects: { readonly start?: number; readonly plain?: number; readonly once?: number };
}

const replayed = { start: 2, plain: 1, once: 1 };
const cases: Case[] = [
  { failpoint: 'created', recover: 'fail', outcome: interrupted, effects: {} },
  { failpoint: 'created', recover: 'replay', outcome: completed, effects: { start: 1, plain: 1, once: 1 } },
  { failpoint: 'within the step', recover: 'fail', outcome: interrupted, effects: { start: 1, plain: 1 } },
  { failpoint: 'within the step', recover: 'replay', outcome: completed, effects: { start: 2, plain: 2, once: 1 } },
  {
    failpoint: 'before the step is recorded',
    recover: 'replay',
    outcome: completed,
    effects: { start: 2, plain: 2, once: 1 },
  },
  { failpoint: 'after the step is recorded', recover: 'replay', outcome: completed, effects: replayed },
  { failpoint: 'after input is requested', recover: 'fail', outcome: interrupted, effects: { start: 1, plain: 1 } },
  { failpoint: 'after input is requested', recover: 'replay', outcome: completed, effects: replayed },
  { failpoint: 'after input is answered', recover: 'fail', outcome: interrupted, effects: { start: 1, plain: 1 } },
  { failpoint: 'after input is answered', recover: 'replay', outcome: completed, effects: replayed },
  { failpoint: 'before the once step runs', recover: 'replay', outcome: unknown, effects: { start: 2, plain: 1 } },
  {
    failpoint: 'within the once step',
    recover: 'fail',
    outcome: interrupted,
    effects: { start: 1, plain: 1, once: 1 },
  },
  { failpoint: 'within the once step', recover: 'replay', outcome: unknown, effects: replayed },
  { failpoint: 'before the once step is recorded', recover: 'replay', outcome: unknown, effects: replayed },
  {
    failpoint: 'before the end is stored',
    recover: 'fail',
    outcome: interrupted,
    effects: { start: 1, plain: 1, once: 1 },
  },
  { failpoint: 'before the end is stored', recover: 'replay', outcome: completed, effects: replayed },
  {
    failpoint: 'after the end is stored',
    recover: 'fail',
    outcome: completed,
    effects: { start: 1, plain: 1, once: 1 },
  },
  {
    failpoint: 'after the end is stored',
    recover: 'replay',
    outcome: completed,
    effects: { start: 1, plain: 1, once: 1 },
  },
];

/** A data folder, and the processes on it. */
class Site {
  readonly folder = temporaryFolder();
  readonly #effects = join(this.folder, 'effects');
  readonly #processes: TaskProcess[] = [];

  start(failpoint = '', more: Readonly<Record<string, string>> = {}): TaskProcess {
    const started = new TaskProcess({ FOLDER: this.folder, EFFECTS: this.#effects, FAILPOINT: failpoint, ...more });
    this.#processes.push(started);
    return started;
  }

  async close(): Promise<void> {
    for (const each of this.#processes) await each.kill();
  }

  effects(): Record<string, number> {
    const lines = existsSync(this.#effects) ? readFileSync(this.#effects, 'utf8').trimEnd().split('\n') : [];
    const counts: Record<string, number> = {};
    for (const line of lines) counts[line] = (counts[line] ?? 0) + 1;
    return counts;
  }

  /** The lease of a process that was killed ends, without waiting for it. */
  async endLeases(): Promise<void> {
    const db = await connectSqlite(join(this.folder, 'mooring.db'));
    db.exec('pragma busy_timeout = 20000; update tasks set due = 1, lease_until = 1 where holder is not null');
    db.close();
  }

  async onlyTask(): Promise<string> {
    const data = await openDataFolder(this.folder, { pollMs: 0, backupAfterMs: 0 });
    const { tasks } = await data.tasks.list({ limit: 10 });
    await data.close();
    expect(tasks).toHaveLength(1);
    return tasks[0]?.id as string;
  }
}

/** Brings a task to its end, whatever it still needs. */
async function finish(server: TaskProcess, id: string): Promise<object | undefined> {
  const keys = new Set<string>();
  for (;;) {
    const task = await server.until(id, 'input_required', 'completed', 'failed', 'cancelled');
    if (task?.status !== 'input_required') {
      // The same key is asked however often the handler runs.
      expect([...keys].filter((key) => key !== 'name')).toEqual([]);
      return task;
    }
    for (const key of Object.keys(task.inputRequests ?? {})) keys.add(key);
    await server.answer(id, 'Ada');
  }
}

async function settlesOnce(server: TaskProcess, id: string, outcome: object): Promise<void> {
  const first = await finish(server, id);
  expect(first).toMatchObject(outcome);
  await server.answer(id, 'Eve');
  await server.request('tasks/cancel', { taskId: id });
  expect(await server.get(id)).toEqual(first);
}

const extra: Record<string, Record<string, string>> = {
  plain: {},
  encrypted: { KEY: 'q3+Zr8Wq0sYw7vJ1mB5tKx2LhPd9uFgC6eNaRiTzVbE=' },
};

describe.each([1, 2])('%i process(es) on the folder', (processes) => {
  // By default one half with each number; both have cases of each outcome. What fails as interrupted fails alike at every moment.
  const moments = ['created', 'within the once step', 'after the end is stored'];
  const tried = cases.filter(({ recover, failpoint }) => recover === 'replay' || moments.includes(failpoint));
  const own = isFullRun ? cases : tried.filter((_, n) => (n >> 1) % 2 === processes - 1);
  test.concurrent.each(own)('killed $failpoint, recover: $recover', { timeout: 120_000 }, async (each) => {
    const site = new Site();
    const env = each.recover === 'replay' && processes === 2 ? extra['encrypted'] : extra['plain'];
    const beside = processes === 2 ? site.start('', env) : undefined;
    // It has opened the folder before the other one is killed.
    await beside?.request('tools/list', {});
    const killed = site.start(each.failpoint, env);
    const created = await killed.call(each.recover);
    const asked = created === undefined ? undefined : await killed.until(created.taskId, 'input_required', 'failed');
    if (asked !== undefined) await killed.answer(asked.taskId, 'Ada');
    expect(await killed.exited).toBe('SIGKILL');
    await site.endLeases();
    const id = created?.taskId ?? (await site.onlyTask());
    await settlesOnce(beside ?? site.start('', env), id, each.outcome);
    expect(site.effects()).toEqual(each.effects);
    await site.close();
  });
});

test('a process that stored an input response and was killed: the one that runs the task gets it', async () => {
  const site = new Site();
  const runs = site.start();
  const takes = site.start('after input is answered');
  const { taskId } = (await runs.call('fail')) as { taskId: string };
  await runs.until(taskId, 'input_required');
  expect(await takes.answer(taskId, 'Ada')).toBeUndefined();
  expect(await takes.exited).toBe('SIGKILL');
  expect(await runs.until(taskId, 'completed')).toMatchObject(completed);
  expect(site.effects()).toEqual({ start: 1, plain: 1, once: 1 });
});

test('a cancel that another process stored stops the handler', async () => {
  const site = new Site();
  const [runs, takes] = [site.start(), site.start()];
  const { taskId } = (await runs.call('fail')) as { taskId: string };
  await runs.until(taskId, 'input_required');
  await takes.request('tasks/cancel', { taskId });
  expect(await takes.until(taskId, 'cancelled', 'completed', 'failed')).toMatchObject({ status: 'cancelled' });
  expect(await runs.get(taskId)).toMatchObject({ status: 'cancelled' });
});

test('the task of a killed process is taken over when its lease has ended by itself', {
  timeout: 120_000,
}, async () => {
  const site = new Site();
  const killed = site.start('within the step', { LEASE_MS: '3000' });
  await killed.call('fail');
  expect(await killed.exited).toBe('SIGKILL');
  await settlesOnce(site.start('', { LEASE_MS: '3000' }), await site.onlyTask(), interrupted);
});

test('killed while it deletes expired tasks: none is deleted in part', { timeout: 120_000 }, async () => {
  const site = new Site();
  const data = await openDataFolder(site.folder, { pollMs: 0, backupAfterMs: 0 });
  const records = Array.from({ length: isFullRun ? 3_000 : 1_500 }, () =>
    taskRecord({ arguments: { text: 'x'.repeat(500) } }),
  );
  await Promise.all(records.map((record) => data.tasks.create(record)));
  const end = { type: 'end', outcome: { type: 'cancelled' }, expiresAtMs: 1 } as const;
  await Promise.all(records.map(({ id }) => data.tasks.change(id, {}, [end])));
  await data.close();
  let left = records.length;
  for (const afterMs of isFullRun ? [0, 5, 10, 20, 40, 80] : [0, 10, 40]) {
    const killed = site.start('sweep', { AFTER_MS: String(afterMs) });
    expect(await killed.exited).toBe('SIGKILL');
    const db = await connectSqlite(join(site.folder, 'mooring.db'));
    const count = (sql: string): number => Number(db.prepare(`select (${sql}) as count`).get()?.['count']);
    const tasks = count('select count(*) from tasks');
    expect(tasks).toBeLessThanOrEqual(left);
    expect(count('select coalesce(max(kept), 0) from task_counts')).toBe(tasks);
    // Arguments, context and outcome.
    expect(count('select count(*) from task_parts')).toBe(tasks * 3);
    expect(db.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
    db.close();
    left = tasks;
  }
  const again = await openDataFolder(site.folder, { pollMs: 0, backupAfterMs: 0 });
  expect((await again.tasks.sweep(10_000)).deleted).toBe(left);
  await again.close();
});
