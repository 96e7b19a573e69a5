// What a handler returns instead of waiting for input: its input requests. It runs again with the responses.

import type { InputRequest, InputRequests } from './input-request.ts';

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

const kinds: readonly unknown[] = ['elicit', 'elicitUrl', 'sample', 'roots'] satisfies InputRequest['kind'][];

/**
 * Ends a run of the handler with input requests: it runs again once there are responses, and reads them with
 * `ctx.inputResponses`. For handlers in phases; a handler that waits for its input uses `ctx.requestInputs`.
 */
export function inputRequired(requests: InputRequests): InputRequired {
  const entries = Object.entries(requests ?? {});
  const example = 'inputRequired({ name: elicit("Your name?", schema) })';
  if (entries.length === 0) throw new TypeError(`inputRequired needs at least one input request: ${example}`);
  for (const [key, request] of entries) {
    if (kinds.includes(request?.kind)) continue;
    throw new TypeError(
      `inputRequired, ${key}: must be made by elicit, elicitUrl, sample or roots of "mooring": ${example}`,
    );
  }
  return new InputRequired(requests);
}
