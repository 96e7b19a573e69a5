// Carries one request of a client to an upstream and its answer back: in one step, or in phases if the upstream needs input.

import type { InputRetry, ToolCallOptions } from '../../client/index.ts';
import type { Context } from '../../engine/context.ts';
import { principalKey } from '../../engine/ports.ts';
import { WireError } from '../../protocol/errors.ts';
import type { UpstreamConnection } from '../upstreams/connection.ts';
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
import { type CallTarget, RelayCall, type RelayOptions } from './relay-call.ts';
import { finishTask, recordedTask, recordSent, wasSent } from './task-recovery.ts';

/** The upstream that requests go to. */
export interface RelayTarget extends CallTarget {
  readonly upstream: Upstream;
}

/** Sends the request. Called once for each phase. */
export type Send<T> = (connection: UpstreamConnection, options: ToolCallOptions) => Promise<T>;

/** An answer, and the call and connection that it came with. */
export interface Relayed<T> {
  readonly value: T;
  readonly call: Pick<RelayCall, 'unavailable' | 'resultText'>;
  readonly revision: string;
}

/** The user did not visit the pages that the upstream wants to be visited. */
export class LinksDeclined extends Error {
  constructor(cause: unknown) {
    super('The user did not open the page that is needed first', { cause });
  }
}

/**
 * Sends a request of a client to an upstream. Rejects with what the client of the upstream rejects with,
 * `UpstreamUnavailable`, `InputNotPossible` or `LinksDeclined`.
 */
export function relay<T>(target: RelayTarget, ctx: Context, options: RelayOptions, send: Send<T>): Promise<Relayed<T>> {
  const relayed = new Relay(target, ctx, options, send);
  if (ctx.task !== undefined) return relayed.runTask();
  return ctx.isRetry ? relayed.resume() : relayed.first();
}

class Relay<T> {
  readonly #target: RelayTarget;
  readonly #ctx: Context;
  readonly #options: RelayOptions;
  readonly #send: Send<T>;
  /** The connection of the last request. */
  #last: UpstreamConnection | undefined;
  /** URLs that the user was asked to open. */
  readonly #links: string[] = [];
  /** How many phases are recorded. */
  #phases = 0;

  constructor(target: RelayTarget, ctx: Context, options: RelayOptions, send: Send<T>) {
    this.#target = target;
    this.#ctx = ctx;
    this.#options = options;
    this.#send = send;
  }

  async first(): Promise<Relayed<T>> {
    try {
      return await this.#attempt(undefined);
    } catch (error) {
      return this.#goOn(error);
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
    const call = new RelayCall(this.#ctx, this.#target, this.#options);
    return this.#request(call, ({ client }) => {
      call.followTask(id);
      return finishTask(client, id, call.signal) as Promise<T>;
    });
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
      return await this.#attempt(await this.#input(last, undefined));
    } catch (error) {
      return this.#goOn(error);
    }
  }

  /** Gets the input that a failed request needs, and sends it again. */
  async #goOn(failure: unknown): Promise<Relayed<T>> {
    // The state of the call may be valid only as long as the upstream runs.
    const release = this.#last?.keepOpen();
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
      if (phase?.kind === 'links' && this.#passesLinks) this.#expectCompletion(error);
      if (phase === undefined || (phase.kind === 'links' && this.#passesLinks)) throw error;
      checkPhases(this.#phases);
      await recordPhase(this.#ctx, this.#phases++, phase);
      const retry = await this.#input(phase as Exclude<Phase, { kind: 'held' }>, error);
      try {
        const relayed = await this.#attempt(retry);
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

  /** One request to the upstream. */
  #attempt(retry: InputRetry | undefined): Promise<Relayed<T>> {
    const call = new RelayCall(this.#ctx, this.#target, this.#options, retry);
    if (call.mayBeHeld) call.onHeld = (held) => void this.#suspend(call, held.id);
    const ctx = this.#ctx;
    const outcome =
      ctx.task === undefined ? this.#request(call) : recordSent(ctx, this.#phases).then(() => this.#request(call));
    if (!call.mayBeHeld) return outcome;
    // The outcome goes to the client request that waits by then.
    const settle = (): void => call.hold?.settle(outcome);
    outcome.then(settle, settle);
    return outcome;
  }

  async #request(call: RelayCall, send: Send<T> = this.#send, isRepeated = false): Promise<Relayed<T>> {
    const begun = this.#target.upstream.begin(call);
    const connection = begun instanceof Promise ? await begun : begun;
    try {
      const { client } = connection;
      call.connection = connection;
      this.#last = connection;
      connection.wantLevel(this.#ctx.logLevel);
      call.sentAtMs = performance.now();
      const value = await send(connection, call);
      return { value, call, revision: client.revision };
    } catch (error) {
      const code = (error as { readonly code?: unknown }).code;
      if (code === 'timeout') connection.timedOut();
      if (code !== 'server-exited' || !this.#options.isRepeatable || isRepeated) throw error;
    } finally {
      call.endTask();
      connection.end(call);
    }
    return this.#request(call, send, true);
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
