// Calls that have ended and wait to be spelled, some at a time: for a single one the processor would have to fetch the
// code for it every time. Of each only what its line needs is kept, in places that are used again and again: an object
// for each would have left the processor's caches by the time it is read. Every call comes by here, so it touches as
// little memory as possible: one place, and nothing to find it by but the one before.

import type { Ended } from '../../engine/ports.ts';
import { refusalOf } from '../refusals.ts';
import { type Head, Heads } from './heads.ts';

/** How a call ended that did not end well. */
export interface Trouble {
  readonly outcome: Ended['outcome'];
  readonly code: number | undefined;
  /** Why a guard refused it, where the answer is a result. */
  readonly why: string | undefined;
}

/** As many are kept at most … */
const maxKept = 64;
/** … and so many where they are large: copying them around would cost more than to spell few at a time. */
const fewKept = 4;

/** What is kept of one call. */
export interface KeptCall {
  readonly head: Head;
  /** The name of the session; empty where there is none. */
  readonly session: string;
  readonly args: unknown;
  readonly trouble: Trouble | undefined;
  readonly endedAtMs: number;
  readonly durationMs: number;
}

class Place implements KeptCall {
  head!: Head;
  session = '';
  args: unknown;
  trouble: Trouble | undefined;
  endedAtMs = Number.NaN;
  durationMs = Number.NaN;
  /** Where the call after this one goes; the last place has none. */
  readonly next: Place | undefined;

  constructor(next: Place | undefined) {
    this.next = next;
  }
}

export class KeptCalls {
  #count = 0;
  /** How many are spelled together: few where they are large, more and more where they are not. */
  #enough = fewKept;
  readonly #first = makePlaces(maxKept);
  #free: Place | undefined = this.#first;
  readonly #hasArgs: boolean;
  readonly #inSessions = new Heads(true);
  readonly #alone = new Heads(false);

  constructor(hasArgs: boolean) {
    this.#hasArgs = hasArgs;
  }

  get count(): number {
    return this.#count;
  }

  get isEnough(): boolean {
    return this.#count >= this.#enough;
  }

  /** The last ones were, and the next ones may be. */
  get areLarge(): boolean {
    return this.#enough === fewKept;
  }

  /** False: there is no place left. */
  add({ request, outcome, code, durationMs, endedAtMs }: Ended): boolean {
    const place = this.#free;
    if (place === undefined) return false;
    const key = request.session?.key ?? '';
    const head = (key === '' ? this.#alone : this.#inSessions).of(request);
    // Mostly the same as the last time; to store what is there costs more than to look.
    if (place.head !== head) place.head = head;
    place.session = key;
    if (this.#hasArgs) place.args = request.params['arguments'];
    if (outcome !== 'ok') place.trouble = troubleOf(request, outcome, code);
    place.endedAtMs = endedAtMs;
    place.durationMs = durationMs;
    this.#free = place.next;
    this.#count++;
    return true;
  }

  /** Hands all of them over, those that come meanwhile included, and forgets them; answers how many they were. */
  take(spell: (call: KeptCall) => void): number {
    for (let place: Place | undefined = this.#first; place !== this.#free; place = place?.next) spell(place as Place);
    // What clients sent must not be held by a place that nobody takes for hours.
    for (let place: Place | undefined = this.#first; place !== this.#free; place = place?.next) {
      (place as Place).args = undefined;
      (place as Place).trouble = undefined;
    }
    const count = this.#count;
    this.#free = this.#first;
    this.#count = 0;
    return count;
  }

  /** Fits how many are kept to what the last ones were like. */
  fit(wereLarge: boolean): void {
    this.#enough = wereLarge ? fewKept : Math.min(this.#enough * 2, maxKept);
  }
}

function makePlaces(count: number): Place {
  let first = new Place(undefined);
  for (let made = 1; made < count; made++) first = new Place(first);
  return first;
}

function troubleOf(request: Ended['request'], outcome: Ended['outcome'], code: number | undefined): Trouble {
  const why = outcome === 'failed' ? refusalOf(request) : undefined;
  return { outcome: why === undefined ? outcome : 'refused', code, why };
}
