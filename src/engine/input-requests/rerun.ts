// Handlers that return their input requests: sends them and runs the handler again, until it returns something else. On the
// stateless revision this run ends with the first input request that has no response; the client then retries.

import type { Awaitable } from '../../common/awaitable.ts';
import { isThenable } from '../calls/run-call.ts';
import type { Call } from '../contract.ts';
import { throwIfSettled } from '../lazy-feature.ts';
import { InputRequired } from './input-required.ts';
import { inputRequesterOf } from './load.ts';

/** Stops a handler that never reads its responses from sending input requests forever. */
const maxInputRetries = 8;

/** Runs a handler, and again each time it returns input requests. */
export function runWithInput<T>(call: Call, run: () => Awaitable<T | InputRequired>): Awaitable<T> {
  throwIfSettled(call);
  const returned = run();
  if (isThenable(returned)) {
    return Promise.resolve(returned).then((value) =>
      value instanceof InputRequired ? rerunWithInput(call, value, run) : (value as T),
    );
  }
  return returned instanceof InputRequired ? rerunWithInput(call, returned, run) : (returned as T);
}

/** The same for a handler that has returned its first input requests. */
export async function rerunWithInput<T>(
  call: Call,
  first: InputRequired,
  run: () => Awaitable<T | InputRequired>,
): Promise<T> {
  let required = first;
  for (let retries = 0; retries < maxInputRetries; retries++) {
    const requester = await inputRequesterOf(call, Object.values(required.requests));
    await requester.send(Object.entries(required.requests));
    requester.restart();
    throwIfSettled(call);
    const value = await run();
    if (!(value instanceof InputRequired)) return value;
    required = value;
  }
  throw new Error(
    `The handler requested input ${maxInputRetries} times in one call; check ctx.inputResponses before requesting input`,
  );
}
