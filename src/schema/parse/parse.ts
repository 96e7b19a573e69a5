// Reads a plain JSON Schema into a plan, once, at registration: all errors of a schema are found here. Knows
// 2020-12 and the older names of the same keywords. The keywords themselves are in keywords.ts and rules.ts.

import { shorten, show } from '../checks/issues.ts';
import { newPatternBudget, type Pattern } from '../checks/patterns.ts';
import { limits } from '../limits.ts';
import { SchemaError } from '../schema-error.ts';
import type { JsonSchema } from '../types.ts';
import { assertNoLoops } from './cycles.ts';
import { dialectAt, readDialect, type SchemaDialect } from './dialects.ts';
import {
  type Fail,
  groups,
  groupsOfKeywords,
  readChoices,
  readList,
  readMap,
  readPattern,
  readTypes,
} from './keywords.ts';
import { anyType, type Conditional, isAnything, type Plan, type Ref } from './plan.ts';
import { isObject, References, resourceOf, type SchemaResource } from './refs.ts';
import { readArrayRules, readNumberRules, readObjectRules, readStringRules, type SubschemaReader } from './rules.ts';
import { isRestUnevaluated } from './tuples.ts';

/** A schema that has been read. */
export interface ParsedSchema {
  readonly plan: Plan;
  /** Set when the schema uses what a plan cannot express; then ajv, in this dialect, validates values. */
  readonly needsAjv: SchemaDialect | undefined;
  /** How many subschemas were read. */
  readonly count: number;
}

/** Reads a schema and everything it refers to, or throws a `SchemaError`. */
export function parseSchema(schema: JsonSchema, where: string): ParsedSchema {
  const parser = new Parser(schema, where);
  const plan = parser.parse(schema);
  return { plan, needsAjv: parser.needsAjv, count: parser.count };
}

const blank = {
  never: false,
  types: anyType,
  choices: [],
  number: undefined,
  string: undefined,
  array: undefined,
  object: undefined,
  ref: undefined,
  allOf: [],
  anyOf: undefined,
  oneOf: undefined,
  not: undefined,
  conditional: undefined,
} as const;
const anything: Plan = { ...blank, source: true };
const nothing: Plan = { ...blank, never: true, source: false };

/** `not: true` forbids everything, `contains: true` requires an item, `if: true` picks `then`. */
const meansSomethingWhenTrue: ReadonlySet<string> = new Set(['not', 'contains', 'if']);

interface PendingRef {
  readonly ref: Ref;
  readonly text: string;
  readonly from: SchemaResource;
  /** Its path, for messages: names may be long, so it is only composed when needed. */
  readonly path: () => string;
}

class Parser implements SubschemaReader {
  needsAjv: SchemaDialect | undefined;
  readonly #where: string;
  readonly #dialect: SchemaDialect;
  readonly #references: References;
  readonly #pending: PendingRef[] = [];
  /** What has been read already, so that a reference to it ends there. */
  readonly #plans = new Map<unknown, Plan>();
  #resource: SchemaResource;
  /** Where we are: a start (the root, or the reference that led here) and the steps from there. */
  #start = '#';
  #steps: (string | number)[] = [];
  #depth = 0;
  count = 0;
  readonly #patterns = newPatternBudget();

  constructor(root: JsonSchema, where: string) {
    this.#where = where;
    this.#dialect = readDialect(root, where);
    this.#references = new References(root);
    this.#resource = this.#references.main;
  }

  parse(root: JsonSchema): Plan {
    const plan = this.#read(root);
    if (this.#pending.length === 0) return plan;
    // Targets are read one after the other, not inside each other: a long chain of references needs no stack.
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) this.#bind(next);
    assertNoLoops(this.#plans.values(), this.#where);
    return plan;
  }

  #bind({ ref, text, from, path }: PendingRef): void {
    const location = this.#references.resolve(text, from);
    if (location === undefined) {
      if (dialectAt(text) !== this.#dialect) this.#unresolved(text, path);
      // The meta-schema of its own dialect: ajv has it built in.
      this.needsAjv = this.#dialect;
      ref.target = anything;
      return;
    }
    let target = this.#plans.get(location.schema);
    if (target === undefined) {
      this.#start = text;
      this.#resource = location.resource;
      target = this.#read(location.schema);
    }
    ref.target = target;
  }

  #unresolved(text: string, path: () => string): never {
    const advice = text.startsWith('#')
      ? 'nothing is there. Define it under "$defs"'
      : 'it refers to another document, and nothing is ever fetched. Copy the target to "$defs" and refer to "#/$defs/…"';
    throw new SchemaError(`${this.#where}: the "$ref" ${show(text)} at ${path()} cannot be resolved: ${advice}.`);
  }

  #read(schema: unknown): Plan {
    if (schema === true) return anything;
    if (schema === false) return nothing;
    if (!isObject(schema)) {
      const got = show(schema);
      throw new SchemaError(`${this.#where}: a schema must be an object or a boolean, but ${this.#at()} is ${got}.`);
    }
    if (++this.#depth > limits.maxSchemaDepth) this.#fail(`more than ${limits.maxSchemaDepth} levels`);
    if (++this.count > limits.maxSubschemas) this.#fail(`more than ${limits.maxSubschemas} subschemas`);
    const around = this.#resource;
    if (schema['$id'] !== undefined && this.count > 1) this.#resource = resourceOf(schema, around);
    const plan = this.#readObject(schema);
    this.#plans.set(schema, plan);
    this.#resource = around;
    this.#depth--;
    return plan;
  }

  #readObject(schema: JsonSchema): Plan {
    const ref = this.#readRef(schema);
    // Draft-07, section 8.3: "All other properties in a "$ref" object MUST be ignored."
    if (ref !== undefined && this.#dialect === 'draft-07') return { ...blank, ref, source: schema };
    // Most subschemas have two or three keywords: look up their groups instead of checking fifty names.
    let spoken = 0;
    const groupOf = groupsOfKeywords();
    for (const keyword of Object.keys(schema)) spoken |= groupOf.get(keyword) ?? 0;
    if ((spoken & groups.beyond) !== 0 || this.#hasUnevaluatedItems(schema)) this.needsAjv ??= this.#dialect;
    const combines = (spoken & groups.combination) !== 0;
    return {
      never: false,
      types: readTypes(schema, this.fail),
      choices: (spoken & groups.choice) !== 0 ? readChoices(schema, this.fail) : [],
      number: (spoken & groups.number) !== 0 ? readNumberRules(schema, this) : undefined,
      string: (spoken & groups.string) !== 0 ? readStringRules(schema, this) : undefined,
      array: (spoken & groups.array) !== 0 ? readArrayRules(schema, this) : undefined,
      object: (spoken & groups.object) !== 0 ? readObjectRules(schema, this) : undefined,
      ref,
      allOf: (combines ? this.list(schema, 'allOf') : undefined) ?? [],
      anyOf: combines ? this.list(schema, 'anyOf') : undefined,
      oneOf: combines ? this.list(schema, 'oneOf') : undefined,
      not: combines ? this.child(schema, 'not') : undefined,
      conditional: combines ? this.#readConditional(schema) : undefined,
      source: schema,
    };
  }

  /** What the keyword accepts depends on what other keywords have evaluated, except in a tuple. */
  #hasUnevaluatedItems(schema: JsonSchema): boolean {
    if (schema['unevaluatedItems'] === undefined) return false;
    return this.#dialect !== '2020-12' || !isRestUnevaluated(schema);
  }

  #readRef(schema: JsonSchema): Ref | undefined {
    const text = schema['$ref'];
    if (text === undefined) return undefined;
    if (typeof text !== 'string') return this.fail('$ref', `must be text, not ${show(text)}`);
    const ref: Ref = { target: undefined };
    this.#pending.push({ ref, text, from: this.#resource, path: this.#remember() });
    return ref;
  }

  #readConditional(schema: JsonSchema): Conditional | undefined {
    const when = this.child(schema, 'if');
    if (when === undefined) return undefined;
    return { when, matched: this.child(schema, 'then'), otherwise: this.child(schema, 'else') };
  }

  child(schema: JsonSchema, keyword: string): Plan | undefined {
    const inner = schema[keyword];
    if (inner === undefined) return undefined;
    const plan = this.descend(inner, keyword);
    return isAnything(plan) && !meansSomethingWhenTrue.has(keyword) ? undefined : plan;
  }

  list(schema: JsonSchema, keyword: string): Plan[] | undefined {
    return readList(schema, keyword, this.fail)?.map((item, at) => this.descend(item, keyword, at));
  }

  map(schema: JsonSchema, keyword: string): { name: string; plan: Plan }[] {
    return readMap(schema, keyword, this.fail).map(([name, item]) => ({
      name,
      plan: this.descend(item, keyword, name),
    }));
  }

  descend(schema: unknown, ...steps: (string | number)[]): Plan {
    this.#steps.push(...steps);
    const plan = this.#read(schema);
    this.#steps.length -= steps.length;
    return plan;
  }

  pattern(source: unknown, keyword: string): Pattern {
    return readPattern(source, keyword, this.fail, this.#patterns);
  }

  readonly fail: Fail = (keyword, problem) => {
    throw new SchemaError(`${this.#where}: "${keyword}" at ${this.#at()} ${problem}.`);
  };

  #fail(what: string): never {
    throw new SchemaError(`${this.#where}: the schema has ${what}, or contains itself. Simplify it, or use "$ref".`);
  }

  #at(): string {
    return pathTo(this.#start, this.#steps);
  }

  #remember(): () => string {
    const [start, steps] = [this.#start, [...this.#steps]];
    return () => pathTo(start, steps);
  }
}

function pathTo(start: string, steps: readonly (string | number)[]): string {
  const names = steps.map((step) => `/${shorten(String(step)).replaceAll('~', '~0').replaceAll('/', '~1')}`);
  return shorten(shorten(start) + names.join(''), limits.maxPathLength);
}
