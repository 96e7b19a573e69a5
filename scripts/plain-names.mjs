// Makes private names of classes ordinary ones, for code that runs in every call and whose objects nobody else gets to
// hold. In code that V8 has put where it is called from, a private name is fetched from memory each time it is used, and
// guards run where nothing of theirs is in the processor's caches any more.
import { parseSync, Visitor } from 'rolldown/utils';

/**
 * A plugin for the modules that `covers` says. Names become as short as the build's own, and begin with a character that
 * no property of these classes begins with.
 *
 * @param {(id: string) => boolean} covers
 * @returns {import('rolldown').Plugin}
 */
export const plainNames = (covers) => ({
  name: 'plain-names',
  transform: (code, id) => (covers(id) ? { code: replaceNames(code, id) } : undefined),
});

/** @param {string} code @param {string} id */
function replaceNames(code, id) {
  const { program, errors } = parseSync(id, code);
  if (errors.length > 0) throw new Error(`${id}: ${errors[0].message}`);
  /** @type {Map<string, string>[]} The names of the classes around a place, innermost last. */
  const classes = [];
  /** @type {{ start: number, end: number, name: string }[]} */
  const found = [];
  /** @param {import('@oxc-project/types').Class} node */
  const enter = ({ superClass, body }) => {
    // Both could have a name that is the same by then.
    if (superClass !== null) throw new Error(`${id}: a class that extends another must keep its private names`);
    const keys = body.body.flatMap((member) => ('key' in member ? [member.key] : []));
    const names = new Set(keys.flatMap((key) => (key.type === 'PrivateIdentifier' ? [key.name] : [])));
    classes.push(new Map([...names].map((name, index) => [name, `$${index.toString(36)}`])));
  };
  const leave = () => void classes.pop();
  new Visitor({
    ClassDeclaration: enter,
    ClassExpression: enter,
    'ClassDeclaration:exit': leave,
    'ClassExpression:exit': leave,
    BinaryExpression: ({ left }) => {
      if (left.type === 'PrivateIdentifier') throw new Error(`${id}: whether a private name is there can not be asked`);
    },
    PrivateIdentifier: ({ start, end, name }) => {
      const plain = classes.findLast((names) => names.has(name))?.get(name);
      if (plain === undefined || code[start] !== '#') throw new Error(`${id} was misread`);
      found.push({ start, end, name: plain });
    },
  }).visit(program);
  return found.reduceRight((text, { start, end, name }) => text.slice(0, start) + name + text.slice(end), code);
}
