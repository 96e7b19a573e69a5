// The record of a new task: what the handler needs of the call that created it, without secrets.

import { toBase64Url } from '../../../common/base64url.ts';
import type { Principal } from '../../../protocol/exchange.ts';
import { progressTokenOf } from '../../../protocol/meta.ts';
import type { Json } from '../../../protocol/model.ts';
import { isTraceValue } from '../../../protocol/trace-context.ts';
import { canonicalJson } from '../../../schema/index.ts';
import type { ToolEntry } from '../../catalog/catalog-entry.ts';
import type { Call, RecordedInput, TaskTimes } from '../../contract.ts';
import { digestOf } from '../../sealer.ts';
import type { ResolvedTaskOptions, TaskLimits } from '../task-options.ts';
import type { TaskContext, TaskInput, TaskRecord, TaskStep } from './task-store.ts';

interface NewTask {
  readonly call: Call;
  readonly entry: ToolEntry;
  readonly owner: string;
  readonly service: string;
  readonly limits: TaskLimits;
  /** The process that runs it. */
  readonly holder: string;
  /** What the client requested, or another server says that works on it. */
  readonly times: TaskTimes;
  readonly recorded: RecordedInput | undefined;
  /** Claims of the caller that are stored. */
  readonly claims: readonly string[];
}

/** With less, a client could lose its result between two polls. */
const minTtlMs = 60_000;

export async function newRecord(task: NewTask): Promise<TaskRecord> {
  const { call, entry, owner, service, limits, holder, recorded, times } = task;
  const options = entry.task as ResolvedTaskOptions;
  const args = (call.params['arguments'] ?? {}) as Json;
  const nowMs = Date.now();
  const untilMs = nowMs + limits.leaseMs;
  const dedupeKey = options.dedupe?.(args as never, call.peer.principal);
  return {
    id: newId(),
    service,
    owner,
    tool: entry.key,
    arguments: args,
    digest: await taskDigest(entry.key, args),
    phase: 'running',
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expiresAtMs: limits.maxTtlMs === 0 ? null : nowMs + ttlOf(times.ttlMs, options, limits),
    inputs: inputsOf(recorded, nowMs),
    steps: options.recover === 'replay' ? stepsOf(recorded) : [],
    context: contextOf(call, task.claims),
    attempt: 1,
    version: 1,
    fence: 1,
    lease: { holder, untilMs },
    dueAtMs: untilMs,
    ...(dedupeKey === undefined ? {} : { dedupeKey }),
    recover: options.recover,
    maxAttempts: options.attempts,
    ...(times.pollMs === undefined ? {} : { pollMs: times.pollMs }),
  };
}

/** Detects arguments that changed or got lost. */
export function taskDigest(tool: string, args: Json): Promise<string> {
  return digestOf(`${tool}\u0000${canonicalJson(args)}`);
}

/** 32 characters; the first is a letter or digit, since some programs take a leading "-" for an option. */
function newId(): string {
  for (;;) {
    const id = toBase64Url(crypto.getRandomValues(new Uint8Array(24)));
    if (!id.startsWith('-')) return id;
  }
}

function ttlOf(requested: number | undefined, { ttlMs }: ResolvedTaskOptions, { maxTtlMs }: TaskLimits): number {
  return Math.ceil(Math.min(Math.max(requested ?? ttlMs, minTtlMs), maxTtlMs));
}

/** Input that the client gave before the task existed. It is answered, so no client is asked again. */
function inputsOf(recorded: RecordedInput | undefined, nowMs: number): readonly TaskInput[] {
  return [...(recorded?.responses ?? [])].map(([key, { kind, value }]) => ({
    key,
    kind,
    method: '',
    params: {},
    requestedAtMs: nowMs,
    response: value as Json,
    decoded: true,
    answeredAtMs: nowMs,
  }));
}

function stepsOf(recorded: RecordedInput | undefined): readonly TaskStep[] {
  return [...(recorded?.steps ?? [])].map(([key, value]) => ({ key, state: 'done', value: (value ?? null) as Json }));
}

/** No tokens or headers: they must not stay in use after they have expired or were revoked. */
function contextOf(call: Call, claims: readonly string[]): TaskContext {
  const { peer, clientInfo, capabilities, codec, logLevel, meta, session, task } = call;
  const { traceparent } = meta;
  const progressToken = progressTokenOf(meta);
  return {
    ...(peer.principal === undefined ? {} : { principal: snapshotOf(peer.principal, claims) }),
    ...(clientInfo === undefined ? {} : { clientInfo }),
    capabilities,
    revision: codec.date,
    ...(logLevel === undefined ? {} : { logLevel }),
    ...(progressToken === undefined ? {} : { progressToken }),
    ...(isTraceValue(traceparent) ? { traceparent } : {}),
    ...(task?.modelAnswers === true ? { modelAnswers: true } : {}),
    ...(session === undefined ? {} : { sessionKey: session.key }),
  };
}

/** The principal of a handler that runs again. Of its claims only those that the server needs: they may be personal data. */
function snapshotOf({ id, issuer, scopes, claims = {} }: Principal, names: readonly string[]): Json {
  const kept = Object.fromEntries(names.flatMap((name) => (Object.hasOwn(claims, name) ? [[name, claims[name]]] : [])));
  return {
    id,
    ...(issuer === undefined ? {} : { issuer }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(Object.keys(kept).length === 0 ? {} : { claims: kept as Json }),
  } as Json;
}
