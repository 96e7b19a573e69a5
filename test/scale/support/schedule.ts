// A random schedule of what clients do and what happens to processes, checked step by step against a model of each session.
import { memos } from '../fixtures/schedule-plugin/index.js';
import { Random } from './random.ts';
import { check, type DialogueModel, SessionModel, Violation } from './session-model.ts';
import type { Node, Topology } from './topology.ts';

export interface ScheduleOptions {
  readonly steps?: number;
  readonly maxSessions?: number;
  /** How often a process may be killed. */
  readonly kills?: number;
}

/** What a client can do. */
type Action =
  | 'echo'
  | 'ask'
  | 'answer'
  | 'answerOfOthers'
  | 'drop'
  | 'resume'
  | 'cancel'
  | 'listen'
  | 'unlisten'
  | 'subscribe'
  | 'unsubscribe'
  | 'touch'
  | 'delete';

const weights: Readonly<Record<Action, number>> = {
  echo: 4,
  ask: 4,
  answer: 8,
  answerOfOthers: 1,
  drop: 4,
  resume: 5,
  cancel: 1,
  listen: 3,
  unlisten: 2,
  subscribe: 3,
  unsubscribe: 1,
  touch: 4,
  delete: 1,
};

/** Runs the schedule of a seed. Throws a `Violation` that names the seed and the last steps. */
export async function runSchedule(seed: number, topology: Topology, options: ScheduleOptions = {}): Promise<void> {
  const schedule = new Schedule(seed, topology, options);
  try {
    await schedule.run();
  } catch (error) {
    const steps = schedule.log.slice(-25).join('\n  ');
    throw new Violation(`seed ${seed}: ${(error as Error).message}\nThe last steps:\n  ${steps}`, { cause: error });
  }
}

class Schedule {
  readonly log: string[] = [];
  readonly #random: Random;
  readonly #topology: Topology;
  readonly #sessions: SessionModel[] = [];
  readonly #secrets: string[] = [];
  readonly #touches = new Map<string, number>();
  readonly #seed: number;
  readonly #options: Required<ScheduleOptions>;
  #kills = 0;

  constructor(seed: number, topology: Topology, { steps = 40, maxSessions = 4, kills = 2 }: ScheduleOptions) {
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#topology = topology;
    this.#options = { steps, maxSessions, kills };
  }

  async run(): Promise<void> {
    await this.#open();
    for (let n = 0; n < this.#options.steps; n++) await this.#step();
    await this.#finish();
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const chance = random.next();
    if (this.#sessions.length === 0 || (chance < 0.08 && this.#sessions.length < this.#options.maxSessions)) {
      await this.#open();
    } else if (chance > 0.96 && this.#kills < this.#options.kills) {
      await this.#kill();
    } else {
      // Several clients at the same time, each doing one thing.
      const sessions = this.#sessions.filter(() => random.next() < 0.5);
      const chosen = sessions.length === 0 ? [random.pick(this.#sessions)] : sessions;
      const actions = chosen.map((session) => ({ session, action: this.#chooseAction(session) }));
      this.log.push(actions.map(({ session, action }) => `${session.secret} ${action}`).join(' | '));
      await Promise.all(actions.map(({ session, action }) => this.#act(session, action)));
    }
    for (const session of this.#sessions) {
      await session.expectChanges();
      for (const dialogue of session.dialogues) session.checkOrder(dialogue);
      session.checkStreams(this.#secrets, this.#topology.hasGaps || this.#kills > 0);
    }
  }

  async #open(): Promise<void> {
    const secret = `secret-${this.#seed}-${this.#secrets.length}-`;
    // A source of its own: what one client does must not change where the others go.
    const random = new Random(this.#seed * 1_000 + this.#secrets.length);
    const session = new SessionModel(this.#topology, secret, (nodes) => random.pick(nodes));
    this.log.push(`${secret} opens`);
    await session.open();
    this.#secrets.push(secret);
    this.#sessions.push(session);
  }

  async #kill(): Promise<void> {
    this.#kills++;
    const pick = this.#random.below(this.#topology.nodes.length);
    const killed = this.#topology.nodes[pick] as Node;
    this.log.push(`process ${pick} is killed`);
    await this.#topology.kill(pick);
    for (const session of this.#sessions) await session.afterKill(killed);
  }

  #chooseAction(session: SessionModel): Action {
    const { dialogues, isListening, subscriptions } = session;
    const running = dialogues.filter(({ isOver }) => !isOver);
    const possible: Record<Action, boolean> = {
      echo: true,
      ask: dialogues.length < 3,
      answer: running.some(({ openQuestion }) => openQuestion !== undefined),
      answerOfOthers: this.#foreignQuestion(session) !== undefined,
      drop: running.some(({ isConnected }) => isConnected),
      resume: running.some(({ isConnected }) => !isConnected),
      cancel: running.some(({ isConnected, mayBeLost }) => isConnected && !mayBeLost),
      listen: true,
      unlisten: isListening,
      subscribe: subscriptions.size < memos.length,
      unsubscribe: subscriptions.size > 0,
      touch: true,
      delete: true,
    };
    const rows = (Object.keys(weights) as Action[]).filter((action) => possible[action]);
    return this.#random.weighted(Object.fromEntries(rows.map((action) => [action, weights[action]])) as typeof weights);
  }

  /** Of a client without calls: the ids of requests are unique within a session only, so it could answer its own. */
  #foreignQuestion(session: SessionModel): DialogueModel | undefined {
    if (session.dialogues.length > 0) return undefined;
    return this.#sessions
      .filter((other) => other !== session)
      .flatMap(({ dialogues }) => dialogues)
      .find(({ openQuestion }) => openQuestion !== undefined);
  }

  async #act(session: SessionModel, action: Action): Promise<void> {
    const random = this.#random;
    const running = session.dialogues.filter(({ isOver }) => !isOver);
    const one = (holds: (dialogue: DialogueModel) => boolean): DialogueModel => random.pick(running.filter(holds));
    switch (action) {
      case 'echo':
        return session.echo();
      case 'ask':
        return session.ask(1 + random.below(3));
      case 'answer':
        return session.answer(one(({ openQuestion }) => openQuestion !== undefined));
      case 'answerOfOthers': {
        const id = this.#foreignQuestion(session)?.openQuestion?.id;
        const content = { text: `${session.secret} interferes` };
        return void (await session.notify({ id, result: { action: 'accept', content } }));
      }
      case 'drop':
        return one(({ isConnected }) => isConnected).last.reader.cut();
      case 'resume':
        return session.resume(one(({ isConnected }) => !isConnected));
      case 'cancel':
        return session.cancel(one(({ isConnected, mayBeLost }) => isConnected && !mayBeLost));
      case 'listen':
        return session.listen();
      case 'unlisten':
        return session.unlisten();
      case 'subscribe':
        return session.subscribe(random.pick(memos.filter((uri) => !session.subscriptions.has(uri))));
      case 'unsubscribe':
        return session.unsubscribe(random.pick([...session.subscriptions]));
      case 'touch':
        return this.#touch(session, random.pick(memos));
      case 'delete':
        await session.delete();
        this.#sessions.splice(this.#sessions.indexOf(session), 1);
        return undefined;
    }
  }

  async #touch(session: SessionModel, uri: string): Promise<void> {
    const node = session.node();
    for (const each of this.#sessions) each.owe(uri, node);
    this.#touches.set(uri, (this.#touches.get(uri) ?? 0) + 1);
    await session.request('tools/call', { name: 'touch', arguments: { uri } }, node);
  }

  /** Everything that was begun comes to an end, and every client has been told of every change. */
  async #finish(): Promise<void> {
    for (const session of this.#sessions) {
      this.log.push(`${session.secret} finishes`);
      for (const dialogue of [...session.dialogues]) await this.#complete(session, dialogue);
      if (!session.isListening) await session.listen();
      await session.expectChanges();
      session.checkStreams(this.#secrets, this.#topology.hasGaps || this.#kills > 0);
      this.#checkCounts(session);
      await session.echo();
      await session.delete();
    }
  }

  async #complete(session: SessionModel, dialogue: DialogueModel): Promise<void> {
    for (let turn = 0; turn < 20 && !dialogue.isOver && session.dialogues.includes(dialogue); turn++) {
      if (!dialogue.isConnected) await session.resume(dialogue);
      else await session.answer(dialogue);
    }
    if (!session.dialogues.includes(dialogue)) return;
    check(dialogue.isOver, () => `${session.secret}: call ${dialogue.id} never ends`);
    session.checkOrder(dialogue);
  }

  /** Without a kill, a change is announced again only where a stream is taken over from a process that responds too late. */
  #checkCounts(session: SessionModel): void {
    if (this.#topology.hasGaps || this.#kills > 0) return;
    for (const [uri, touches] of this.#touches) {
      const told = session.told(uri);
      const most = touches + session.streams.length;
      check(told <= most, () => `${session.secret}: was told ${told} times of ${touches} changes of ${uri}`);
    }
  }
}
