// Handlers that return their questions: puts them, and runs the handler again, until it returns something else. How a
// round travels is up to the asker; where the client is asked by retry, this run ends with the first open question.

import type { Call } from '../contract.ts';
import { throwIfSettled } from '../lazy-feature.ts';
import { isThenable } from '../run-call.ts';
import { InputRequired } from './input-required.ts';
import { inputRequesterOf } from './load.ts';

/** A handler that never looks at its answers would ask for ever. */
const maxInputRetries = 8;

type Awaitable<T> = T | Promise<T>;

/** Runs a handler, and again after each round of questions it returns. */
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

/** The same for one that has returned its first questions. */
export async function rerunWithInput<T>(
  call: Call,
  first: InputRequired,
  run: () => Awaitable<T | InputRequired>,
): Promise<T> {
  const asker = await inputRequesterOf(call);
  let required = first;
  for (let round = 0; round < maxInputRetries; round++) {
    await asker.send(Object.entries(required.asks));
    asker.restart();
    throwIfSettled(call);
    const value = await run();
    if (!(value instanceof InputRequired)) return value;
    required = value;
  }
  throw new Error(
    `The handler asked ${maxInputRetries} times in one call; it should look at ctx.inputResponses before it asks`,
  );
}
