// Calls that have ended and wait to be spelled, some at a time: for a single one the processor would have to fetch the
// code for it every time. Of each only what its line needs is kept, in places that are used again and again: an object
// for each would have left the processor's caches by the time it is read.

import type { Ended } from '../../engine/ports.ts';
import { refusalOf } from '../refusals.ts';
import type { Head } from './heads.ts';

/** How a call ended that did not end well. */
export interface Trouble {
  readonly outcome: Ended['outcome'];
  readonly code: number | undefined;
  /** Why a guard refused it, where the answer is a result. */
  readonly why: string | undefined;
}

/** As many are kept at most … */
export const maxKept = 64;
/** … and so many where they are large: copying them around would cost more than to spell few at a time. */
export const fewKept = 4;

/** What one call takes: its end and its length; its head, session, arguments and trouble. */
const numbersEach = 2;
const valuesEach = 4;

export class KeptCalls {
  #count = 0;
  readonly #numbers = new Float64Array(maxKept * numbersEach);
  readonly #values: unknown[] = Array.from({ length: maxKept * valuesEach }, () => undefined);

  get count(): number {
    return this.#count;
  }

  add({ request, outcome, code, durationMs, endedAtMs }: Ended, head: Head, args: unknown): void {
    const at = this.#count++;
    const numbers = this.#numbers;
    const values = this.#values;
    numbers[at * numbersEach] = endedAtMs;
    numbers[at * numbersEach + 1] = durationMs;
    // Mostly the same as the last time; to store what is there costs more than to look.
    if (values[at * valuesEach] !== head) values[at * valuesEach] = head;
    values[at * valuesEach + 1] = request.session;
    values[at * valuesEach + 2] = args;
    values[at * valuesEach + 3] = outcome === 'ok' ? undefined : troubleOf(request, outcome, code);
  }

  endedAtMs(at: number): number {
    return this.#numbers[at * numbersEach] as number;
  }

  durationMs(at: number): number {
    return this.#numbers[at * numbersEach + 1] as number;
  }

  head(at: number): Head {
    return this.#values[at * valuesEach] as Head;
  }

  session(at: number): Ended['request']['session'] {
    return this.#values[at * valuesEach + 1] as Ended['request']['session'];
  }

  args(at: number): unknown {
    return this.#values[at * valuesEach + 2];
  }

  trouble(at: number): Trouble | undefined {
    return this.#values[at * valuesEach + 3] as Trouble | undefined;
  }

  clear(): void {
    // What clients sent must not be held by a place that nobody takes for hours.
    const values = this.#values;
    for (let at = 0; at < this.#count; at++) {
      values[at * valuesEach + 1] = undefined;
      values[at * valuesEach + 2] = undefined;
    }
    this.#count = 0;
  }
}

function troubleOf(request: Ended['request'], outcome: Ended['outcome'], code: number | undefined): Trouble {
  const why = outcome === 'failed' ? refusalOf(request) : undefined;
  return { outcome: why === undefined ? outcome : 'refused', code, why };
}
