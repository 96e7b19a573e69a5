// A matcher whose time is proportional to the length of the text, for every pattern without backreferences. Lookarounds
// are run first, each in one pass over the text that marks where it holds.
import { countStates, toProgram } from './program.ts';
import { Scanner } from './scanner.ts';
import { isAnchored, type Syntax } from './syntax.ts';

/** Lookarounds of one pattern: each is a pass over the text and doubles the size of the tables. */
export const maxLooks = 8;

/** Tests texts against a pattern. */
export class LinearMatcher {
  readonly #looks: readonly Scanner[];
  readonly #main: Scanner;

  constructor({ root, looks, unicode }: Syntax) {
    const lookCount = looks.length;
    // What lies ahead is found from the end of the text, what lies behind from its start.
    this.#looks = looks.map(({ item, behind }) => {
      const backward = !behind;
      return new Scanner(toProgram(item, backward), { unicode, backward, anchored: false, lookCount });
    });
    const options = { unicode, backward: false, anchored: isAnchored(root), lookCount };
    this.#main = new Scanner(toProgram(root, false), options);
  }

  test(text: string): boolean {
    if (this.#looks.length === 0) return this.#main.finds(text, undefined);
    const marks = new Uint8Array(text.length + 1);
    // Those inside others come first.
    this.#looks.forEach((scanner, index) => {
      scanner.mark(text, marks, marks, 1 << index);
    });
    return this.#main.finds(text, marks);
  }
}

/** How many states the matcher of a pattern has: each character of a text may cost as many steps. */
export function countMatcherStates({ root, looks }: Syntax): number {
  return looks.reduce((sum, { item }) => sum + countStates(item), countStates(root));
}
