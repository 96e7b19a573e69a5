// Runs one call: middleware around the feature, then the answer. A handler that returns without awaiting is answered
// in the same turn, without a promise; one that goes on is kept track of.

import { WireError, wireErrors } from '../protocol/errors.ts';
import { AskError } from './asks/index.ts';
import type { Call } from './call.ts';
import { compose } from './compose.ts';
import type { Feature } from './feature.ts';

export function runCall(call: Call, feature: Feature): void {
  const { core, channel } = call;
  if (core.observers.length > 0) observe(call);
  let result: unknown;
  try {
    result =
      core.middleware.length === 0 ? feature.run(call) : compose(core.middleware, call.info, () => feature.run(call));
    if (!isThenable(result)) return finish(call, feature, result);
  } catch (error) {
    return fail(call, error);
  }
  if (call.settled) return;
  channel.inFlight.set(call.id, call);
  const settled = call.onSettled;
  call.onSettled = (outcome, code) => {
    channel.forget(call);
    settled?.(outcome, code);
  };
  if (feature.pace === 'work') {
    const limit = feature.timeoutMs?.(call) ?? call.revision.rules.timeoutMs;
    if (limit > 0) call.remainingMs = limit;
    core.deadlines.add(call);
  }
  result.then(
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

function finish(call: Call, feature: Feature, result: unknown): void {
  if (call.settled) return;
  call.succeed(feature.encode(result, call), feature.failed?.(result) === true ? 'failed' : 'ok');
}

/** The one place where anything thrown becomes an answer. What is not ours to tell stays in the log. */
function fail(call: Call, error: unknown): void {
  if (call.settled) return;
  call.fail(toWireError(call, error));
}

function toWireError(call: Call, error: unknown): WireError {
  if (error instanceof WireError) return error;
  if (error instanceof AskError) {
    const missing = call.revision.asks === 'retry' ? error.toWireError() : undefined;
    return missing ?? new WireError('internal', error.message);
  }
  call.core.logger?.error(`${call.method} failed`, { error });
  return wireErrors.internal(error);
}

function observe(call: Call): void {
  const { observers } = call.core;
  const request = call.info;
  const startedAt = performance.now();
  for (const observer of observers) observer.started?.(request);
  call.onSettled = chainEnded(call.onSettled, (outcome, code) => {
    const durationMs = performance.now() - startedAt;
    for (const observer of observers) {
      observer.ended?.({ request, outcome, ...(code === undefined ? {} : { code }), durationMs });
    }
  });
}

type Settled = NonNullable<Call['onSettled']>;

function chainEnded(first: Settled | undefined, second: Settled): Settled {
  if (first === undefined) return second;
  return (outcome, code) => {
    first(outcome, code);
    second(outcome, code);
  };
}

export function isThenable(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
