// The contract of a protocol feature: one method, how it runs and how its outcome is spelled. features/ has one file
// per feature.

import type { CachedText } from '../protocol/cached-text.ts';
import { WireError } from '../protocol/errors.ts';
import type { Call } from './call.ts';

/** What a run returns whose call ends by itself, later: a promise for it would cost each open stream half a kilobyte. */
export const stillOpen: unique symbol = Symbol('still open');

export interface Feature<Result = unknown> {
  /** The outcome in neutral words. Synchronous wherever nothing has to be awaited. */
  run(call: Call): Result | Promise<Result>;
  /** The outcome as the revision spells it. */
  encode(result: Result, call: Call): string | CachedText;
  /** Turns a failure of the call itself, such as a time-out, into an outcome, where failures are outcomes. */
  readonly recover?: ((error: Error, call: Call) => Result) | undefined;
  /**
   * `immediate` (default): answered without user code. `handler`: runs a handler, so time limits and concurrency apply.
   * `long-lived`: stays open until one side ends it.
   */
  readonly duration?: 'immediate' | 'handler' | 'long-lived';
  /** Overrides the server's time limit for this call. */
  timeoutMs?(call: Call): number | undefined;
  /** Says that a finished outcome reports a failure, for observers. */
  failed?(result: Result): boolean;
}

/** A call took longer than it may. */
export class CallTimeout extends Error {
  constructor(call: Call) {
    const name = call.params['name'] ?? call.params['uri'];
    super(`${typeof name === 'string' ? name : call.method} timed out`);
    this.name = 'CallTimeout';
  }

  toWireError(): WireError {
    return new WireError('internal', this.message);
  }
}
