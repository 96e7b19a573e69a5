// Two servers on one data folder, three clients, and any order of calls, polls, responses, cancels and crashes. Whatever
// happens: an id that a client got works, a task has one outcome, which only the last process that ran it can give it, what
// was acknowledged is not lost, and a step that must happen once happens at most once.

import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createServer, type Server } from '../../src/engine/server.ts';
import type { TaskChange, TaskGuard, TaskRecord, TaskStore } from '../../src/engine/tasks/store/task-store.ts';
import { connectSqlite } from '../../src/stores/sqlite/driver.ts';
import { type DataFolder, openDataFolder } from '../../src/stores/sqlite/index.ts';
import { propertyRuns } from '../support/full.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Message, TestClient } from '../support/test-client.ts';

const never = (): Promise<never> => new Promise(() => {});
const pause = (maxMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.random() * maxMs));
const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const capabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const terminal = ['completed', 'failed', 'cancelled'];

/** What clients were told of a task. */
interface Known {
  readonly owner: string;
  readonly tool: string;
  outcome?: string;
  /** A cancel on 2025-11-25 was acknowledged. */
  cancelled?: true;
  /** A response to its input request was acknowledged. */
  answered?: true;
  /** The responses that were sent. */
  readonly names: string[];
}

/** How often the handler of a task started, and its step that must happen once ran. */
interface Effects {
  starts: number;
  once: number;
}

/** Changes that end the right of a process to write to a task. */
const handingOver: readonly TaskChange['type'][] = ['end', 'suspend', 'release', 'hand-over'];

/** A process that lost a task must not change it: a write with a fence is accepted only while that fence is the last. */
function checkFence(guard: TaskGuard, changes: readonly TaskChange[], changed: TaskRecord | string): void {
  if (guard.fence === undefined || typeof changed === 'string') return;
  const isHandedOver = changes.some(({ type }) => handingOver.includes(type));
  expect(changed.fence, 'the fence of a write that was accepted').toBe(guard.fence + (isHandedOver ? 1 : 0));
}

/** A server in a process that can be killed: nothing that it does has an effect afterwards. */
class Process {
  readonly server: Server;
  readonly #data: DataFolder;
  readonly #conversations = new Map<string, Promise<TestClient>>();
  isAlive = true;
  /** The first promise that this process broke. */
  broken: unknown;
  /** Resolves when the process is killed. */
  readonly killed: Promise<undefined>;
  #kill: () => void = () => {};

  constructor(data: DataFolder, effects: Map<string, Effects>) {
    this.#data = data;
    this.killed = new Promise((resolve) => (this.#kill = () => resolve(undefined)));
    this.server = createServer({
      name: 'shared',
      version: '1.0.0',
      logger: false,
      tasks: { store: this.#mortal(data.tasks), limits: { suspendAfterMs: 30, leaseMs: 1_000 } },
    });
    /** Returns how often it has happened, this time included. */
    const count = (task: string | undefined, what: keyof Effects): number => {
      const found = effects.get(task as string) ?? { starts: 0, once: 0 };
      effects.set(task as string, found);
      return ++found[what];
    };
    const work = async (): Promise<void> => {
      await pause(15);
      if (!this.isAlive) return never();
    };
    const once = async (task: string | undefined): Promise<void> => {
      await work();
      count(task, 'once');
      await work();
    };
    // One that works all the time, so that it writes when it has lost its task, and one that waits for input.
    this.server.tool('busy', {
      description: 'Works in steps',
      task: { support: 'required', start: 'immediately', recover: 'replay', attempts: 1_000 },
      run: async (_args, ctx) => {
        if (!this.isAlive) return never();
        const run = count(ctx.task?.id, 'starts');
        for (let n = 0; n < 30; n++) await ctx.step(`step ${n}`, work);
        await ctx.step('once', () => once(ctx.task?.id), { once: true });
        await work();
        return `Done in run ${run}`;
      },
    });
    for (const recover of ['fail', 'replay'] as const) {
      this.server.tool(recover, {
        description: 'Says hello',
        task: { support: 'required', start: 'immediately', recover, attempts: 1_000 },
        run: async (_args, ctx) => {
          if (!this.isAlive) return never();
          const run = count(ctx.task?.id, 'starts');
          await work();
          // Signals are ignored, as a handler may do: what it writes too late must not count.
          await ctx.progress(1, 2, `run ${run}`);
          const answer = await ctx.elicit('Name?', form, { key: 'name' });
          if (answer.action !== 'accept') return `No name in run ${run}`;
          await ctx.step('once', () => once(ctx.task?.id), { once: true });
          await work();
          return `Hello ${(answer.content as { name: string }).name} in run ${run}`;
        },
      });
    }
  }

  /** Remembers a failed expectation: what the server does with an exception is its own matter. */
  #check(expectation: () => void): void {
    try {
      expectation();
    } catch (error) {
      this.broken ??= error;
    }
  }

  /** The store, until the process is killed: then nothing comes back, and nothing more is written. */
  #mortal(store: TaskStore): TaskStore {
    const guarded =
      <A extends unknown[], R>(method: (...given: A) => Promise<R>) =>
      async (...given: A): Promise<R> => {
        if (!this.isAlive) return never();
        try {
          return await method.apply(store, given);
        } finally {
          if (!this.isAlive) await never();
        }
      };
    return {
      durable: true,
      create: guarded(store.create),
      read: guarded(async (id: string) => store.read(id)),
      change: guarded(async (...given: Parameters<TaskStore['change']>) => {
        const changed = await store.change(...given);
        this.#check(() => checkFence(given[1], given[2], changed));
        return changed;
      }),
      claim: guarded(store.claim),
      renew: guarded(store.renew),
      list: guarded(store.list),
      count: guarded(store.count),
      sweep: guarded(store.sweep),
      watch: (listener) => store.watch?.((id) => this.isAlive && listener(id)) as () => void,
    };
  }

  /** The conversation of a client: of 2025-11-25 in a session, of 2026-07-28 without one. */
  client({ principal, revision }: Client): Promise<TestClient> {
    const key = `${principal} ${revision}`;
    const peer = { transport: 'memory', principal: { id: principal } } as const;
    let found = this.#conversations.get(key);
    if (found === undefined) {
      found =
        revision === '2025-11-25'
          ? TestClient.open(this.server, revision, { elicitation: {} }, peer)
          : Promise.resolve(new TestClient(this.server, peer));
      this.#conversations.set(key, found);
    }
    return found;
  }

  async kill(): Promise<void> {
    this.isAlive = false;
    this.#kill();
    await this.#data.close();
  }
}

interface Client {
  readonly principal: string;
  readonly revision: '2025-11-25' | '2026-07-28';
}

const clients: readonly Client[] = [
  { principal: 'ada', revision: '2025-11-25' },
  { principal: 'ada', revision: '2026-07-28' },
  { principal: 'eve', revision: '2026-07-28' },
];

class World {
  readonly #folder = temporaryFolder();
  readonly #effects = new Map<string, Effects>();
  readonly #processes: Process[] = [];
  readonly tasks = new Map<string, Known>();
  #names = 0;

  async start(): Promise<this> {
    for (const index of [0, 1]) this.#processes[index] = await this.#process(index);
    return this;
  }

  /** The second one hears late what the first one does: it goes on with tasks that it has lost. */
  async #process(index: number): Promise<Process> {
    const pollMs = index === 0 ? 5 : 150;
    const data = await openDataFolder(this.#folder, { pollMs, busyTimeoutMs: 20_000 });
    const process = new Process(data, this.#effects);
    await process.server.prepare();
    return process;
  }

  /** The answer to a request; undefined if the process is killed before. */
  async request(at: number, client: Client, method: string, params: object): Promise<Message | undefined> {
    const process = this.#processes[at] as Process;
    const answer = process
      .client(client)
      .then((conversation) =>
        client.revision === '2025-11-25'
          ? conversation.request(method, params)
          : conversation.stateless(method, params, capabilities),
      );
    return Promise.race([answer, process.killed]);
  }

  async create(at: number, client: Client, tool: string): Promise<void> {
    const params = { name: tool, arguments: {}, ...(client.revision === '2025-11-25' ? { task: {} } : {}) };
    const answer = await this.request(at, client, 'tools/call', params);
    if (answer === undefined) return;
    const id = client.revision === '2025-11-25' ? answer.result.task.taskId : answer.result.taskId;
    this.tasks.set(id, { owner: client.principal, tool, names: [] });
  }

  async get(at: number, client: Client, id: string): Promise<string | undefined> {
    const known = this.tasks.get(id) as Known;
    const before = { ...known };
    const answer = await this.request(at, client, 'tasks/get', { taskId: id });
    if (answer === undefined) return undefined;
    const { result, error } = answer;
    if (known.owner !== client.principal) {
      expect(error).toMatchObject({ code: -32602 });
      return undefined;
    }
    expect(error, `a task that exists is found: ${JSON.stringify(error)}`).toBeUndefined();
    const { status } = result;
    if (before.cancelled) expect(status).toBe('cancelled');
    if (before.answered) expect(result.inputRequests, 'a response is not lost').toBeUndefined();
    if (before.outcome !== undefined) expect(terminal, 'an outcome does not go away').toContain(status);
    if (client.revision === '2026-07-28' && terminal.includes(status)) this.#checkOutcome(known, result);
    return status;
  }

  /** The same each time. */
  #checkOutcome(known: Known, { status, result, error }: { status: string; result?: unknown; error?: unknown }): void {
    const outcome = JSON.stringify([status, result ?? null, error ?? null]);
    known.outcome ??= outcome;
    expect(outcome, 'an outcome does not change').toBe(known.outcome);
    const said = /Hello (\w+)/.exec(outcome)?.[1];
    if (said !== undefined) expect(known.names).toContain(said);
  }

  /** A process that lost a task does not end it: an outcome comes from the last run. */
  #checkRun(id: string, { outcome = '' }: Known): void {
    const run = / in run (\d+)/.exec(outcome)?.[1];
    if (run !== undefined) expect(Number(run), 'the run that ended the task').toBe(this.#effects.get(id)?.starts);
  }

  /** A program ends a task, which may have ended already. */
  async settle(at: number, _client: Client, id: string): Promise<void> {
    const process = this.#processes[at] as Process;
    const known = this.tasks.get(id) as Known;
    const { outcome } = known;
    const isCompleted = ++this.#names % 2 === 0;
    const settled = isCompleted
      ? process.server.tasks.settle(id, { status: 'completed', result: `Settled ${this.#names}` })
      : process.server.tasks.cancel(id, `Cancelled ${this.#names}`);
    const isEnded = await Promise.race([settled, process.killed]);
    if (outcome !== undefined && isEnded !== undefined) expect(isEnded, 'a task ends once').toBe(false);
  }

  async answer(at: number, client: Client, id: string): Promise<void> {
    const known = this.tasks.get(id) as Known;
    const reader = { ...client, revision: '2026-07-28' } as const;
    const before = await this.request(at, reader, 'tasks/get', { taskId: id });
    const name = `n${++this.#names}`;
    known.names.push(name);
    const inputResponses = { name: { action: 'accept', content: { name } }, other: 'ignored' };
    const answer = await this.request(at, reader, 'tasks/update', { taskId: id, inputResponses });
    if (answer === undefined) return;
    if (known.owner !== client.principal) return void expect(answer.error).toMatchObject({ code: -32602 });
    expect(answer.error).toBeUndefined();
    if (before?.result.inputRequests?.name !== undefined) known.answered = true;
  }

  async cancel(at: number, client: Client, id: string): Promise<void> {
    const known = this.tasks.get(id) as Known;
    const answer = await this.request(at, client, 'tasks/cancel', { taskId: id });
    if (answer === undefined) return;
    if (known.owner !== client.principal) return void expect(answer.error).toMatchObject({ code: -32602 });
    if (client.revision === '2026-07-28') return void expect(answer.error).toBeUndefined();
    // An error: the task had ended.
    if (answer.error !== undefined) return;
    expect(answer.result.status).toBe('cancelled');
    known.cancelled = true;
  }

  /** kill -9, and another process instead. All leases end, so that the other process loses tasks that it still runs. */
  async crash(at: number): Promise<void> {
    const process = this.#processes[at] as Process;
    await process.kill();
    this.#checkPromises(process);
    this.#processes[at] = await this.#process(at);
    const db = await connectSqlite(join(this.#folder, 'mooring.db'));
    db.exec(`pragma busy_timeout = 20000; begin immediate;
      update task_changes set last = last + 1;
      update tasks set due = 1, lease_until = 1, changed = (select last from task_changes) where holder is not null;
      commit;`);
    db.close();
  }

  #checkPromises({ broken }: Process): void {
    if (broken !== undefined) throw broken;
  }

  /** Every task comes to an end, and its handler did no more than it may. */
  async finish(): Promise<void> {
    for (const [id, known] of this.tasks) {
      const client = { principal: known.owner, revision: '2026-07-28' } as const;
      for (let polls = 1; ; polls++) {
        const status = (await this.get(0, client, id)) ?? '';
        if (terminal.includes(status)) break;
        if (status === 'input_required') await this.answer(1, client, id);
        // After several crashes a handler starts again only after a long pause.
        if (polls % 300 === 0) await this.settle(0, client, id);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
    await this.#lastAttempts();
    for (const [id, { starts, once }] of this.#effects) {
      expect(once, 'a step that must happen once').toBeLessThanOrEqual(1);
      if (this.tasks.get(id)?.tool === 'fail')
        expect(starts, 'a handler that must not run twice').toBeLessThanOrEqual(1);
    }
    for (const process of this.#processes) {
      await process.kill();
      this.#checkPromises(process);
    }
  }

  /** All tasks have ended: nothing that anyone tries now changes them, nor what handlers that run on return. */
  async #lastAttempts(): Promise<void> {
    await pause(20);
    for (const [id, known] of this.tasks) {
      const client = { principal: known.owner, revision: '2026-07-28' } as const;
      for (const at of [0, 1]) {
        for (let n = 0; n < 2; n++) await this.settle(at, client, id);
        await this.cancel(at, client, id);
        await this.cancel(at, { ...client, revision: '2025-11-25' }, id);
        await this.answer(at, client, id);
        await this.get(at, client, id);
      }
      this.#checkRun(id, known);
    }
  }
}

const index = fc.nat(1);
const which = fc.nat(20);
const who = fc.constantFrom(...clients);
const isAwaited = fc.boolean();
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      index,
      who,
      tool: fc.constantFrom('fail', 'replay', 'busy'),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('get' as const), index, who, which, isAwaited }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('answer' as const), index, who, which, isAwaited }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), index, who, which, isAwaited }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('settle' as const), index, who, which, isAwaited }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(25) }) },
);

test('whatever two servers and three clients do, tasks keep their promises', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 30 }), async (actions) => {
      const world = await new World().start();
      // The second process works on tasks that the first one takes over.
      for (let n = 0; n < 3; n++) await world.create(1, clients[1] as Client, 'busy');
      await world.crash(0);
      const running: Promise<unknown>[] = [];
      for (const each of actions) {
        if (each.do === 'pass') await pause(each.ms);
        else if (each.do === 'crash') await world.crash(each.index);
        else if (each.do === 'create') await world.create(each.index, each.who, each.tool);
        else {
          const ids = [...world.tasks.keys()];
          const id = ids[each.which % ids.length];
          if (id === undefined) continue;
          const done = world[each.do](each.index, each.who, id);
          // Others happen at the same time as what follows.
          if (each.isAwaited) await done;
          else running.push(done);
        }
      }
      await Promise.all(running);
      await world.finish();
    }),
    { ...propertyRuns(4, 25), endOnFailure: true },
  );
});
