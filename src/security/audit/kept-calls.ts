// Calls that have ended and wait to be spelled, some at a time: for a single one the processor would have to fetch the
// code for it every time. Of each only what its line needs is kept, in columns that are used again and again: an object
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

/** As many are kept at most. */
export const maxKept = 32;

export class KeptCalls {
  #count = 0;
  readonly endedAtMs = new Float64Array(maxKept);
  readonly durationMs = new Float64Array(maxKept);
  readonly heads: (Head | undefined)[] = empty();
  readonly sessions: (string | undefined)[] = empty();
  readonly args: unknown[] = empty();
  readonly troubles: (Trouble | undefined)[] = empty();

  get count(): number {
    return this.#count;
  }

  add({ request, outcome, code, durationMs, endedAtMs }: Ended, head: Head): void {
    const at = this.#count++;
    this.endedAtMs[at] = endedAtMs;
    this.durationMs[at] = durationMs;
    this.heads[at] = head;
    this.sessions[at] = request.session?.key;
    this.args[at] = request.params['arguments'];
    this.troubles[at] = outcome === 'ok' ? undefined : troubleOf(request, outcome, code);
  }

  clear(): void {
    // What clients sent must not be held by a place that nobody takes for hours.
    this.args.fill(undefined, 0, this.#count);
    this.#count = 0;
  }
}

const empty = (): undefined[] => Array.from({ length: maxKept }, () => undefined);

function troubleOf(request: Ended['request'], outcome: Ended['outcome'], code: number | undefined): Trouble {
  const why = outcome === 'failed' ? refusalOf(request) : undefined;
  return { outcome: why === undefined ? outcome : 'refused', code, why };
}
