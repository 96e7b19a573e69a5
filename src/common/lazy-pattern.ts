// Patterns with classes such as \p{L}. A literal is parsed together with its file, and parsing such a class takes longer
// than the rest of that file (an eighth of what a gateway adds to the start of Node, bench gateway-start): every start
// would take longer for what few texts need.

/** A pattern that is parsed when it is first needed. */
export function lazyPattern(source: string, flags = 'u'): () => RegExp {
  let pattern: RegExp | undefined;
  return () => (pattern ??= new RegExp(source, flags));
}
