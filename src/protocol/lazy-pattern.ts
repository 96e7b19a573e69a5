// Patterns with classes such as \p{L}. A literal is parsed together with its file, and parsing such a class takes longer
// than the rest of that file (an eighth of what a gateway adds to the start of Node, bench gateway-start): every start
// would take longer for what few texts need.

/** A test whose pattern is parsed when it is first needed. */
export function lazyPattern(source: string): (text: string) => boolean {
  let pattern: RegExp | undefined;
  return (text) => {
    pattern ??= new RegExp(source, 'u');
    return pattern.test(text);
  };
}
