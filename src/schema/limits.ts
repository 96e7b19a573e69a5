// Every bound of this folder, with the attack it stops. Neither schemas nor values are trusted: a client validates by
// the schemas of untrusted servers, a server validates what untrusted clients send.

/** Bounds on schemas and on what validating may cost. */
export const limits = {
  /** Nesting of subschemas: a schema of `{not:{not:{not:…}}}` would overflow the stack of every walk over it. */
  maxSchemaDepth: 100,
  /** Subschemas reachable from the root: a schema of a million branches would make registration a denial of service. */
  maxSubschemas: 20_000,
  /** The same where ajv is needed, which takes a second to compile this many. */
  maxAjvSubschemas: 500,
  /** Levels a recursive schema follows into a value: `[[[[…]]]]` would overflow the stack of the validator. */
  maxValueDepth: 500,
  /**
   * Steps of one validation, about half a second: two recursive branches on a deep value double the work at every
   * level, and 20,000 subschemas in `items` meet every item of a large array. See checks/budget.ts for what a step is.
   */
  maxSteps: 100_000_000,
  /** Steps that checking one value against one subschema counts for, and looking at one name of an object. */
  stepsPerSubschema: 20,
  stepsPerName: 100,
  /** Characters of all patterns of a schema: preparing them, and the platform's own parser, takes up to 20 µs for each. */
  maxPatternCharacters: 50_000,
  /** States of all their matchers: `((x{100}){100}){100}` would fill the memory, and take as many steps per character. */
  maxPatternStates: 50_000,
  /** Texts longer than this never go to the platform's RegExp: its stack overflows at 4 million characters. */
  maxNativeLength: 1_000_000,
  /** Steps per character, and in all, that the platform's RegExp may take at worst: more is a pattern that backtracks. */
  maxNativeSteps: 32,
  maxNativeConstantSteps: 256,
  /** Characters of generated code: compiling megabytes of it would stall the process; closures do the work then. */
  maxGeneratedLength: 200_000,
  /** Levels `canonicalJson` follows: it has no stack to overflow, but a circular value would fill the memory. */
  maxCanonicalDepth: 100_000,
  /** Alternatives that are checked again to explain why none of them fits: 20,000 would take as many explanations. */
  maxExplained: 200,
  /** Characters of an `$id`, and four times as many of an address made from several: each is parsed for every schema. */
  maxIdLength: 2_048,
  /** Issues reported: a million bad items would otherwise make a million messages. */
  maxIssues: 10,
  /** Characters quoted from a value or a schema: a message must not become an echo of a large input. */
  maxQuotedLength: 80,
  /** Characters of a path in a message: a fault hundreds of levels down would fill a page with its address. */
  maxPathLength: 200,
  /** Names or values listed in one message: an enum of ten thousand countries does not help in an error. */
  maxListed: 20,
} as const;
