// The one error of this room: a schema that cannot be used, found when it is registered.

/** Thrown by `compileSchema`. The message names the place, says what is wrong, and how to mend it. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  readonly code = 'bad_schema';
}
