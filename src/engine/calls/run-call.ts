// Runs one call: middleware around the feature, then the response. A handler that returns without awaiting is answered in
// the same turn, without a promise; a call that continues is tracked by its channel.

import { monotonicMs } from '../../common/clock.ts';
import { UserError } from '../../common/user-error.ts';
import { WireError, wireErrors } from '../../protocol/errors.ts';
import { type CallTask, type Feature, stillOpen } from '../contract.ts';
import { InputRequestError } from '../input-requests/input-request-error.ts';
import type { EngineCall } from './call.ts';
import { logFailure } from './log-failure.ts';

/** `atMs`: the current time, if the transport has read it already. */
export function runCall(call: EngineCall, feature: Feature, atMs?: number): void {
  const { server } = call;
  if (server.observers.ended.length > 0) call.startedAt = atMs ?? monotonicMs();
  const { started } = server.observers;
  for (let index = 0; index < started.length; index++) started[index]?.(call);
  let result: unknown;
  try {
    result = server.middleware.run(call, feature);
    if (!isThenable(result)) return finish(call, feature, result);
  } catch (error) {
    return fail(call, error);
  }
  if (!call.settled) {
    call.channel.track(call);
    startTimeLimit(call, feature);
  } else if (!isDetached(call)) return;
  Promise.resolve(result).then(
    (value) => {
      try {
        finish(call, feature, value);
      } catch (error) {
        fail(call, error);
      }
    },
    (error: unknown) => fail(call, error),
  );
}

/** Runs the handler of a task again: a call that was answered before, so that only its task gets the outcome. */
export function runAgain(call: EngineCall, feature: Feature): void {
  const run = async (): Promise<unknown> => call.server.middleware.run(call, feature);
  run().then(
    (result) => finish(call, feature, result),
    (error: unknown) => fail(call, error),
  );
}

function startTimeLimit(call: EngineCall, feature: Feature): void {
  if (feature.duration !== 'handler') return;
  const limit = feature.timeoutMs?.(call) ?? call.codec.rules.timeoutMs;
  call.remainingMs = limit > 0 ? Math.min(limit, call.maxMs) : call.maxMs;
  call.server.deadlines.add(call);
}

function finish(call: EngineCall, feature: Feature, result: unknown): void {
  if (call.settled) {
    if (isDetached(call)) call.task.ended(result);
    return;
  }
  if (result === stillOpen) return call.channel.track(call);
  let encoded: ReturnType<Feature['encode']>;
  try {
    encoded = feature.encode(result, call);
  } catch (error) {
    if (feature.recover === undefined) throw error;
    return call.succeed(feature.encode(feature.recover(error as Error, call), call), 'failed');
  }
  const text = typeof encoded === 'string' ? encoded : encoded.text;
  // A text of n characters has n to 3n bytes, so most need no counting.
  if (text.length * 3 > call.maxResultBytes && byteLength(text) > call.maxResultBytes)
    return failTooLarge(call, feature);
  call.succeed(encoded, feature.failed?.(result) === true ? 'failed' : 'ok');
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The result is larger than allowed: a failure as the feature reports failures, otherwise an error. */
function failTooLarge(call: EngineCall, feature: Feature): void {
  const error = wireErrors.resultTooLarge(call.maxResultBytes);
  if (feature.recover === undefined) return call.fail(error);
  call.succeed(feature.encode(feature.recover(new Error(error.message), call), call), 'failed');
}

/** The one place where anything thrown becomes a response. What the client must not see is only logged. */
function fail(call: EngineCall, error: unknown): void {
  if (!call.settled) call.fail(toWireError(call, error));
  else if (isDetached(call)) call.task.failed(toWireError(call, error));
}

/** It was answered with a task, whose outcome this is. */
function isDetached(call: EngineCall): call is EngineCall & { readonly task: CallTask } {
  return call.task?.id !== undefined;
}

function toWireError(call: EngineCall, error: unknown): WireError {
  if (error instanceof WireError) return error;
  if (error instanceof InputRequestError) {
    const missing = call.codec.inputRequests === 'retry' ? error.toWireError(call.capabilities) : undefined;
    return missing ?? wireErrors.inputRequestFailed(error.message);
  }
  if (error instanceof UserError) return wireErrors.failed(error.message);
  logFailure(call, `${call.method}${call.name === undefined ? '' : ` ${call.name}`} failed`, error);
  return wireErrors.internal(error);
}

export function isThenable(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
