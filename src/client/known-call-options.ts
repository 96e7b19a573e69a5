// The names of the options of calls.

import { assertKnownOptions } from '../common/known-options.ts';
import type { CallOptions, ReadOptions, StartTaskOptions, ToolCallOptions } from './options.ts';

type CallOptionNames<Options> = Record<keyof Options, true>;

const ofCalls: CallOptionNames<CallOptions> = {
  signal: true,
  timeoutMs: true,
  maxTimeoutMs: true,
  onProgress: true,
  logLevel: true,
  headers: true,
  meta: true,
  inputRequired: true,
  sessionLost: true,
  inputRetry: true,
  capabilities: true,
  onResponse: true,
};

/** By kind of call. */
const known = {
  call: ofCalls,
  read: { ...ofCalls, cache: true, onCacheHint: true } satisfies CallOptionNames<ReadOptions>,
  tool: {
    ...ofCalls,
    idempotent: true,
    task: true,
    taskTtlMs: true,
    onTask: true,
    argumentsText: true,
  } satisfies CallOptionNames<ToolCallOptions>,
  startTask: { ...ofCalls, idempotent: true, ttlMs: true } satisfies CallOptionNames<StartTaskOptions>,
  /** `SkillListOptions`. */
  skills: { ...ofCalls, cache: true, onCacheHint: true, onInvalid: true },
  wait: { signal: true },
  close: { graceMs: true },
};

/**
 * Throws for an option that a method of the client does not have: a `timeout` would not limit anything. Instances of classes may
 * have further members: the calls of a gateway are their own options.
 */
export function assertCallOptions(
  method: string,
  options: object | undefined,
  kind: keyof typeof known = 'call',
): void {
  if (options === undefined || isInstance(options)) return;
  assertKnownOptions(method, options, known[kind]);
}

/** As a listener, such as `process.once('SIGTERM', client.close.bind(client))`, it gets arguments of the event. */
export function optionsOfClose(options: unknown): { readonly graceMs?: number | undefined } {
  if (typeof options !== 'object' || options === null) return {};
  assertCallOptions('close', options, 'close');
  return options;
}

function isInstance(options: object): boolean {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return false;
  const prototype: unknown = Object.getPrototypeOf(options);
  return prototype !== Object.prototype && prototype !== null;
}
