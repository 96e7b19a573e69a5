// A sink that keeps what is written until a promise settles: the events of a stream that other processes must know first.

import type { ByteSink } from '../exchange.ts';

export class DelayedSink implements ByteSink {
  readonly #sink: ByteSink;
  /** What was written so far; undefined once it is passed on. */
  #texts: string[] | undefined = [];
  #length = 0;
  #ended = false;

  /** `ready`: settles soon, however it settles. */
  constructor(sink: ByteSink, ready: Promise<unknown>) {
    this.#sink = sink;
    const passOn = (): void => this.#passOn();
    void ready.then(passOn, passOn);
  }

  write(text: string): void {
    if (this.#texts === undefined) return this.#sink.write(text);
    this.#texts.push(text);
    this.#length += text.length;
  }

  end(): void {
    if (this.#texts === undefined) this.#sink.end();
    else this.#ended = true;
  }

  get queued(): number {
    return this.#sink.queued + this.#length;
  }

  destroy(): void {
    this.#texts = undefined;
    this.#length = 0;
    this.#sink.destroy();
  }

  #passOn(): void {
    const texts = this.#texts;
    if (texts === undefined) return;
    this.#texts = undefined;
    this.#length = 0;
    if (texts.length > 0) this.#sink.write(texts.join(''));
    if (this.#ended) this.#sink.end();
  }
}
