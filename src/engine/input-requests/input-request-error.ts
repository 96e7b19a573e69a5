// Why a question could not be answered.

import { type Ability, requiredCapabilities } from '../../protocol/abilities.ts';
import { type WireError, wireErrors } from '../../protocol/errors.ts';

export type InputRequestErrorCode =
  | 'missing-capability'
  | 'unsupported'
  | 'no-return-path'
  | 'declined'
  | 'timeout'
  | 'invalid-answer'
  | 'not-allowed-here';

/** Why a question could not be answered. Handlers may catch it and do without. */
export class InputRequestError extends Error {
  readonly code: InputRequestErrorCode;
  /** What the client would have to declare, when that is the reason. */
  readonly missing: readonly Ability[];

  constructor(code: InputRequestErrorCode, message: string, missing: readonly Ability[] = [], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'InputRequestError';
    this.code = code;
    this.missing = missing;
  }

  /** How an unhandled one goes to a client that can mend it by declaring more. */
  toWireError(): WireError | undefined {
    return this.missing.length === 0 ? undefined : wireErrors.missingCapability(requiredCapabilities(this.missing));
  }
}
