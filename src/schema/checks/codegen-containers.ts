// Generated code for arrays and objects; the rest is in codegen.ts.
import { limits } from '../limits.ts';
import { type ArrayRules, isAnything, type ObjectRules, type Plan } from '../parse/plan.ts';
import { stepsOf } from '../weight.ts';

/** What writes the code around a container and inside it. */
export interface CodeWriter {
  /** A name that no other variable has. */
  name(prefix: string): string;
  /** Something the code refers to but does not contain. */
  constant(value: unknown): string;
  /** A separate function `(value, depth) => boolean`, for branches whose result is needed. */
  functionFor(plan: Plan): string;
  /** Statements that `return false` unless the variable fits; `level` is how far it is below the function's value. */
  statements(plan: Plan, variable: string, level: number): string;
}

/** Statements for an array in the variable `v`. */
export function generateArray(writer: CodeWriter, rules: ArrayRules, v: string, level: number): string {
  const { minItems, maxItems, unique, prefix, rest, contains } = rules;
  let code = '';
  if (minItems !== undefined) code += `if(${v}.length<${minItems})return false;`;
  if (maxItems !== undefined) code += `if(${v}.length>${maxItems})return false;`;
  prefix.forEach((plan, at) => {
    if (isAnything(plan)) return;
    const x = writer.name('x');
    code += `if(${v}.length>${at}){const ${x}=${v}[${at}];${writer.statements(plan, x, level + 1)}}`;
  });
  if (rest?.never) code += `if(${v}.length>${prefix.length})return false;`;
  else if (rest !== undefined) {
    const [i, x] = [writer.name('i'), writer.name('x')];
    const body = `const ${x}=${v}[${i}];${writer.statements(rest, x, level + 1)}`;
    code += spendStatement(`${v}.length*${stepsOf(rest)}`);
    code += `for(let ${i}=${prefix.length};${i}<${v}.length;${i}++){${body}}`;
  }
  if (contains !== undefined) {
    const [n, x, fits] = [writer.name('n'), writer.name('x'), writer.functionFor(contains.plan)];
    code += spendStatement(`${v}.length*${stepsOf(contains.plan)}`);
    code += `let ${n}=0;for(const ${x} of ${v})if(${fits}(${x},d+${level + 1}))${n}++;`;
    code += `if(${n}<${contains.min}||${n}>${contains.max})return false;`;
  }
  if (unique) code += `if(findRepeat(${v})!==undefined)return false;`;
  return code;
}

/** Statements for an object, never an array or null, in the variable `v`. */
export function generateObject(writer: CodeWriter, rules: ObjectRules, v: string, level: number): string {
  // Another prototype (a class instance, an own `__proto__`) makes plain reads unsafe: leave it to the closures.
  let code = `if(${v}.__proto__!==plain){budget.uncertain=true;return false;}`;
  const closed = rules.additional?.never === true && rules.patterns.length === 0;
  const present = writer.name('p');
  if (closed) code += `let ${present}=0;`;
  for (const { name, required, plan } of rules.members) {
    const counts = closed && rules.known.has(name) ? `${present}++;` : '';
    const x = writer.name('x');
    const body = counts + (plan === undefined || isAnything(plan) ? '' : writer.statements(plan, x, level + 1));
    if (body === '' && !required) continue;
    code += `const ${x}=${read(v, name)};if(${x}!==undefined){${body}}${required ? 'else return false;' : ''}`;
  }
  if (closed) code += closedStatements(writer, rules, v, present);
  else if (rules.additional !== undefined || rules.patterns.length > 0)
    code += othersStatements(writer, rules, v, level);
  if (rules.names !== undefined) {
    const k = writer.name('k');
    code += eachName(v, k, writer.statements(rules.names, k, level + 1), stepsOf(rules.names) + limits.stepsPerName);
  }
  if (rules.minProperties !== undefined || rules.maxProperties !== undefined) {
    const n = writer.name('n');
    code += `let ${n}=0;${eachName(v, writer.name('k'), `${n}++;`, limits.stepsPerName)}`;
    code += `if(${n}<${rules.minProperties ?? 0}||${n}>${rules.maxProperties ?? 'Infinity'})return false;`;
  }
  for (const { name, needs } of rules.dependentRequired) {
    if (needs.length === 0) continue;
    const missing = needs.map((other) => `${read(v, other)}===undefined`).join('||');
    code += `if(${read(v, name)}!==undefined&&(${missing}))return false;`;
  }
  for (const { name, plan } of rules.dependentSchemas) {
    code += `if(${read(v, name)}!==undefined){${writer.statements(plan, v, level)}}`;
  }
  return code;
}

/** `additionalProperties: false`: counting is enough unless the counts differ. */
function closedStatements(writer: CodeWriter, { known }: ObjectRules, v: string, present: string): string {
  const [n, k] = [writer.name('n'), writer.name('k')];
  const search = eachName(v, k, `if(!${writer.constant(known)}.has(${k}))return false;`, limits.stepsPerName);
  return `let ${n}=0;for(const ${k} in ${v})${n}++;${spendStatement(`${n}*${limits.stepsPerName}`)}if(${n}!==${present}){${search}}`;
}

function othersStatements(writer: CodeWriter, rules: ObjectRules, v: string, level: number): string {
  const { known, patterns, additional } = rules;
  const [k, x, spokenOf] = [writer.name('k'), writer.name('x'), writer.name('s')];
  let body = `const ${x}=${v}[${k}];let ${spokenOf}=${writer.constant(known)}.has(${k});`;
  for (const { pattern, plan } of patterns) {
    const inner = writer.statements(plan, x, level + 1);
    body += `if(${writer.constant(pattern)}.test(${k})){${spokenOf}=true;${inner}}`;
  }
  if (additional !== undefined) body += `if(!${spokenOf}){${writer.statements(additional, x, level + 1)}}`;
  const plans = [...patterns.map(({ plan }) => plan), ...(additional === undefined ? [] : [additional])];
  return eachName(
    v,
    k,
    body,
    plans.reduce((sum, plan) => sum + stepsOf(plan), limits.stepsPerName as number),
  );
}

/** A loop over the own properties that are not `undefined`; each of them takes some steps. */
function eachName(v: string, k: string, body: string, steps: number): string {
  return `for(const ${k} of keys(${v})){${spendStatement(String(steps))}if(${v}[${k}]!==undefined){${body}}}`;
}

/** Takes steps from the budget of the validation. */
export function spendStatement(steps: string): string {
  return `if((budget.stepsLeft-=${steps})<0)throw budgetExceeded;`;
}

/** Reads a property of a plain object; names that every object inherits need `hasOwn`. */
function read(v: string, name: string): string {
  const property = `${v}[${JSON.stringify(name)}]`;
  return name in Object.prototype ? `(hasOwn(${v},${JSON.stringify(name)})?${property}:undefined)` : property;
}
