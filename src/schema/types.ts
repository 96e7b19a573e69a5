// The types of this folder: what a user may pass, what a compiled schema offers, and the Standard Schema
// interfaces (https://standardschema.dev) written out here so that the folder depends on no package. Types only.

/** A plain JSON Schema object, 2020-12 unless its `$schema` says otherwise. */
export type JsonSchema = { readonly [key: string]: unknown };

/** One thing that is wrong with a value, and where. A missing property is named by its own path. */
export interface Issue {
  /** Names and indexes from the root to the value. */
  readonly path: readonly (string | number)[];
  /** What is wrong, without the path. */
  readonly message: string;
}

/** The outcome of a validation. `value` is what the handler should see: a library may have transformed it. */
export type Validation<T = unknown> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** Built once per tool. */
export interface Validator {
  /** Synchronous wherever it can be; a promise only for async Standard Schemas or while a library is still loading. */
  validate(value: unknown): Validation | Promise<Validation>;
  /**
   * The fast way: `undefined` means valid, and nothing is allocated. Present only where validation is synchronous
   * and never changes the value (plain JSON Schema); where it is absent, use `validate`.
   */
  readonly check: ((value: unknown) => readonly Issue[] | undefined) | undefined;
}

/** A schema ready for use: `json` is sent to the peer, `validator` validates values. */
export interface CompiledSchema {
  readonly json: JsonSchema;
  readonly validator: Validator;
}

/** A Standard Schema whose library cannot describe itself, beside a JSON Schema written by hand. */
export interface SchemaPair<S extends StandardSchemaV1 = StandardSchemaV1> {
  /** Validates values. */
  readonly schema: S;
  /** Is sent to clients. */
  readonly json: JsonSchema;
}

/** What the types of Effect's schemas have in common. */
export interface EffectSchema<Type = unknown, Encoded = unknown> {
  readonly ast: object;
  readonly Type: Type;
  readonly Encoded: Encoded;
}

/** A JSON Schema made by TypeBox 1, whose types do not say that they are plain objects. */
export interface TypeBoxSchema {
  readonly '~kind': string;
}

/**
 * What a user may pass: a schema of zod, Valibot, ArkType or any other library with Standard Schema, of Effect, a pair, or
 * a plain JSON Schema object (TypeBox makes those).
 */
export type SchemaInput = StandardSchemaV1 | EffectSchema | TypeBoxSchema | SchemaPair | JsonSchema;

/** Options of `compileSchema`. */
export interface CompileOptions {
  /** Which type of a transforming schema is meant: its input or its output. */
  readonly direction: 'input' | 'output';
  /** `object` (the default) insists that only objects can match, as tool arguments must; `any` allows every value. */
  readonly root?: 'object' | 'any';
  /** The start of every error message, e.g. `tool "forecast" input`. */
  readonly where: string;
}

/** A schema of any library that implements Standard Schema. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': StandardProps<Input, Output>;
}

/** The `~standard` property: validation, the inferred types, and perhaps the JSON Schema. */
export interface StandardProps<Input = unknown, Output = Input> {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
}

/** What a Standard Schema answers: `issues` is absent exactly when the value is good. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** An issue as Standard Schema libraries report it. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** JSON Schema in Standard Schema 1.1: each function may throw for what JSON Schema cannot express. */
export interface StandardConverter {
  readonly input: (options: { readonly target: string }) => Record<string, unknown>;
  readonly output: (options: { readonly target: string }) => Record<string, unknown>;
}
