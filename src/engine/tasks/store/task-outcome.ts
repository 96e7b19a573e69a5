// The outcome of a task as it is stored: what its handler returned or threw.

import { type WireError, wireErrors } from '../../../protocol/errors.ts';
import { isObject } from '../../../protocol/json-rpc.ts';
import type { Json } from '../../../protocol/model.ts';
import type { Call } from '../../contract.ts';
import type { TaskOutcome } from './task-store.ts';

/** Whether a result reports an error. */
export function isFailure(result: unknown): boolean {
  return isObject(result) && result['isError'] === true;
}

/** A result that is too large, or that JSON cannot represent, is an error. `length`: about how many characters it has. */
export function resultOutcome(
  call: Call,
  result: unknown,
  maxBytes: number,
): { readonly outcome: TaskOutcome; readonly length: number } {
  try {
    const text = JSON.stringify(result);
    // A text of n characters has n to 3n bytes, so most need no counting.
    if (text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes) {
      return { outcome: errorOutcome(call, wireErrors.resultTooLarge(maxBytes)), length: 0 };
    }
    const outcome = { type: 'result', result: JSON.parse(text) as Json, isError: isFailure(result) } as const;
    return { outcome, length: text.length };
  } catch (cause) {
    call.server.logger?.error(`the result of ${call.name} cannot be stored`, { error: cause });
    return { outcome: errorOutcome(call, wireErrors.internal(cause)), length: 0 };
  }
}

export function errorOutcome(call: Call, { kind, code, message, data }: WireError): TaskOutcome {
  const outcome = { type: 'error', code: code ?? call.codec.codeOf(kind), message } as const;
  if (data === undefined) return outcome;
  try {
    return { ...outcome, data: JSON.parse(JSON.stringify(data)) as Json };
  } catch (cause) {
    call.server.logger?.error(`the error of ${call.name} cannot be stored`, { error: cause });
    return outcome;
  }
}
