// Questions as requests of ours, on revisions where a server may send them: one request each, answered while the
// handler waits.

import type { Root } from '../../protocol/model.ts';
import type { Call } from '../call.ts';
import { readAnswer } from './answers.ts';
import type { Ask } from './ask.ts';
import { AskError } from './ask-error.ts';
import { type Asker, askable, askMethods, type KeyedAsk, spellAsk } from './asker.ts';

export class PushAsker implements Asker {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  async ask(asks: readonly KeyedAsk[]): Promise<unknown[]> {
    const open = askable(this.#call, asks);
    return Promise.all(asks.map(([, ask], i) => (open[i] === true ? this.#send(ask) : undefined)));
  }

  /** Nothing is ever replayed here, so a step is a plain call. */
  async step(_key: string, run: () => unknown): Promise<unknown> {
    return run();
  }

  abandon(reason: Error): void {
    this.#call.channel.withdraw(this.#call, reason);
  }

  async #send(ask: Ask): Promise<unknown> {
    const call = this.#call;
    const { session } = call;
    if (ask.kind === 'roots' && session?.roots !== undefined) return session.roots;
    const epoch = session?.rootsEpoch ?? 0;
    const params = spellAsk(call, ask, crypto.randomUUID());
    call.waiting++;
    let answer: unknown;
    try {
      answer = await call.channel.request(call, askMethods[ask.kind], params);
    } finally {
      call.waiting--;
    }
    const read = await readAnswer(ask, answer);
    if (read.state !== 'ok')
      throw new AskError('invalid-answer', `The client's answer can not be used: ${read.reason}`);
    if (ask.kind === 'roots' && session !== undefined && promisesChanges(session.capabilities)) {
      session.keepRoots(read.value as readonly Root[], epoch);
    }
    return read.value;
  }
}

function promisesChanges(capabilities: { readonly [key: string]: unknown }): boolean {
  return (capabilities['roots'] as { listChanged?: unknown } | undefined)?.listChanged === true;
}
