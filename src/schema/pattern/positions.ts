// The position automaton of a pattern (Glushkov): one position for each place that consumes a character, and from each
// of them the steps that may follow, counted as often as there are ways to take them.
import { anyCharacter, type CharacterSet } from './character-set.ts';
import { isAnchored, type Node, type Syntax } from './syntax.ts';

/** The limit of steps; a pattern with more takes too long to analyse. */
const maxEdges = 4_000;
/** `(\d{1,3}\.){3}` is written out in full up to this many characters; beyond, it counts as an endless loop. */
const maxUnrolled = 64;

/** One place in the pattern where a character is consumed. */
export interface Position {
  readonly set: CharacterSet;
  /** The outermost loop it is in. From everywhere in a loop one gets everywhere in it. */
  readonly loop: number | undefined;
  /** The lookaround it is in: 0 is the pattern itself. */
  readonly body: number;
  readonly next: Edge[];
  /** Ways from here to the end without consuming anything. */
  ends: number;
}

/** A step to the next character. */
export interface Edge {
  readonly to: number;
  /** In how many ways, with nothing consumed in between: two after `(|)`. */
  readonly ways: number;
}

/** What a part of the pattern begins and ends with, and in how many ways it matches nothing. */
interface PatternPart {
  readonly first: readonly Edge[];
  readonly last: readonly Edge[];
  readonly ways: number;
}

const empty: PatternPart = { first: [], last: [], ways: 1 };
const tooMuch = new Error('too many steps, or loops whose iterations can be empty');

/**
 * The positions, in the order of the pattern; the first one stands for the text before a match. Undefined where the
 * pattern is too large, or has loops whose iterations can be empty: those follow each other in too many ways.
 */
export function positionsOf({ root }: Syntax): readonly Position[] | undefined {
  const builder = new Builder();
  try {
    builder.build(root);
    return builder.positions;
  } catch (error) {
    if (error === tooMuch) return undefined;
    throw error;
  }
}

class Builder {
  readonly positions: Position[] = [];
  #loops = 0;
  #bodies = 0;
  #edges = 0;
  #loop: number | undefined;
  #body = 0;

  build(root: Node): void {
    // A search begins anywhere: as if any number of characters stood before the pattern.
    const anywhere = !isAnchored(root);
    if (anywhere) this.#loop = this.#loops++;
    const start = [{ to: this.#position(anyCharacter()), ways: 1 }];
    this.#loop = undefined;
    if (anywhere) this.#connect(start, start);
    const whole = this.#join({ first: [], last: start, ways: 0 }, this.#part(root, false));
    for (const { to, ways } of whole.last) this.#at(to).ends += ways;
  }

  #part(node: Node, backward: boolean): PatternPart {
    switch (node.kind) {
      case 'set': {
        const here = [{ to: this.#position(node.set), ways: 1 }];
        return { first: here, last: here, ways: 0 };
      }
      case 'assertion':
        return empty;
      case 'sequence': {
        const items = backward ? [...node.items].reverse() : node.items;
        return items.reduce<PatternPart>((part, item) => this.#join(part, this.#part(item, backward)), empty);
      }
      case 'choice': {
        const parts = node.items.map((item) => this.#part(item, backward));
        const ways = parts.reduce((sum, part) => sum + part.ways, 0);
        return { first: parts.flatMap(({ first }) => first), last: parts.flatMap(({ last }) => last), ways };
      }
      case 'look': {
        const [loop, body] = [this.#loop, this.#body];
        this.#loop = undefined;
        this.#body = ++this.#bodies;
        // It is looked into, and nothing follows from there.
        const { first } = this.#part(node.item, node.behind);
        [this.#loop, this.#body] = [loop, body];
        return { first, last: [], ways: 1 };
      }
      case 'repeat':
        return this.#repeat(node.item, node.min, node.max, backward);
    }
  }

  #repeat(item: Node, min: number, max: number, backward: boolean): PatternPart {
    if (max === 0) return empty;
    if (max === 1) {
      const part = this.#part(item, backward);
      return min === 0 ? { ...part, ways: part.ways + 1 } : part;
    }
    if (max * sizeOf(item) <= maxUnrolled) {
      const rounds = Array.from({ length: max }, () => this.#round(item, backward));
      return rounds.reduceRight<PatternPart>((rest, round, at) => {
        const part = this.#join(round, rest);
        return at < min ? part : { ...part, ways: 1 };
      }, empty);
    }
    const outermost = this.#loop === undefined;
    if (outermost) this.#loop = this.#loops++;
    const part = this.#round(item, backward);
    if (outermost) this.#loop = undefined;
    this.#connect(part.last, part.first);
    return { ...part, ways: min === 0 ? 1 : 0 };
  }

  /** One iteration of a loop. */
  #round(item: Node, backward: boolean): PatternPart {
    const part = this.#part(item, backward);
    if (part.ways > 0) throw tooMuch;
    return part;
  }

  #join(left: PatternPart, right: PatternPart): PatternPart {
    this.#connect(left.last, right.first);
    return {
      first: [...left.first, ...times(right.first, left.ways)],
      last: [...right.last, ...times(left.last, right.ways)],
      ways: left.ways * right.ways,
    };
  }

  #connect(from: readonly Edge[], to: readonly Edge[]): void {
    this.#edges += from.length * to.length;
    if (this.#edges > maxEdges) throw tooMuch;
    for (const source of from) {
      for (const target of to) this.#at(source.to).next.push({ to: target.to, ways: source.ways * target.ways });
    }
  }

  #position(set: CharacterSet): number {
    return this.positions.push({ set, loop: this.#loop, body: this.#body, next: [], ends: 0 }) - 1;
  }

  #at(index: number): Position {
    return this.positions[index] as Position;
  }
}

function times(edges: readonly Edge[], ways: number): readonly Edge[] {
  if (ways === 1) return edges;
  return ways === 0 ? [] : edges.map((edge) => ({ to: edge.to, ways: edge.ways * ways }));
}

/** How many positions a part takes, written out in full. */
function sizeOf(node: Node): number {
  switch (node.kind) {
    case 'set':
      return 1;
    case 'assertion':
      return 0;
    case 'look':
      return sizeOf(node.item) + 1;
    case 'repeat':
      return sizeOf(node.item) * (node.max === Number.POSITIVE_INFINITY ? 1 : Math.max(node.max, 1));
    default:
      return node.items.reduce((sum, item) => sum + sizeOf(item), 0);
  }
}
