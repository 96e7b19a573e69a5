// What a handler returns instead of waiting for input: its input requests. It runs again with the responses.

import type { InputRequests } from './input-request.ts';

/** What a handler returns that is not a value to convert into a result. One class, so that returned values are tested once. */
export abstract class HandlerReturn {}

/** Input requests that need responses before the handler can continue; created by `inputRequired`. */
export class InputRequired extends HandlerReturn {
  /** The input requests by key. */
  readonly requests: InputRequests;

  constructor(requests: InputRequests) {
    super();
    this.requests = requests;
  }
}

/**
 * Ends a run of the handler with input requests: it runs again once there are responses, and reads them with
 * `ctx.inputResponses`. For handlers in phases; a handler that waits for its input uses `ctx.requestInputs`.
 */
export function inputRequired(requests: InputRequests): InputRequired {
  if (Object.keys(requests).length === 0) throw new TypeError('inputRequired needs at least one input request');
  return new InputRequired(requests);
}
