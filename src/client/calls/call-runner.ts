// Runs calls to their end: over a connection that may be opened again, with input requests, and retries where they
// do no harm. One per client; it owns the current connection.

import { withEitherSignal } from '../../common/abort-signals.ts';
import { pause } from '../../common/wait.ts';
import { errorRows } from '../../protocol/errors.ts';
import type { Params } from '../../protocol/json-rpc.ts';
import type { ClientCodec, DecodedResult } from '../../protocol/revisions/client-revisions.ts';
import type { ClientConnection } from '../connection.ts';
import { ClientError, clientErrors } from '../errors.ts';
import type { InputResponder } from '../input-requests.ts';
import { resolveTimeLimits, type TimeLimits } from '../options.ts';
import type { ClientDeadlines } from './deadline.ts';
import { InputRequiredError, linksToVisit, respondToInputRequests, visitLinks } from './input-required.ts';
import type { CallOwner, OutgoingCall } from './outgoing-call.ts';
import { pauseMs, type ResolvedRetry, transience } from './retry.ts';

/** What a call runner needs. */
export interface CallRunnerOptions {
  readonly address: string;
  /** Opens a new connection; undefined where a lost one stays lost. */
  readonly reopen: ((signal: AbortSignal) => Promise<ClientConnection>) | undefined;
  readonly inputs: InputResponder;
  readonly retry: ResolvedRetry;
  readonly maxInputRetries: number;
  /** The default time limits of a call. */
  readonly limits: TimeLimits;
  readonly deadlines: ClientDeadlines;
  /** The server does not know the session of the connection any more. */
  readonly onLost: (connection: ClientConnection, error: ClientError) => void;
  /** A new connection replaced a lost one. */
  readonly onRestored: (connection: ClientConnection) => void;
}

/** How often a new connection is tried before the calls that wait for it fail. */
const maxDials = 3;

/** Runs each call to its end. */
export class CallRunner implements CallOwner {
  readonly #options: CallRunnerOptions;
  readonly #closing = new AbortController();
  #connection: ClientConnection | undefined;
  /** Connections that finish their open requests and get no new ones. */
  readonly #retired = new Set<ClientConnection>();
  #reopening: Promise<ClientConnection> | undefined;

  constructor(connection: ClientConnection, options: CallRunnerOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** The current connection; undefined while there is none. */
  get connection(): ClientConnection | undefined {
    return this.#connection;
  }

  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Whether a lost connection is opened again. */
  get reopens(): boolean {
    return this.#options.reopen !== undefined;
  }

  start<T>(call: OutgoingCall): Promise<T> {
    const result = call.begin<T>(this, this.#cancel);
    if (!call.ended) this.#send(call);
    return result;
  }

  /** The current connection, or a new one. */
  ready(): Promise<ClientConnection> {
    const connection = this.#connection;
    if (this.closed) return Promise.reject(clientErrors.closed(this.#options.address));
    if (connection !== undefined && connection.over === undefined) return Promise.resolve(connection);
    return this.#reopen(connection?.over);
  }

  async close(graceMs?: number): Promise<void> {
    this.#closing.abort(clientErrors.closed(this.#options.address));
    const open = [...this.#retired, ...(this.#connection === undefined ? [] : [this.#connection])];
    await Promise.allSettled([
      ...open.map((connection) => connection.close(undefined, graceMs)),
      this.#reopening?.then((late) => late.close(undefined, graceMs)),
    ]);
  }

  // What calls report.

  inputRequired(call: OutgoingCall, reading: Extract<DecodedResult, { kind: 'input-required' }>): void {
    if (call.options.inputRequired === 'throw') {
      call.reject(new InputRequiredError(call.method, reading.requests, reading.state));
      return;
    }
    void this.#respondToInput(call, reading);
  }

  failed(call: OutgoingCall, error: ClientError): void {
    if (this.closed) call.reject(clientErrors.closed(this.#options.address));
    else if (error.code === 'session-lost' && call.reinitializations++ === 0) {
      // Another call may have opened the next session meanwhile.
      if (call.connection === this.#connection) this.#retire(error);
      // The server rejected it without processing it, so that this repeats nothing.
      if (call.options.sessionLost === 'throw') call.reject(error);
      else this.#send(call);
    } else if (error.serverError?.code === errorRows.headerMismatch.code && call.onHeaderMismatch !== undefined)
      void this.#retryAfterMismatch(call);
    else {
      const links = call.options.inputRequired === 'throw' ? undefined : linksToVisit(error);
      if (links !== undefined) void this.#visit(call, links, error);
      else if (this.#mayRepeat(call, error)) void this.#repeat(call, error);
      else call.reject(error);
    }
  }

  // What happens to them then.

  #send(call: OutgoingCall): void {
    const connection = this.#connection;
    if (connection !== undefined && connection.over === undefined) {
      call.attempts++;
      call.connection = connection;
      connection.send(call);
      return;
    }
    this.#sendLater(call);
  }

  /** A call that waits for a new connection waits no longer than for a response. */
  #sendLater(call: OutgoingCall): void {
    const { timeoutMs } = resolveTimeLimits(call.options, this.#options.limits);
    const stop = this.#options.deadlines.start(timeoutMs, () => {
      call.reject(clientErrors.timeout(call.method, timeoutMs, '; the connection was lost and has not been restored'));
    });
    this.ready().then(
      () => {
        stop();
        if (!call.ended) this.#send(call);
      },
      (error) => {
        stop();
        call.reject(error);
      },
    );
  }

  #cancel = (call: OutgoingCall): void => {
    call.connection?.cancel(call, 'cancelled by the caller');
  };

  #mayRepeat(call: OutgoingCall, error: ClientError): boolean {
    const { maxAttempts, maxDelayMs } = this.#options.retry;
    const kind = transience(error);
    if (kind === undefined || call.longLived || call.attempts >= maxAttempts) return false;
    // It would be rejected again; the message says when to retry.
    if ((error.serverError?.retryAfterMs ?? 0) > maxDelayMs) return false;
    return kind === 'unsent' || call.idempotent;
  }

  async #repeat(call: OutgoingCall, error: ClientError): Promise<void> {
    call.stopClock();
    try {
      const ms = pauseMs(call.attempts + 1, this.#options.retry, error);
      await withEitherSignal(call.options.signal, this.#closing.signal, (signal) => pause(ms, signal));
      if (!call.ended) this.#send(call);
    } catch {
      call.reject(this.closed ? clientErrors.closed(this.#options.address) : error);
    }
  }

  async #retryAfterMismatch(call: OutgoingCall): Promise<void> {
    const { onHeaderMismatch } = call;
    call.onHeaderMismatch = undefined;
    try {
      await onHeaderMismatch?.(call);
      if (!call.ended) this.#send(call);
    } catch (error) {
      call.reject(error);
    }
  }

  async #respondToInput(call: OutgoingCall, result: Extract<DecodedResult, { kind: 'input-required' }>): Promise<void> {
    await this.#retryWith(call, async (codec, signal) => {
      call.retryFields = await respondToInputRequests(call.method, result, this.#options.inputs, codec, {
        signal,
        call: call.options,
      });
    });
  }

  /** URLs to visit come with an error, not with a result: the request is simply sent again once they were visited. */
  async #visit(call: OutgoingCall, links: readonly Params[], error: ClientError): Promise<void> {
    await this.#retryWith(call, async (codec, signal) => {
      if (!(await visitLinks(call.method, links, this.#options.inputs, codec, { signal, call: call.options })))
        throw error;
      call.retryFields = '';
    });
  }

  /** Prepares the retry and sends the request again. */
  async #retryWith(
    call: OutgoingCall,
    prepare: (codec: ClientCodec, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const { maxInputRetries, address } = this.#options;
    const codec = call.connection?.codec;
    call.stopClock();
    try {
      if (codec === undefined) throw clientErrors.closed(address);
      if (++call.rounds > maxInputRetries) throw clientErrors.tooManyInputRetries(call.method, maxInputRetries);
      await withEitherSignal(call.options.signal, this.#closing.signal, (signal) => prepare(codec, signal));
      if (call.ended) return;
      call.attempts = 0;
      this.#send(call);
    } catch (error) {
      call.reject(this.closed ? clientErrors.closed(address) : error);
    }
  }

  // The current connection.

  /** Lets the present connection finish its open requests; later ones use a new connection. */
  #retire(error: ClientError): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#options.onLost(connection, error);
    this.#connection = undefined;
    this.#retired.add(connection);
    void connection.ended.then(() => this.#retired.delete(connection));
    connection.retire();
  }

  #reopen(lost: ClientError | undefined): Promise<ClientConnection> {
    const { reopen, address } = this.#options;
    if (reopen === undefined) return Promise.reject(lost ?? clientErrors.closed(address));
    this.#reopening ??= this.#dial(reopen).finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  async #dial(reopen: (signal: AbortSignal) => Promise<ClientConnection>): Promise<ClientConnection> {
    const { signal } = this.#closing;
    for (let attempt = 1; ; attempt++) {
      try {
        const connection = await reopen(signal);
        if (signal.aborted) {
          await connection.close();
          throw signal.reason;
        }
        this.#connection = connection;
        this.#options.onRestored(connection);
        return connection;
      } catch (error) {
        if (signal.aborted || attempt >= maxDials || !isRetryable(error)) throw error;
        await pause(pauseMs(attempt + 1, { baseDelayMs: 200, maxDelayMs: 5_000, maxAttempts: maxDials }), signal);
      }
    }
  }
}

function isRetryable(error: unknown): boolean {
  return error instanceof ClientError && (error.code === 'connect-timeout' || transience(error) !== undefined);
}
