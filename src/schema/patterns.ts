// `pattern` and `patternProperties` as RegExp. JSON Schema patterns are not anchored. A pattern can be slow on
// purpose (`^(a+)+$`): it is part of the schema, so whoever writes the schema is trusted with it.

/** Unicode mode as the standard asks; without it for the many patterns in the wild that only then are valid. */
export function compilePattern(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    // Such as `[\w-.]` or `\-`: an error in Unicode mode only. A pattern wrong in both modes throws here.
    return new RegExp(source);
  }
}
