// The error of an input request that got no usable response.

import { type Ability, requiredCapabilities } from '../../protocol/abilities.ts';
import { type WireError, wireErrors } from '../../protocol/errors.ts';
import type { Capabilities } from '../../protocol/model.ts';

/** Why there is no usable response. */
export type InputRequestErrorCode =
  | 'missing-capability'
  | 'unsupported'
  | 'no-return-path'
  | 'declined'
  | 'timeout'
  | 'cancelled'
  | 'invalid-response'
  | 'not-allowed-here';

/** The handler itself does not need the response any more. */
export function cancelledInput(): InputRequestError {
  return new InputRequestError('cancelled', 'The input is no longer needed');
}

/** Why an input request got no usable response. Handlers may catch it and continue without one. */
export class InputRequestError extends Error {
  /** The reason, for programs. */
  readonly code: InputRequestErrorCode;
  /** The abilities that the client did not declare, if that is the reason. */
  readonly missing: readonly Ability[];

  constructor(code: InputRequestErrorCode, message: string, missing: readonly Ability[] = [], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'InputRequestError';
    this.code = code;
    this.missing = missing;
  }

  /** The wire error for a client that can fix it by adding to the capabilities it declares; undefined for other reasons. */
  toWireError(declared: Capabilities = {}): WireError | undefined {
    if (this.missing.length === 0) return undefined;
    return wireErrors.missingCapability(requiredCapabilities(this.missing, declared));
  }
}
