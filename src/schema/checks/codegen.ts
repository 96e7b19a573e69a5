// Runs a plan as generated code, for schemas that are used often: it saves a quarter of the time of a call with eight
// arguments (bench schema, "no generated code"). It only returns true or false. True is certain; otherwise the closures
// check again and explain.
// Of the schema only names, literals and numbers enter the text, always as JSON; everything else is passed by reference.

import { limits } from '../limits.ts';
import { anyType, isAnything, type NumberRules, type Plan, type StringRules, typeBits } from '../parse/plan.ts';
import { stepsOf } from '../weight.ts';
import { budget, budgetExceeded, depthExceeded } from './budget.ts';
import { type CodeWriter, generateArray, generateObject, spendStatement } from './codegen-containers.ts';
import { findRepeat } from './unique-items.ts';
import { equals, hasLength, isComposite, isMultiple } from './value-checks.ts';

/** The generated function: whether a value `depth` levels down fits, unless `budget.uncertain` is set afterwards. */
export type GeneratedTest = (value: unknown, depth: number) => boolean;

/** Names the generated code can use. */
const tools = {
  budget,
  depthExceeded,
  budgetExceeded,
  hasLength,
  isMultiple,
  findRepeat,
  isArray: Array.isArray,
  isInteger: Number.isInteger,
  isFinite: Number.isFinite,
  hasOwn: Object.hasOwn,
  keys: Object.keys,
  plain: Object.prototype,
};

let allowed: boolean | undefined;

/** Whether code can be generated here (a content security policy or a flag may forbid it) and would be correct. */
export function canGenerate(): boolean {
  if (allowed !== undefined) return allowed;
  try {
    // Generated code recognizes plain objects by `__proto__`, which hardened processes remove or make throw.
    const probe: unknown = new Function('value', 'return value.__proto__')({});
    allowed = probe === Object.prototype;
  } catch {
    allowed = false; // Closures do the work instead.
  }
  return allowed;
}

/** The generated test for a plan and everything it refers to; `undefined` where it would be too long to be worth it. */
export function generateTest(root: Plan): GeneratedTest | undefined {
  const generator = new Generator();
  const entry = generator.functionFor(root);
  generator.finish();
  const source = `"use strict";
const {${Object.keys(tools).join(',')}}=tools;
${generator.constants.map((_, at) => `const c${at}=constants[${at}];`).join('\n')}
${generator.functions.join('\n')}
return ${entry};`;
  if (source.length > limits.maxGeneratedLength) return undefined;
  return new Function('tools', 'constants', source)(tools, generator.constants) as GeneratedTest;
}

class Generator implements CodeWriter {
  readonly functions: string[] = [];
  readonly constants: unknown[] = [];
  readonly #targets = new Map<Plan, string>();
  readonly #unwritten: Plan[] = [];
  #names = 0;

  name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  constant(value: unknown): string {
    return `c${this.constants.push(value) - 1}`;
  }

  functionFor(plan: Plan): string {
    const name = this.name('f');
    this.functions.push(`function ${name}(v,d){${this.statements(plan, 'v', 0)}return true;}`);
    return name;
  }

  /** The function a reference calls, one for each target. Written later, so that a schema may contain itself. */
  #targetFor(plan: Plan): string {
    let name = this.#targets.get(plan);
    if (name !== undefined) return name;
    this.#targets.set(plan, (name = this.name('r')));
    this.#unwritten.push(plan);
    return name;
  }

  /** Writes the functions that references call, and those that these call in turn. */
  finish(): void {
    for (let plan = this.#unwritten.pop(); plan !== undefined; plan = this.#unwritten.pop()) {
      const bounds = `if(d>${limits.maxValueDepth})throw depthExceeded;${spendStatement(String(stepsOf(plan)))}`;
      const body = `${bounds}${this.statements(plan, 'v', 0)}return true;`;
      this.functions.push(`function ${this.#targets.get(plan)}(v,d){${body}}`);
    }
  }

  statements(plan: Plan, variable: string, level: number): string {
    if (plan.never) return 'return false;';
    const v = variable;
    const at = `${v},d+${level}`;
    let code = '';
    if (plan.types !== anyType) code += `if(!(${typeTest(plan.types, v)}))return false;`;
    for (const choices of plan.choices) code += `if(!(${this.#choiceTest(choices, v)}))return false;`;
    const target = plan.ref?.target;
    if (target !== undefined && !isAnything(target)) code += `if(!${this.#targetFor(target)}(${at}))return false;`;
    if (plan.number !== undefined) code += guard(plan, numberBits, v, numberStatements(plan.number, v));
    if (plan.string !== undefined) code += guard(plan, typeBits.string, v, this.#stringStatements(plan.string, v));
    if (plan.array !== undefined) code += guard(plan, typeBits.array, v, generateArray(this, plan.array, v, level));
    if (plan.object !== undefined) code += guard(plan, typeBits.object, v, generateObject(this, plan.object, v, level));
    for (const part of plan.allOf) code += this.statements(part, v, level);
    if (plan.anyOf !== undefined) {
      code += `if(!(${plan.anyOf.map((branch) => `${this.functionFor(branch)}(${at})`).join('||')}))return false;`;
    }
    if (plan.oneOf !== undefined) {
      const n = this.name('n');
      const tries = plan.oneOf.map((branch) => `if(${this.functionFor(branch)}(${at})&&++${n}>1)return false;`);
      code += `let ${n}=0;${tries.join('')}if(${n}===0)return false;`;
    }
    if (plan.not !== undefined) code += `if(${this.functionFor(plan.not)}(${at}))return false;`;
    if (plan.conditional !== undefined) {
      const { when, matched, otherwise } = plan.conditional;
      const [yes, no] = [matched, otherwise].map((branch) => (branch ? this.statements(branch, v, level) : ''));
      code += `if(${this.functionFor(when)}(${at})){${yes}}else{${no}}`;
    }
    return `{${code}}`;
  }

  #choiceTest(choices: readonly unknown[], v: string): string {
    const composites = choices.filter(isComposite);
    const scalars = choices.filter((choice) => !isComposite(choice));
    const inline = scalars.length <= maxInlineChoices && scalars.every(isLiteral);
    const tests = inline
      ? scalars.map((choice) => `${v}===${JSON.stringify(choice)}`)
      : [`${this.constant(new Set(scalars))}.has(${v})`];
    if (composites.length > 0) {
      const some = (value: unknown) => composites.some((choice) => equals(value, choice));
      tests.push(`${this.constant(some)}(${v})`);
    }
    return tests.join('||');
  }

  #stringStatements({ minLength = 0, maxLength, pattern, format }: StringRules, v: string): string {
    let code = '';
    if (maxLength !== undefined || minLength > 1) {
      code += `if(!hasLength(${v},${minLength},${maxLength ?? 'Infinity'}))return false;`;
    } else if (minLength === 1) code += `if(${v}==='')return false;`;
    if (pattern !== undefined) code += `if(!${this.constant(pattern)}.test(${v}))return false;`;
    if (format !== undefined) code += `if(!${this.constant(format.test)}(${v}))return false;`;
    return code;
  }
}

/** More than this and a set is faster than comparing one by one. */
const maxInlineChoices = 8;
/** Longer texts are found in a set, by a hash: comparing with many that begin alike takes long. */
const maxInlineLength = 100;

const numberBits = typeBits.number | typeBits.integer;

/** Omits the type check where the `type` keyword has done it. */
function guard(plan: Plan, bits: number, v: string, code: string): string {
  if ((plan.types & ~bits) === 0) return code;
  return `if(${bits === numberBits ? `typeof ${v}==='number'` : typeTest(bits, v)}){${code}}`;
}

function typeTest(bits: number, v: string): string {
  const tests: string[] = [];
  if ((bits & typeBits.string) !== 0) tests.push(`typeof ${v}==='string'`);
  if ((bits & typeBits.number) !== 0) tests.push(`typeof ${v}==='number'&&isFinite(${v})`);
  else if ((bits & typeBits.integer) !== 0) tests.push(`isInteger(${v})`);
  if ((bits & typeBits.boolean) !== 0) tests.push(`typeof ${v}==='boolean'`);
  if ((bits & typeBits.null) !== 0) tests.push(`${v}===null`);
  const both = typeBits.array | typeBits.object;
  if ((bits & both) === both) tests.push(`typeof ${v}==='object'&&${v}!==null`);
  else if ((bits & typeBits.array) !== 0) tests.push(`isArray(${v})`);
  else if ((bits & typeBits.object) !== 0) tests.push(`typeof ${v}==='object'&&${v}!==null&&!isArray(${v})`);
  return tests.join('||');
}

function numberStatements(rules: NumberRules, v: string): string {
  const wrong: string[] = [];
  if (rules.minimum !== undefined) wrong.push(`${v}>=${rules.minimum}`);
  if (rules.maximum !== undefined) wrong.push(`${v}<=${rules.maximum}`);
  if (rules.exclusiveMinimum !== undefined) wrong.push(`${v}>${rules.exclusiveMinimum}`);
  if (rules.exclusiveMaximum !== undefined) wrong.push(`${v}<${rules.exclusiveMaximum}`);
  if (rules.multipleOf !== undefined) wrong.push(`isMultiple(${v},${rules.multipleOf})`);
  return `if(!(${wrong.join('&&')}))return false;`;
}

const isLiteral = (value: unknown): boolean =>
  value === null ||
  (typeof value === 'string' && value.length <= maxInlineLength) ||
  typeof value === 'boolean' ||
  Number.isFinite(value);
