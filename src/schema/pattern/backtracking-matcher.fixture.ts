// A matcher that backtracks as ECMA-262 §22.2.2 describes it, and counts what it tries. Only for comparing.
import { wordCharacters } from './character-set.ts';
import type { Node, Syntax } from './syntax.ts';

type Continue = (at: number) => boolean;

export class TooManySteps extends Error {}

/** Searches a text; says whether it matches, and how many characters, rounds and ends were tried. */
export function backtrack(
  { root, unicode }: Syntax,
  text: string,
  maxSteps: number,
): { matches: boolean; steps: number } {
  let steps = 0;
  const step = (): void => {
    if (++steps > maxSteps) throw new TooManySteps();
  };
  const isWord = (at: number): boolean => at >= 0 && at < text.length && wordCharacters().has(text.charCodeAt(at));

  const next = (at: number): number => (unicode ? (text.codePointAt(at) as number) : text.charCodeAt(at));
  const before = (at: number): number => {
    const pair = unicode && at > 1 ? (text.codePointAt(at - 2) as number) : 0;
    return pair > 0xffff ? pair : text.charCodeAt(at - 1);
  };

  const match = (node: Node, at: number, backward: boolean, then: Continue): boolean => {
    switch (node.kind) {
      case 'set': {
        step();
        if (backward ? at === 0 : at === text.length) return false;
        const code = backward ? before(at) : next(at);
        const size = code > 0xffff ? 2 : 1;
        return node.set.has(code) && then(backward ? at - size : at + size);
      }
      case 'assertion': {
        if (node.what === 'start') return at === 0 && then(at);
        if (node.what === 'end') return at === text.length && then(at);
        return (isWord(at - 1) !== isWord(at)) === (node.what === 'boundary') && then(at);
      }
      case 'look':
        return match(node.item, at, node.behind, () => true) !== node.negated && then(at);
      case 'sequence': {
        const items = backward ? [...node.items].reverse() : node.items;
        const from = (index: number, place: number): boolean => {
          const item = items[index];
          return item === undefined ? then(place) : match(item, place, backward, (after) => from(index + 1, after));
        };
        return from(0, at);
      }
      case 'choice':
        return node.items.some((item) => match(item, at, backward, then));
      case 'repeat': {
        const round = (count: number, place: number): boolean => {
          const more = (after: number): boolean =>
            after === place && count >= node.min ? false : round(count + 1, after);
          if (count < node.max && match(node.item, place, backward, more)) return true;
          return count >= node.min && then(place);
        };
        return round(0, at);
      }
    }
  };

  for (let at = 0; at <= text.length; at += at < text.length && next(at) > 0xffff ? 2 : 1) {
    const end: Continue = () => {
      step();
      return true;
    };
    if (match(root, at, false, end)) return { matches: true, steps };
  }
  return { matches: false, steps };
}
