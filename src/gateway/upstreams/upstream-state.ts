// The state of one upstream: since when and why, and when one that cannot be used is tried again.

import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { UpstreamStateName, UpstreamStatus } from './contract.ts';
import { CallersSignIn, messageOf, needsLogin } from './start-error.ts';

export interface StateEvents {
  changed(): void;
  /** It is time to find out whether it can be used again. */
  retry(): void;
}

export interface StartFailure {
  /** It is not tried again for a while. */
  readonly isOver: boolean;
  /** It says nothing about other callers. */
  readonly isOfCaller: boolean;
  /** Another connection is open. */
  readonly isInUse: boolean;
}

export class UpstreamState {
  readonly #events: StateEvents;
  readonly #retryMs: number;
  #name: UpstreamStateName;
  #since = new Date();
  #reason: string | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;
  /** Those that wait for the outcome of an attempt to start it. */
  #waiting: (() => void)[] = [];

  constructor(isDisabled: boolean, retryMs: number, events: StateEvents) {
    this.#name = isDisabled ? 'disabled' : 'idle';
    this.#retryMs = retryMs;
    this.#events = events;
  }

  get name(): UpstreamStateName {
    return this.#name;
  }

  /** As operators see it. */
  get fields(): Pick<UpstreamStatus, 'state' | 'since' | 'reason'> {
    const reason = this.#reason === undefined ? {} : { reason: this.#reason };
    return { state: this.#name, since: this.#since.toISOString(), ...reason };
  }

  enter(name: UpstreamStateName, reason?: string): void {
    if (this.#name === 'disabled') return;
    const isChange = name !== this.#name || reason !== this.#reason;
    this.#name = name;
    this.#reason = reason;
    if (name === 'ready' || name === 'idle') {
      this.stopRetrying();
      this.#waiting = [];
    }
    if (!isChange) return;
    this.#since = new Date();
    this.#events.changed();
  }

  /** It is being started. After a failed attempt, why that failed is still the reason. */
  starting(): void {
    this.enter('starting', ['starting', 'down'].includes(this.#name) ? this.#reason : undefined);
  }

  /** Enters a state that ends when another attempt succeeds: attempts continue until it is ready, or not needed. */
  enterAndRetry(name: UpstreamStateName, reason: string | undefined): void {
    this.enter(name, reason);
    this.stopRetrying();
    if (this.#isClosed) return;
    this.#timer = setInterval(() => this.#events.retry(), this.#retryMs);
    this.#timer.unref();
  }

  /**
   * Lists could not be read. `areKnown`: there are lists from before. `isRetried`: nothing else reads them again before they change,
   * which is so for those of all callers.
   */
  listsFailed(why: string, areKnown: boolean, isRetried: boolean): void {
    // It may also have ended before its lists were ever read.
    if (this.#name !== 'ready' && (this.#name !== 'idle' || areKnown)) return;
    const reason = `its lists could not be read: ${why}`;
    if (isRetried) this.enterAndRetry('degraded', reason);
    else this.enter('degraded', reason);
  }

  /** A connection could not be opened. */
  startFailed(error: unknown, failure: StartFailure, auth: UpstreamConfig['auth']): void {
    const { isOver, isOfCaller, isInUse } = failure;
    if (!isOfCaller) for (const resolve of this.#waiting.splice(0)) resolve();
    const reason = messageOf(error);
    if (isInUse && (!isOver || isOfCaller || needsLogin(error))) return;
    if (isOfCaller) this.enter('idle', reason);
    else if (isInUse) this.enterAndRetry('degraded', `a connection could not be opened: ${reason}`);
    else if (needsLogin(error)) this.loginNeeded(reason, auth);
    else if (isOver) this.enterAndRetry('down', reason);
    else this.enter('starting', reason);
  }

  /** Resolves when the next attempt to start it has failed for all callers; there may be more attempts. */
  untilStartFails(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** A caller has to sign in, which no operator can do for it. */
  signInNeeded(): void {
    this.enter('idle', messageOf(new CallersSignIn()));
  }

  loginNeeded(reason: string, auth: UpstreamConfig['auth']): void {
    // A user who has to sign in would get a page in the browser with every attempt.
    if (auth.kind === 'oauth') this.enter('needs-login', reason);
    else this.enterAndRetry('needs-login', reason);
  }

  stopRetrying(): void {
    clearInterval(this.#timer);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
    this.stopRetrying();
  }
}
