// Runs an automaton over a text in one pass, in all of its states at once, so that the time is proportional to the
// length whatever the pattern. Sets of states that were met before are remembered with where each character leads
// (a deterministic automaton that is built while it is used), which makes most steps a table lookup.
import { spend } from '../checks/budget.ts';
import { CharacterClasses, noCharacter } from './character-classes.ts';
import type { Program, ProgramState } from './program.ts';
import type { Assertion } from './syntax.ts';

/** How a scan runs over a text. */
export interface ScanOptions {
  readonly unicode: boolean;
  /** From the end of the text to its start. */
  readonly backward: boolean;
  /** A match may only begin where the scan does. */
  readonly anchored: boolean;
  /** How many lookarounds the pattern has. As many bits say whether they hold at a position of the text. */
  readonly lookCount: number;
}

/** What is remembered: states of all sets, entries of the table. Some patterns meet exponentially many sets. */
const maxRememberedStates = 200_000;
const maxTableSize = 500_000;
/** Initial capacity for classes of characters in the table. */
const initialWidth = 32;

/** A set of states, before what they lead to without consuming a character. */
interface StateSet {
  readonly states: readonly number[];
  readonly isFirst: boolean;
  readonly afterWord: boolean;
}

/** One automaton and what is remembered of it. */
export class Scanner {
  readonly #program: Program;
  readonly #options: ScanOptions;
  readonly #classes: CharacterClasses;
  readonly #seen: Uint32Array;
  #generation = 0;

  // What is remembered. The sets have numbers; row n of the table is about set n: for each class of characters and
  // bits of lookarounds the set that follows, times two, plus one where a match ends before the character. 0: unknown.
  #sets: StateSet[] = [];
  #numbers = new Map<string, number>();
  #rememberedStates = 0;
  #width: number;
  #table = new Int32Array(0);

  constructor(program: Program, options: ScanOptions) {
    this.#program = program;
    this.#options = options;
    this.#classes = new CharacterClasses(program);
    this.#seen = new Uint32Array(program.states.length);
    this.#width = initialWidth << options.lookCount;
    this.#forget();
  }

  /** Whether a match ends anywhere. `looks` has the bits of the lookarounds, for each position of the text. */
  finds(text: string, looks: Uint8Array | undefined): boolean {
    return this.#run(text, looks, undefined, 0);
  }

  /** Sets a bit in `marks` at every place where a match ends. */
  mark(text: string, looks: Uint8Array, marks: Uint8Array, bit: number): void {
    this.#run(text, looks, marks, bit);
  }

  #run(text: string, looks: Uint8Array | undefined, marks: Uint8Array | undefined, bit: number): boolean {
    const { unicode, backward, lookCount } = this.#options;
    const { ascii } = this.#classes;
    // A step here takes about twice as long as one of the platform's RegExp.
    spend(text.length * 2);
    let table = this.#table;
    let width = this.#width;
    let set: number = beginning;
    for (let at = backward ? text.length : 0, left = text.length; ; ) {
      let category: number = noCharacter;
      let size = 1;
      if (left > 0) {
        const unit = text.charCodeAt(backward ? at - 1 : at);
        category = unit < 128 ? (ascii[unit] as number) : 0;
        if (category === 0) {
          const code = unicode ? codePoint(text, at, backward) : unit;
          if (code > 0xffff) size = 2;
          category = this.#classes.of(code);
        }
      }
      const bits = looks === undefined ? 0 : (looks[at] as number);
      const column = (category << lookCount) + bits;
      let step = column < width ? (table[set * width + column] as number) : unknown;
      if (step === unknown) {
        step = this.#step(set, category, bits, column);
        table = this.#table;
        width = this.#width;
      }
      if ((step & 1) === 1) {
        if (marks === undefined) return true;
        marks[at] = (marks[at] as number) | bit;
      }
      set = step >> 1;
      if (left <= 0 || set === deadEnd) return false;
      left -= size;
      at += backward ? -size : size;
    }
  }

  /** Where a class of characters leads from a set of states. */
  #step(number: number, category: number, bits: number, column: number): number {
    const { states, start } = this.#program;
    const { backward, anchored } = this.#options;
    const from = this.#sets[number] as StateSet;
    const { sets, isWord } = this.#classes.membersOf(category);
    const isLast = category === noCharacter;
    const holds: Readonly<Record<Assertion, boolean>> = {
      start: backward ? isLast : from.isFirst,
      end: backward ? from.isFirst : isLast,
      boundary: from.afterWord !== isWord,
      'no-boundary': from.afterWord === isWord,
    };
    const generation = ++this.#generation;
    const open = [...from.states];
    const reached = new Set<number>(anchored || isLast ? [] : [start]);
    let matches = 0;
    let steps = 0;
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (this.#seen[index] === generation) continue;
      this.#seen[index] = generation;
      steps++;
      const state = states[index] as ProgramState;
      if (state.kind === 'match') matches = 1;
      else if (state.kind === 'split') open.push(state.next, state.other);
      else if (state.kind === 'character') {
        if (sets[state.set] === true) reached.add(state.next);
      } else if (state.kind === 'look') {
        if (((bits >> state.index) & 1) === (state.negated ? 0 : 1)) open.push(state.next);
      } else if (holds[state.what]) open.push(state.next);
    }
    spend(steps * 10 + 100);
    const next = this.#numberOf({ states: [...reached].sort((a, b) => a - b), isFirst: false, afterWord: isWord });
    const step = next * 2 + matches;
    this.#remember(number, from, column, step);
    return step;
  }

  #numberOf(set: StateSet): number {
    if (set.states.length === 0) return deadEnd;
    const key = `${set.isFirst ? '^' : ''}${set.afterWord ? 'w' : ''}${set.states.join()}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#rememberedStates += set.states.length;
    if (this.#sets.length * this.#width > maxTableSize || this.#rememberedStates > maxRememberedStates) this.#forget();
    const number = this.#sets.push(set) - 1;
    this.#numbers.set(key, number);
    if ((number + 1) * this.#width > this.#table.length) this.#resize(this.#width);
    return number;
  }

  #remember(number: number, from: StateSet, column: number, step: number): void {
    // Everything may have been forgotten meanwhile.
    if (this.#sets[number] !== from) return;
    if (column >= this.#width) this.#resize((column + 1) * 2);
    this.#table[number * this.#width + column] = step;
  }

  /** Doubles the capacity, in rows of this width. */
  #resize(width: number): void {
    const table = new Int32Array(2 * this.#sets.length * width);
    this.#sets.forEach((_, row) => {
      table.set(this.#table.subarray(row * this.#width, (row + 1) * this.#width), row * width);
    });
    this.#table = table;
    this.#width = width;
  }

  /** Begins again with nothing but the first set. */
  #forget(): void {
    const first: StateSet = { states: [this.#program.start], isFirst: true, afterWord: false };
    const dead: StateSet = { states: [], isFirst: false, afterWord: false };
    this.#sets = [dead, dead, first];
    this.#numbers.clear();
    this.#rememberedStates = 0;
    this.#table = new Int32Array(4 * this.#width);
  }
}

/** The table entry of a step that was not taken yet. */
const unknown = 0;
/** Numbers of the sets that are always there. */
const deadEnd = 1;
const beginning = 2;

function codePoint(text: string, at: number, backward: boolean): number {
  if (!backward) return text.codePointAt(at) as number;
  const unit = text.charCodeAt(at - 1);
  if ((unit & 0xfc00) !== 0xdc00 || at < 2) return unit;
  const point = text.codePointAt(at - 2) as number;
  return point > 0xffff ? point : unit;
}
