// Carries one request of a client to an upstream and the response back: in one step, or in phases if the upstream needs input.

import type { InputRetry, SignInLink, ToolCallOptions } from '../../client/index.ts';
import { waitAtMost } from '../../common/wait.ts';
import type { Context } from '../../engine/context.ts';
import { principalKey } from '../../engine/ports.ts';
import { WireError } from '../../protocol/errors.ts';
import type { UpstreamConnection } from '../upstreams/connection.ts';
import { callerKeys } from '../upstreams/isolation.ts';
import { signInOf } from '../upstreams/start-error.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { asksOf, canAsk } from './input-request.ts';
import {
  checkPhases,
  inputOf,
  linkIdsOf,
  linksOf,
  type Phase,
  phaseOf,
  recordedPhases,
  recordPhase,
} from './phases.ts';
import { RelayCall, type RelayCallTarget, type RelayOptions } from './relay-call.ts';
import { finishTask, recordedTask, recordSent, wasSent } from './task-recovery.ts';

/** How long a request waits for its user to sign in; less than the time limit of most clients. */
const signInWaitMs = 30_000;

/** How many requests wait for one sign-in. Stops a client that calls again and again from using up what it may have open. */
const maxSignInWaits = 32;

/** The upstream that requests go to. */
export interface RelayTarget extends RelayCallTarget {
  readonly upstream: Upstream;
}

/** A response, and the call and connection that it came with. */
export interface Relayed<T> {
  readonly value: T;
  readonly call: Pick<RelayCall, 'unavailable' | 'resultText'>;
  readonly revision: string;
}

/** A request of a client, and what becomes of its outcome. */
export interface RelayedRequest<T, R> extends RelayOptions {
  /** Sends it. Called once for each phase. */
  send(connection: UpstreamConnection, options: ToolCallOptions): Promise<T>;
  /** Makes the result for the client. */
  finish(answer: Relayed<T>): R;
  /**
   * Called with what the client of the upstream rejects with, `UpstreamUnavailable`, `InputNotPossible`, `LinksDeclined`, or
   * what `finish` throws.
   */
  failed(error: unknown): R | Promise<R>;
}

/** What is sent. */
type Sender<T> = Pick<RelayedRequest<T, unknown>, 'send'>;

/** The user did not visit the pages that the upstream wants to be visited. */
export class LinksDeclined extends Error {
  constructor(cause: unknown) {
    super('The user did not open the page that is needed first', { cause });
  }
}

/**
 * Sends a request of a client to an upstream. The usual one, which is sent once and succeeds, has one promise and no `Relay`:
 * both for every request took a tenth of the time of a call (bench gateway, "stdio to stdio").
 */
export function relay<T, R>(target: RelayTarget, ctx: Context, request: RelayedRequest<T, R>): Promise<R> {
  try {
    if (target.upstream.hasSignIns) return outcomeOf(afterSignIn(target, ctx, request), request);
    if (ctx.task !== undefined) return outcomeOf(new Relay(target, ctx, request).runTask(), request);
    if (ctx.isRetry) return outcomeOf(new Relay(target, ctx, request).resume(), request);
    const call = new RelayCall(ctx, target, request);
    if (call.mayBeHeld) return outcomeOf(new Relay(target, ctx, request).first(call), request);
    const begun = target.upstream.begin(call);
    if (!(begun instanceof Promise)) return straight(begun, call, target, request);
    return begun.then(
      (connection) => straight(connection, call, target, request),
      (error: unknown) => failed(error, request),
    );
  } catch (error) {
    return outcomeOf(Promise.reject(error), request);
  }
}

/** Sign-ins whose links clients have got, with how many requests wait for each. */
const shownSignIns = new WeakMap<SignInLink, number>();

function failed<T, R>(error: unknown, request: RelayedRequest<T, R>): R | Promise<R> {
  noteSignIn(error);
  return request.failed(error);
}

function noteSignIn(error: unknown): void {
  const signIn = signInOf(error);
  if (signIn !== undefined && !shownSignIns.has(signIn)) shownSignIns.set(signIn, 0);
}

/** The user may still be at the page whose link an earlier call has returned. */
async function afterSignIn<T>(
  target: RelayTarget,
  ctx: Context,
  request: RelayOptions & Sender<T>,
): Promise<Relayed<T>> {
  const signIn = target.upstream.signInOf(callerKeys(ctx));
  if (signIn !== undefined) await waitFor(signIn);
  const relayed = new Relay(target, ctx, request);
  if (ctx.task !== undefined) return relayed.runTask();
  return ctx.isRetry ? relayed.resume() : relayed.first();
}

async function waitFor(signIn: SignInLink): Promise<void> {
  const change = (by: number): void => void shownSignIns.set(signIn, (shownSignIns.get(signIn) ?? 0) + by);
  if ((shownSignIns.get(signIn) ?? maxSignInWaits) >= maxSignInWaits) return;
  change(1);
  await waitAtMost(signInWaitMs, signIn.finished);
  change(-1);
}

function outcomeOf<T, R>(relayed: Promise<Relayed<T>>, request: RelayedRequest<T, R>): Promise<R> {
  return relayed.then(
    (answer) => finish(answer, request),
    (error: unknown) => failed(error, request),
  );
}

function finish<T, R>(answer: Relayed<T>, request: RelayedRequest<T, R>): R | Promise<R> {
  try {
    return request.finish(answer);
  } catch (error) {
    return request.failed(error);
  }
}

/** Sends the first request of a call, and finishes it if it succeeds. */
function straight<T, R>(
  connection: UpstreamConnection,
  call: RelayCall,
  target: RelayTarget,
  request: RelayedRequest<T, R>,
): Promise<R> {
  return send(connection, call, request).then(
    (value) => {
      call.end(connection);
      return finish({ value, call, revision: connection.client.revision }, request);
    },
    (error: unknown) => {
      endFailed(connection, call, error);
      return outcomeOf(new Relay(target, call.ctx, request).goOn(call, error), request);
    },
  );
}

function send<T>(connection: UpstreamConnection, call: RelayCall, sender: Sender<T>): Promise<T> {
  call.connection = connection;
  connection.wantLevel(call.ctx.logLevel);
  call.sentAtMs = performance.now();
  try {
    return sender.send(connection, call);
  } catch (error) {
    return Promise.reject(error);
  }
}

function endFailed(connection: UpstreamConnection, call: RelayCall, error: unknown): void {
  const { code } = error as { readonly code?: unknown };
  if (code === 'timeout') connection.timedOut();
  if (code === 'timeout' || code === 'cancelled') connection.cancelled(call);
  call.end(connection);
}

/** A request that is not simply answered: it needs input, is a task, or its upstream ended meanwhile. */
class Relay<T> {
  readonly #target: RelayTarget;
  readonly #ctx: Context;
  readonly #request: RelayOptions & Sender<T>;
  /** The connection of the last request. */
  #last: UpstreamConnection | undefined;
  /** URLs that the user was asked to open. */
  readonly #links: string[] = [];
  /** How many phases are recorded. */
  #phases = 0;

  constructor(target: RelayTarget, ctx: Context, request: RelayOptions & Sender<T>) {
    this.#target = target;
    this.#ctx = ctx;
    this.#request = request;
  }

  async first(call: RelayCall = this.#newCall()): Promise<Relayed<T>> {
    try {
      return await this.#attempt(call);
    } catch (error) {
      return this.#getInput(error);
    }
  }

  /** The first request has failed. */
  async goOn(call: RelayCall, error: unknown): Promise<Relayed<T>> {
    this.#last = call.connection;
    if (!this.#mayRepeat(call, error)) return this.#getInput(error);
    try {
      return await this.#exchange(call, this.#request, true);
    } catch (next) {
      return this.#getInput(next);
    }
  }

  /** The call is a task: it may have begun in a process that has ended. */
  runTask(): Promise<Relayed<T>> {
    const id = recordedTask(this.#ctx);
    if (id === undefined) {
      const phases = recordedPhases(this.#ctx).length;
      if (!wasSent(this.#ctx, phases)) return phases > 0 ? this.resume() : this.first();
      throw new WireError('internal', 'The gateway ended while the call was sent; it may have run', {
        data: { server: this.#target.upstream.slug, mayHaveRun: true },
      });
    }
    const call = this.#newCall();
    const send = ({ client }: UpstreamConnection): Promise<T> => {
      call.followTask(id);
      return finishTask(client, id, call.signal, (task) => call.showStatus(task)) as Promise<T>;
    };
    return this.#exchange(call, { send });
  }

  /** The client has repeated its request, with responses. */
  async resume(): Promise<Relayed<T>> {
    const phases = recordedPhases(this.#ctx);
    this.#phases = phases.length;
    const last = phases.at(-1);
    if (last === undefined) return this.first();
    if (last.kind === 'held') {
      return this.#target.held.resume<Relayed<T>>(last, principalKey(this.#ctx.principal), this.#ctx);
    }
    try {
      return await this.#attempt(this.#newCall(await this.#input(last, undefined)));
    } catch (error) {
      return this.#getInput(error);
    }
  }

  /** Gets the input that a failed request needs, and sends it again. */
  async #getInput(failure: unknown): Promise<Relayed<T>> {
    // The state of the call may be valid only as long as the upstream runs. A run that ends with input requests does not
    // return here, and its client may never retry.
    const release = this.#ctx.inputEndsRun ? undefined : this.#last?.keepOpen();
    try {
      return await this.#answer(failure);
    } finally {
      release?.();
    }
  }

  async #answer(failure: unknown): Promise<Relayed<T>> {
    let error = failure;
    for (;;) {
      const phase = phaseOf(error);
      const signIn = signInOf(error);
      // Later requests wait for the user, also where the server was connected without a sign-in.
      if (signIn !== undefined) this.#target.upstream.signInNeeded(callerKeys(this.#ctx), signIn);
      if (phase?.kind === 'links' && this.#passesLinks) this.#expectCompletion(error);
      if (phase === undefined || (phase.kind === 'links' && this.#passesLinks)) throw error;
      noteSignIn(error);
      checkPhases(this.#phases);
      await recordPhase(this.#ctx, this.#phases++, phase);
      const retry = await this.#input(phase as Exclude<Phase, { kind: 'held' }>, error);
      try {
        const relayed = await this.#attempt(this.#newCall(retry));
        // The upstream did not announce that the user had finished there, but the request now succeeds.
        for (const id of this.#links) this.#ctx.elicitationCompleted(id);
        return relayed;
      } catch (next) {
        error = next;
      }
    }
  }

  /** The client gets the error with the ids of the upstream. */
  #expectCompletion(error: unknown): void {
    const ctx = this.#ctx;
    for (const id of linkIdsOf(error)) this.#last?.expectCompletion(id, () => ctx.elicitationCompleted(id));
    const signIn = signInOf(error);
    void signIn?.finished.then((isSignedIn) => {
      if (isSignedIn) ctx.elicitationCompleted(signIn.id);
    });
  }

  /** A client that is asked during its calls gets the error that wants pages to be visited, and repeats the call itself. */
  get #passesLinks(): boolean {
    return !this.#ctx.inputEndsRun || !this.#ctx.can('elicitation.url');
  }

  async #input(phase: Exclude<Phase, { kind: 'held' }>, error: unknown): Promise<InputRetry | undefined> {
    const { upstream, namesServer } = this.#target;
    const { config } = upstream;
    const asks = asksOf(this.#ctx);
    const input = await inputOf(this.#ctx, this.#phases - 1, phase, {
      serverName: namesServer ? config.slug : undefined,
      canAsk: (request) => canAsk(asks, request),
      roots: config.roots ?? [],
      asked: (each) => {
        if (each.kind === 'elicitUrl' && each.elicitationId !== undefined) this.#links.push(each.elicitationId);
      },
    });
    if (input === 'declined') throw new LinksDeclined(linksOf(error) === undefined ? undefined : error);
    return input;
  }

  #newCall(retry?: InputRetry): RelayCall {
    return new RelayCall(this.#ctx, this.#target, this.#request, retry);
  }

  /** One request to the upstream. */
  #attempt(call: RelayCall): Promise<Relayed<T>> {
    if (call.mayBeHeld) call.onHeld = (held) => void this.#suspend(call, held.id);
    const ctx = this.#ctx;
    const outcome =
      ctx.task === undefined ? this.#exchange(call) : recordSent(ctx, this.#phases).then(() => this.#exchange(call));
    if (!call.mayBeHeld) return outcome;
    // The outcome goes to the client request that waits by then.
    const settle = (): void => call.hold?.settle(outcome);
    outcome.then(settle, settle);
    return outcome;
  }

  async #exchange(call: RelayCall, sender: Sender<T> = this.#request, isRepeated = false): Promise<Relayed<T>> {
    const begun = this.#target.upstream.begin(call);
    const connection = begun instanceof Promise ? await begun : begun;
    this.#last = connection;
    try {
      const value = await send(connection, call, sender);
      call.end(connection);
      return { value, call, revision: connection.client.revision };
    } catch (error) {
      endFailed(connection, call, error);
      if (isRepeated || !this.#mayRepeat(call, error)) throw error;
    }
    return this.#exchange(call, sender, true);
  }

  /** The upstream ended while it worked on a request that may run twice, or did not know the session and so did not run it. */
  #mayRepeat({ isTask }: RelayCall, error: unknown): boolean {
    const { code } = error as { readonly code?: unknown };
    if (code === 'session-lost') return !isTask;
    return this.#request.isRepeatable && (code === 'server-exited' || code === 'connection-lost');
  }

  /** Ends the run with the input requests of a held call. */
  async #suspend(call: RelayCall, id: string): Promise<void> {
    try {
      await recordPhase(this.#ctx, this.#phases++, { kind: 'held', holder: this.#target.held.holder, id });
      await call.hold?.wait(this.#ctx);
    } catch {
      // The run itself gets the outcome.
    }
  }
}
