// What a handler returns to ask instead of waiting: its questions. It has ended then, and is run again with the answers.

import type { InputRequests } from './input-request.ts';

/** Questions to be answered before the handler can go on; made by `inputRequired`. */
export class InputRequired {
  readonly asks: InputRequests;

  constructor(asks: InputRequests) {
    this.asks = asks;
  }
}

/**
 * Ends a handler with questions: it is run again once they are answered, and finds the answers with `ctx.inputResponses`.
 * For handlers that go by phases; one that would rather wait uses `ctx.requestInputs`.
 */
export function inputRequired(asks: InputRequests): InputRequired {
  if (Object.keys(asks).length === 0) throw new TypeError('inputRequired needs at least one question');
  return new InputRequired(asks);
}
