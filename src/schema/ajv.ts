// What our own compiler leaves out (`unevaluated*`, `$dynamicRef`, draft 2019-09) is validated by ajv. The only file
// that imports it, and only when such a schema is registered: it costs more to load than everything else here.
import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import { addBudget, countUses } from './ajv-budget.ts';
import { budget, budgetExceeded } from './checks/budget.ts';
import { formats } from './checks/formats.ts';
import { budgetExceededIssue, isStackOverflow, nestedTooDeeply, show } from './checks/issues.ts';
import { mustBeOneOf } from './checks/messages.ts';
import { compilePattern, newPatternBudget, type Pattern } from './checks/patterns.ts';
import { findRepeat } from './checks/unique-items.ts';
import { equals } from './checks/value-checks.ts';
import { limits } from './limits.ts';
import type { SchemaDialect } from './parse/dialects.ts';
import { SchemaError } from './schema-error.ts';
import type { Issue, JsonSchema, Validation, Validator } from './types.ts';

/** Begins to load ajv at once, so that the first validation seldom has to wait for it. */
export class AjvValidator implements Validator {
  readonly check = undefined;
  #validate: ValidateFunction | undefined;
  readonly #ready: Promise<ValidateFunction>;

  constructor(schema: JsonSchema, dialect: SchemaDialect, where: string) {
    this.#ready = compileWithAjv(schema, dialect, where);
    // A failure is reported when a value is validated; an unhandled rejection before that would end the process.
    this.#ready.then(
      (validate) => {
        this.#validate = validate;
      },
      () => {},
    );
  }

  validate(value: unknown): Validation | Promise<Validation> {
    const validate = this.#validate;
    return validate !== undefined
      ? validateWith(validate, value)
      : this.#ready.then((late) => validateWith(late, value));
  }
}

function validateWith(validate: ValidateFunction, value: unknown): Validation {
  budget.stepsLeft = limits.maxSteps;
  try {
    return validate(value) ? { ok: true, value } : { ok: false, issues: (validate.errors ?? []).map(toIssue) };
  } catch (error) {
    if (isStackOverflow(error)) return { ok: false, issues: [nestedTooDeeply] };
    if (error === budgetExceeded) return { ok: false, issues: [budgetExceededIssue] };
    throw error;
  }
}

async function compileWithAjv(schema: JsonSchema, dialect: SchemaDialect, where: string): Promise<ValidateFunction> {
  const counted = countUses(schema, where);
  try {
    const ajv = await loadAjv(dialect);
    for (const [name, test] of formats) ajv.addFormat(name, test);
    addBudget(ajv);
    replaceKeywords(ajv);
    // The root may carry an `$id` of its own; each schema has an instance to itself, so ids never collide.
    return ajv.compile(counted);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SchemaError(`${where}: this schema could not be compiled: ${reason}`, { cause });
  }
}

/** ajv's own `uniqueItems` compares every pair of items, and its comparison throws on `{"toString": null}`. */
function replaceKeywords(ajv: Ajv): void {
  for (const keyword of ['uniqueItems', 'const', 'enum']) ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not repeat items' },
    compile: (wanted: boolean) => (items: unknown[]) => !wanted || findRepeat(items) === undefined,
  });
  ajv.addKeyword({
    keyword: 'const',
    error: { message: ({ schema }) => mustBeOneOf([show(schema)]) },
    compile: (wanted: unknown) => (value: unknown) => equals(value, wanted),
  });
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    error: { message: ({ schema }) => mustBeOneOf((schema as unknown[]).map(show)) },
    compile: (wanted: unknown[]) => (value: unknown) => wanted.some((choice) => equals(value, choice)),
  });
}

const options = (): Options => ({
  strict: false,
  logger: false,
  // One issue is enough to reject a value, and an attacker could make a search for all of them slow.
  allErrors: false,
  validateSchema: false,
  ownProperties: true,
  code: {
    // Halves the time to compile, in which nothing else runs.
    optimize: false,
    regExp: patternCompiler(),
  },
});

/** For the patterns of one schema. ajv distinguishes them by their text. */
function patternCompiler() {
  const budget = newPatternBudget();
  const compile = (source: string): Pattern =>
    Object.assign(compilePattern(source, budget), { toString: () => source });
  return Object.assign(compile, { code: 'compilePattern' });
}

async function loadAjv(dialect: SchemaDialect) {
  if (dialect === '2019-09') return new (await import('ajv/dist/2019.js')).Ajv2019(options());
  if (dialect === 'draft-07') return new (await import('ajv')).Ajv(options());
  return new (await import('ajv/dist/2020.js')).Ajv2020(options());
}

function toIssue({ instancePath, keyword, message = 'is not allowed', params }: ErrorObject): Issue {
  const path: (string | number)[] = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^(0|[1-9]\d{0,8})$/.test(step) ? Number(step) : step));
  const name: unknown = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'];
  if (typeof name === 'string') {
    return { path: [...path, name], message: keyword === 'required' ? 'is required' : 'is not a known property' };
  }
  return { path, message };
}
