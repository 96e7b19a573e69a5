// Characters that an automaton cannot distinguish: those that are in the same of its sets.
import { spend } from '../checks/budget.ts';
import { wordCharacters } from './character-set.ts';
import type { Program } from './program.ts';

/** Characters beyond ASCII that are remembered: a text could bring all 1.1 million. */
const maxRemembered = 10_000;

/** The class of "no character": the end of a text. */
export const noCharacter = 1;

/** What the characters of a class have in common. */
export interface ClassMembers {
  /** By number of the set: whether it has them. */
  readonly sets: readonly boolean[];
  /** They are word characters, where that matters. */
  readonly isWord: boolean;
}

/** The classes of one automaton, numbered as they are met. */
export class CharacterClasses {
  /** By code: the class, 0 if unknown. */
  readonly ascii = new Int32Array(128);
  readonly #others = new Map<number, number>();
  readonly #numbers = new Map<string, number>();
  readonly #members: ClassMembers[] = [
    { sets: [], isWord: false },
    { sets: [], isWord: false },
  ];
  readonly #program: Program;

  constructor(program: Program) {
    this.#program = program;
  }

  of(code: number): number {
    const known = code < 128 ? this.ascii[code] : this.#others.get(code);
    if (known !== undefined && known !== 0) return known;
    const { sets, hasBoundaries } = this.#program;
    spend(sets.length * 10 + 10);
    const members = { sets: sets.map((set) => set.has(code)), isWord: hasBoundaries && wordCharacters().has(code) };
    const number = this.#numberOf(members);
    if (code < 128) this.ascii[code] = number;
    else {
      if (this.#others.size >= maxRemembered) this.#others.clear();
      this.#others.set(code, number);
    }
    return number;
  }

  membersOf(number: number): ClassMembers {
    return this.#members[number] as ClassMembers;
  }

  #numberOf(members: ClassMembers): number {
    const key = `${members.isWord ? 'w' : ''}${members.sets.map(Number).join('')}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#members.push(members) - 1;
    this.#numbers.set(key, number);
    return number;
  }
}
