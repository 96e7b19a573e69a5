// Patterns with classes such as \p{L}. A literal is parsed together with its file, and parsing such a class
// takes longer than the rest of that file: every start would take longer for what few calls need.

/** A test whose pattern is read when it is first needed. */
export function lazyPattern(source: string): (text: string) => boolean {
  let pattern: RegExp | undefined;
  return (text) => {
    pattern ??= new RegExp(source, 'u');
    return pattern.test(text);
  };
}
