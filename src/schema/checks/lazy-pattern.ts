// Patterns with classes such as \p{L}. A literal is read together with the file it stands in, and reading such a class
// takes longer than the rest of that file: every start would pay for what few calls need.

/** A test whose pattern is read when it is first needed. */
export function lazyPattern(source: string): (text: string) => boolean {
  let pattern: RegExp | undefined;
  return (text) => {
    pattern ??= new RegExp(source, 'u');
    return pattern.test(text);
  };
}
