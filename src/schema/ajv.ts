// What our own compiler leaves out (`unevaluated*`, `$dynamicRef`, draft 2019-09) is judged by ajv. The only file
// that imports it, and only when such a schema is registered: it costs more to load than everything else here.
import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { formats } from './formats.ts';
import { isStackOverflow, nestedTooDeeply } from './issues.ts';
import { limits } from './limits.ts';
import { compilePattern } from './patterns.ts';
import { SchemaError } from './schema-error.ts';
import type { Issue, JsonSchema, Validation, Validator } from './types.ts';
import { findRepeat } from './unique-items.ts';

/** The dialects ajv is asked to judge. */
export type AjvDialect = '2020-12' | '2019-09' | 'draft-07';

/** Begins to load ajv at once, so that the first validation seldom has to wait for it. */
export class AjvValidator implements Validator {
  readonly check = undefined;
  #judge: ValidateFunction | undefined;
  readonly #ready: Promise<ValidateFunction>;

  constructor(schema: JsonSchema, dialect: AjvDialect, where: string) {
    this.#ready = compileWithAjv(schema, dialect, where);
    // A failure is told to whoever validates; nobody may be waiting yet, and an unhandled rejection ends a process.
    this.#ready.then(
      (judge) => {
        this.#judge = judge;
      },
      () => {},
    );
  }

  validate(value: unknown): Validation | Promise<Validation> {
    const judge = this.#judge;
    return judge !== undefined ? validateWith(judge, value) : this.#ready.then((late) => validateWith(late, value));
  }
}

function validateWith(judge: ValidateFunction, value: unknown): Validation {
  try {
    return judge(value) ? { ok: true, value } : { ok: false, issues: (judge.errors ?? []).map(toIssue) };
  } catch (error) {
    if (isStackOverflow(error)) return { ok: false, issues: [nestedTooDeeply] };
    throw error;
  }
}

async function compileWithAjv(schema: JsonSchema, dialect: AjvDialect, where: string): Promise<ValidateFunction> {
  try {
    const ajv = await loadAjv(dialect);
    for (const [name, test] of formats) ajv.addFormat(name, test);
    // ajv compares every pair of items: 8,000 objects would take seconds.
    ajv.removeKeyword('uniqueItems');
    ajv.addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      error: { message: 'must not repeat items' },
      compile: (wanted: boolean) => (items: unknown[]) => !wanted || findRepeat(items) === undefined,
    });
    // The root may carry an `$id` of its own; each schema has an instance to itself, so ids never collide.
    return ajv.compile(schema);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SchemaError(`${where}: this schema could not be compiled: ${reason}`, { cause });
  }
}

const options: Options = {
  strict: false,
  logger: false,
  // One issue is enough to say no, and looking for all of them is work an attacker could ask for.
  allErrors: false,
  validateSchema: false,
  ownProperties: true,
  code: { regExp: Object.assign((source: string) => compilePattern(source), { code: 'compilePattern' }) },
};

async function loadAjv(dialect: AjvDialect) {
  if (dialect === '2019-09') return new (await import('ajv/dist/2019.js')).Ajv2019(options);
  if (dialect === 'draft-07') return new (await import('ajv')).Ajv(options);
  return new (await import('ajv/dist/2020.js')).Ajv2020(options);
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
  if (keyword === 'enum' && Array.isArray(params['allowedValues'])) {
    const listed = params['allowedValues'].slice(0, limits.maxListed).map((value) => JSON.stringify(value));
    return { path, message: `must be one of ${listed.join(', ')}` };
  }
  return { path, message };
}
