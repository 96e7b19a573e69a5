// Questions as requests of ours, on revisions where a server may send them: one request each, answered while the
// handler waits, or before it is run again.

import type { Root } from '../../protocol/model.ts';
import type { Call, InputRequester, KeyedInputRequest } from '../contract.ts';
import type { InputRequest } from './input-request.ts';
import { InputRequestError } from './input-request-error.ts';
import { encodeInputRequest, inputRequestMethods, isSkipped, supportedRequests } from './input-requester.ts';
import { decodeResponse, kindOf } from './responses.ts';

/** What a run of the handler has learned. */
interface Recorded {
  readonly answers: Map<string, { readonly kind: string; readonly value: unknown }>;
  readonly steps: Map<string, unknown>;
}

const emptyMemory = (): Recorded => ({ answers: new Map(), steps: new Map() });

export class PushInputRequester implements InputRequester {
  readonly #call: Call;
  /** Of the runs before this one; most handlers have a single run, in which nothing is replayed. */
  #earlier: Recorded = emptyMemory();
  #learned: Recorded = emptyMemory();
  #ordinal = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  async send(asks: readonly KeyedInputRequest[]): Promise<unknown[]> {
    const keyed = asks.map(([key, ask]) => [key ?? `ask-${this.#ordinal++}`, ask] as const);
    const unanswered = keyed.filter(([key, ask]) => this.#recorded(key, ask) === undefined);
    const open = supportedRequests(this.#call, unanswered);
    let at = 0;
    return Promise.all(
      keyed.map(async ([key, ask]) => {
        const recorded = this.#recorded(key, ask);
        if (recorded !== undefined) return recorded.value;
        if (open[at++] !== true) return undefined;
        const value = await this.#send(ask);
        this.#learned.answers.set(key, { kind: kindOf(ask), value });
        return value;
      }),
    );
  }

  #recorded(key: string, ask: InputRequest): { readonly value: unknown } | undefined {
    const known = this.#earlier.answers.get(key);
    return known !== undefined && known.kind === kindOf(ask) ? known : undefined;
  }

  async inputResponses(asks: readonly (readonly [key: string, ask: InputRequest])[]): Promise<unknown[] | undefined> {
    const known = asks.map(([key, ask]) => this.#recorded(key, ask));
    const complete = asks.every(([, ask], i) => known[i] !== undefined || isSkipped(this.#call, ask));
    return complete ? known.map((each) => each?.value) : undefined;
  }

  /** A plain call, unless an earlier run has done it. */
  async step(key: string, run: () => unknown): Promise<unknown> {
    if (this.#earlier.steps.has(key)) return this.#earlier.steps.get(key);
    const value = await run();
    this.#learned.steps.set(key, value);
    return value;
  }

  restart(): void {
    for (const [key, answer] of this.#learned.answers) this.#earlier.answers.set(key, answer);
    for (const [key, value] of this.#learned.steps) this.#earlier.steps.set(key, value);
    this.#learned = emptyMemory();
    this.#ordinal = 0;
  }

  cancelAll(reason: Error): void {
    this.#call.channel.cancelRequests(this.#call, reason);
  }

  async #send(ask: InputRequest): Promise<unknown> {
    const call = this.#call;
    const { session } = call;
    if (ask.kind === 'roots' && session?.roots !== undefined) return session.roots;
    const epoch = session?.rootsEpoch ?? 0;
    const params = encodeInputRequest(call, ask, crypto.randomUUID());
    call.waiting++;
    let answer: unknown;
    try {
      answer = await call.channel.request(call, inputRequestMethods[ask.kind], params);
    } finally {
      call.waiting--;
    }
    const read = await decodeResponse(ask, answer);
    if (read.state !== 'ok')
      throw new InputRequestError('invalid-answer', `The client's answer can not be used: ${read.reason}`);
    if (ask.kind === 'roots' && session !== undefined && promisesChanges(session.capabilities)) {
      // Longer ones are asked for again: each session would hold them for as long as it lives.
      const { maxRootsLength } = call.server.limits;
      if (JSON.stringify(read.value).length <= maxRootsLength) session.keepRoots(read.value as readonly Root[], epoch);
    }
    return read.value;
  }
}

function promisesChanges(capabilities: { readonly [key: string]: unknown }): boolean {
  return (capabilities['roots'] as { listChanged?: unknown } | undefined)?.listChanged === true;
}
