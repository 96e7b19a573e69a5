// A pattern as a nondeterministic automaton (Thompson), for scanner.ts to run in all states at once. Repetitions are
// written out, so check the size before it is built.
import type { CharacterSet } from './character-set.ts';
import type { Assertion, Node } from './syntax.ts';

/** What a state does. `next` is the state after it; a split has two. */
export type ProgramState =
  | { readonly kind: 'character'; readonly set: number; readonly next: number }
  | { readonly kind: 'split'; readonly next: number; readonly other: number }
  | { readonly kind: 'assertion'; readonly what: Assertion; readonly next: number }
  | { readonly kind: 'look'; readonly index: number; readonly negated: boolean; readonly next: number }
  | { readonly kind: 'match' };

/** An automaton. State 0 is the match. */
export interface Program {
  readonly states: readonly ProgramState[];
  readonly start: number;
  /** The sets its states refer to. */
  readonly sets: readonly CharacterSet[];
  /** `\b` or `\B` occurs, so that it matters which characters belong to words. */
  readonly hasBoundaries: boolean;
}

/** How many states a part takes, besides the match. */
export function countStates(node: Node): number {
  switch (node.kind) {
    case 'set':
    case 'assertion':
    case 'look':
      return 1;
    case 'sequence':
      return node.items.reduce((sum, item) => sum + countStates(item), 0);
    case 'choice':
      return node.items.reduce((sum, item) => sum + countStates(item) + 1, -1);
    case 'repeat': {
      const size = countStates(node.item);
      const { min, max } = node;
      return max === Number.POSITIVE_INFINITY ? (min + 1) * size + 1 : max * size + (max - min);
    }
  }
}

/** Translates a pattern; `backward` for one that is run from the end of a text to its start. */
export function toProgram(node: Node, backward: boolean): Program {
  const translator = new Translator(backward);
  const start = translator.add(node, 0);
  const { states, sets } = translator;
  const hasBoundaries = states.some((state) => state.kind === 'assertion' && state.what.endsWith('boundary'));
  return { states, start, sets: [...sets.values()].map(({ set }) => set), hasBoundaries };
}

class Translator {
  readonly states: ProgramState[] = [{ kind: 'match' }];
  readonly sets = new Map<string, { readonly set: CharacterSet; readonly index: number }>();
  readonly #backward: boolean;

  constructor(backward: boolean) {
    this.#backward = backward;
  }

  /** Adds the states of a part that continues at `next`; returns where it begins. */
  add(node: Node, next: number): number {
    switch (node.kind) {
      case 'set':
        return this.#push({ kind: 'character', set: this.#indexOf(node.set), next });
      case 'assertion':
        return this.#push({ kind: 'assertion', what: node.what, next });
      case 'look':
        return this.#push({ kind: 'look', index: node.index, negated: node.negated, next });
      case 'sequence': {
        // From the end: every part needs to know what follows it.
        const items = this.#backward ? node.items : [...node.items].reverse();
        return items.reduce((after, item) => this.add(item, after), next);
      }
      case 'choice':
        return node.items
          .map((item) => this.add(item, next))
          .reduceRight((other, first) => this.#push({ kind: 'split', next: first, other }));
      case 'repeat':
        return this.#repeat(node.item, node.min, node.max, next);
    }
  }

  #repeat(item: Node, min: number, max: number, next: number): number {
    let start = next;
    if (max === Number.POSITIVE_INFINITY) {
      const loop = this.#push({ kind: 'split', next, other: next });
      this.states[loop] = { kind: 'split', next: this.add(item, loop), other: next };
      start = loop;
    } else {
      for (let at = min; at < max; at++) {
        start = this.#push({ kind: 'split', next: this.add(item, start), other: next });
      }
    }
    // An iteration without states is the same however often it is repeated.
    const rounds = countStates(item) === 0 ? 0 : min;
    for (let at = 0; at < rounds; at++) start = this.add(item, start);
    return start;
  }

  #push(state: ProgramState): number {
    return this.states.push(state) - 1;
  }

  #indexOf(set: CharacterSet): number {
    const known = this.sets.get(set.key);
    if (known !== undefined) return known.index;
    const index = this.sets.size;
    this.sets.set(set.key, { set, index });
    return index;
  }
}
