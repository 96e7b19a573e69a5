// Every bound of this room, with the attack it stops. Schemas written by the author of a server are trusted with
// their regular expressions; schemas that come from elsewhere (a gateway's upstream) should be kept to these bounds.

/** Bounds on schemas and on what validating may cost. */
export const limits = {
  /** Nesting of subschemas: a schema of `{not:{not:{not:…}}}` would overflow the stack of every walk over it. */
  maxSchemaDepth: 100,
  /** Subschemas reachable from the root: a schema of a million branches would make registration a denial of service. */
  maxSubschemas: 20_000,
  /** Levels a recursive schema follows into a value: `[[[[…]]]]` would overflow the stack of the validator. */
  maxValueDepth: 500,
  /** `$ref`s followed in one validation: two recursive branches on a deep value double the work at every level. */
  maxRefsFollowed: 5_000_000,
  /** Characters of generated code: compiling megabytes of it would stall the process; closures do the work then. */
  maxGeneratedLength: 200_000,
  /** Levels `canonicalJson` follows: it has no stack to overflow, but a circular value would fill the memory. */
  maxCanonicalDepth: 100_000,
  /** Issues reported: a million bad items would otherwise make a million messages. */
  maxIssues: 10,
  /** Characters quoted from a value or a schema: a message must not become an echo of a large input. */
  maxQuotedLength: 80,
  /** Characters of a path in a message: a fault hundreds of levels down would fill a page with its address. */
  maxPathLength: 200,
  /** Names or values listed in one message: an enum of ten thousand countries is no help in an error. */
  maxListed: 20,
} as const;
