// The error of a call that took longer than it may.

import { type WireError, wireErrors } from '../../protocol/errors.ts';
import type { RequestInfo } from '../ports.ts';

export class CallTimeout extends Error {
  /** For features that do not report failures as results. */
  readonly wireError: WireError;

  constructor({ name, method }: Pick<RequestInfo, 'name' | 'method'>) {
    const wireError = wireErrors.callTimedOut(name ?? method);
    super(wireError.message);
    this.name = 'CallTimeout';
    this.wireError = wireError;
  }
}
