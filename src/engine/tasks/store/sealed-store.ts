// A store that encrypts the contents of tasks before it passes them to another store: arguments, context, messages,
// input requests and their responses, steps, outcome and ticket. The fields that tasks are found by stay readable: id,
// owner, tool, times and keys.

import { errorRows } from '../../../protocol/errors.ts';
import type { Json } from '../../../protocol/model.ts';
import type { Sealer } from '../../ports.ts';
import { summaryOf } from './outcome-summary.ts';
import type { TaskChange, TaskContext, TaskInput, TaskOutcome, TaskRecord, TaskStore } from './task-store.ts';

/** Why a task fails that cannot be decrypted. */
export const sealedReason = 'The stored task cannot be decrypted with the key of this server';

/** What is shown instead of an outcome that cannot be decrypted. The store keeps the encrypted outcome as `data`. */
const sealedOutcome = { type: 'error', code: errorRows.internal.code, message: sealedReason } as const;

/** Characters of decrypted values that are remembered, so that a change decrypts only what is new to this process. */
const maxRemembered = 4 * 1024 * 1024;

/** Encrypts or decrypts a value. `field` says where it belongs: a value that was moved within a record does not open. */
type ConvertValue = (value: Json, field: string) => Promise<Json>;

/** Thrown while a record is opened, and caught in this file. */
class NotOpened extends Error {}

/**
 * Encrypts tasks with the key of a server. Each value is bound to its task and its field. A record that does not open,
 * because of another key or because it was changed, is returned with `sealed` and without contents.
 */
export function sealTasks(store: TaskStore, sealer: Sealer): TaskStore {
  const values = new SealedValues(sealer);
  const sealing =
    (id: string, sealed?: KnownValues): ConvertValue =>
    (value, field) =>
      values.seal(value, `${id}\u0000${field}`, sealed);
  const open = async (record: TaskRecord, openWith = openRecord, sealed?: KnownValues): Promise<TaskRecord> => {
    try {
      return await openWith(record, (value, field) => values.open(value, `${record.id}\u0000${field}`, sealed));
    } catch (error) {
      if (error instanceof NotOpened) return withoutContents(record);
      throw error;
    }
  };
  /** Recently decrypted records, by the stored record: clients poll, and most polls find an unchanged record. */
  const opened = new WeakMap<TaskRecord, TaskRecord>();
  const openAgain = async (record: TaskRecord | undefined): Promise<TaskRecord | undefined> => {
    if (record === undefined) return undefined;
    const found = await open(record);
    opened.set(record, found);
    return found;
  };
  const openAll = (records: readonly TaskRecord[]): Promise<TaskRecord[]> =>
    Promise.all(records.map((record) => open(record)));
  return {
    durable: store.durable,
    async create(record) {
      const result = await store.create(await sealRecord(record, sealing(record.id)));
      return 'existing' in result ? { existing: await open(result.existing) } : result;
    },
    read(id) {
      const record = store.read(id);
      if (record instanceof Promise) return record.then(openAgain);
      return record === undefined ? undefined : (opened.get(record) ?? openAgain(record));
    },
    async change(id, guard, changes) {
      // What it has just encrypted, it need not decrypt: a result may have megabytes.
      const known: KnownValues = new Map();
      const sealed = await Promise.all(changes.map((change) => sealChange(change, sealing(id, known))));
      const result = await store.change(id, guard, sealed);
      return typeof result === 'string' ? result : open(result, openRecord, known);
    },
    claim: async (...given) => openAll(await store.claim(...given)),
    renew: (...given) => store.renew(...given),
    async list(query) {
      const page = await store.list(query);
      const openWith = query.outline === true ? openOutline : openRecord;
      return { ...page, tasks: await Promise.all(page.tasks.map((record) => open(record, openWith))) };
    },
    count: (owner) => store.count(owner),
    async sweep(max) {
      const { deleted, expired } = await store.sweep(max);
      return { deleted, expired: await openAll(expired) };
    },
    ...(store.watch === undefined ? {} : { watch: store.watch.bind(store) }),
    ...(store.close === undefined ? {} : { close: store.close.bind(store) }),
  };
}

async function sealRecord(record: TaskRecord, seal: ConvertValue): Promise<TaskRecord> {
  const { context, outcome, summary } = record;
  const converted = await convertRecord(record, seal);
  return {
    ...converted,
    sealed: true,
    // The form of a context, with all of it encrypted in one field.
    context: {
      principal: await seal(context as unknown as Json, 'context'),
      capabilities: {},
      revision: context.revision,
    },
    ...(outcome === undefined ? {} : { outcome: await sealOutcome(outcome, seal) }),
    ...(summary === undefined ? {} : { summary: await sealOutcome(summary, seal, 'summary') }),
  };
}

async function openRecord(record: TaskRecord, open: ConvertValue): Promise<TaskRecord> {
  // Stored while the server had no key: accepting it would let anyone who can write to the store add tasks.
  if (record.sealed !== true) throw new NotOpened();
  const { sealed: _sealed, ...converted } = await convertRecord(record, open);
  const { context, outcome, summary } = record;
  return {
    ...converted,
    context: (await open(context.principal ?? null, 'context')) as unknown as TaskContext,
    ...(outcome === undefined ? {} : { outcome: await openOutcome(outcome, open) }),
    ...(summary === undefined ? {} : { summary: await openOutcome(summary, open, 'summary') }),
  };
}

/** The same for a record of `outlineOf`, whose outcome is the summary, if it has one and the store does not ignore `outline`. */
async function openOutline(record: TaskRecord, open: ConvertValue): Promise<TaskRecord> {
  if (record.sealed !== true) throw new NotOpened();
  const { sealed: _sealed, message, inputs, outcome, summary, ...rest } = record;
  const field = outcome === summary ? 'summary' : 'outcome';
  return {
    ...rest,
    inputs: await Promise.all(inputs.map((input) => convertInput(input, open))),
    ...(message === undefined ? {} : { message: (await open(message, 'message')) as string }),
    ...(outcome === undefined ? {} : { outcome: await openOutcome(outcome, open, field) }),
  };
}

/** Everything but context and outcome, which keep their form. */
async function convertRecord(record: TaskRecord, convert: ConvertValue): Promise<TaskRecord> {
  const { message, ticket, inputs, steps } = record;
  return {
    ...record,
    arguments: await convert(record.arguments, 'arguments'),
    // It would confirm a guess of the arguments.
    digest: (await convert(record.digest, 'digest')) as string,
    ...(message === undefined ? {} : { message: (await convert(message, 'message')) as string }),
    ...(ticket === undefined ? {} : { ticket: await convert(ticket, 'ticket') }),
    inputs: await Promise.all(inputs.map((input) => convertInput(input, convert))),
    steps: await Promise.all(
      steps.map(async (step) => {
        const { key, value } = step;
        return value === undefined ? step : { ...step, value: await convert(value, `step ${key}`) };
      }),
    ),
  };
}

async function convertInput(input: TaskInput, convert: ConvertValue): Promise<TaskInput> {
  const { key, params, response } = input;
  return {
    ...input,
    params: await convert(params, `input ${key}`),
    ...(response === undefined ? {} : { response: await convert(response, `response ${key}`) }),
  };
}

async function sealChange(change: TaskChange, seal: ConvertValue): Promise<TaskChange> {
  switch (change.type) {
    case 'request-input':
      return { ...change, inputs: await Promise.all(change.inputs.map((input) => convertInput(input, seal))) };
    case 'answer-input':
      return { ...change, response: await seal(change.response, `response ${change.key}`) };
    case 'finish-step':
      return { ...change, value: await seal(change.value, `step ${change.key}`) };
    case 'set-message':
      return { ...change, message: (await seal(change.message, 'message')) as string };
    case 'hand-over':
      return { ...change, ticket: await seal(change.ticket, 'ticket') };
    case 'end':
      return {
        ...change,
        outcome: await sealOutcome(change.outcome, seal),
        summary: await sealOutcome(change.summary ?? summaryOf(change.outcome), seal, 'summary'),
      };
    default:
      return change;
  }
}

async function sealOutcome(outcome: TaskOutcome, seal: ConvertValue, field = 'outcome'): Promise<TaskOutcome> {
  return { ...sealedOutcome, data: await seal(outcome as unknown as Json, field) };
}

async function openOutcome(outcome: TaskOutcome, open: ConvertValue, field = 'outcome'): Promise<TaskOutcome> {
  const token = outcome.type === 'error' ? outcome.data : undefined;
  return (await open(token ?? null, field)) as unknown as TaskOutcome;
}

function withoutContents(record: TaskRecord): TaskRecord {
  const { message: _message, ticket: _ticket, outcome, summary: _summary, ...rest } = record;
  return {
    ...rest,
    sealed: true,
    arguments: null,
    context: { capabilities: {}, revision: record.context.revision },
    inputs: [],
    steps: [],
    ...(outcome === undefined ? {} : { outcome: sealedOutcome }),
  };
}

/** Decrypted values by what they were encrypted to. */
type KnownValues = Map<string, { readonly context: string; readonly value: Json }>;

/** Encrypts and decrypts values, and remembers some pairs. */
class SealedValues {
  readonly #sealer: Sealer;
  readonly #remembered: KnownValues = new Map();
  #length = 0;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** `sealed`: where the pair is added. */
  async seal(value: Json, context: string, sealed?: KnownValues): Promise<string> {
    const token = await this.#sealer.seal('task', value, context);
    this.#remember(token, context, value);
    sealed?.set(token, { context, value });
    return token;
  }

  /** `sealed`: values that need not be decrypted. */
  async open(token: Json, context: string, sealed?: KnownValues): Promise<Json> {
    if (typeof token !== 'string') throw new NotOpened();
    const known = this.#remembered.get(token) ?? sealed?.get(token);
    if (known?.context === context) return known.value;
    const value = await this.#sealer.open('task', token, context);
    if (value === undefined) throw new NotOpened();
    this.#remember(token, context, value);
    return value;
  }

  #remember(token: string, context: string, value: Json): void {
    // A token is about as long as its value. A few large values would only push out the many small ones.
    if (token.length > maxRemembered / 16) return;
    if (this.#length + token.length > maxRemembered) {
      this.#remembered.clear();
      this.#length = 0;
    }
    this.#remembered.set(token, { context, value });
    this.#length += token.length;
  }
}
