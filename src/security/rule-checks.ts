// Rules and options that TypeScript would report: without these checks, a misspelt one protects nothing, or fails in a request.

import { assertKnownOptions } from '../common/known-options.ts';

/** Throws unless rules are a list of objects with known names. `example`: the call as it may be written. */
export function requireRules(callee: string, rules: unknown, known: object, example: string): void {
  requireList(callee, rules, 'rules', example);
  for (const rule of rules as object[]) assertKnownOptions(`a rule of ${callee}`, rule, known);
}

/** Throws unless a value is a list. `what`: what it is a list of. */
export function requireList(callee: string, value: unknown, what: string, example: string): void {
  if (!Array.isArray(value)) throw new TypeError(`${callee} needs a list of ${what}: ${example}`);
}

/** Throws unless an optional value is a list of texts: a single text would be taken as a list of its characters. */
export function requireTexts(where: string, value: unknown): void {
  if (value === undefined || (Array.isArray(value) && value.every((each) => typeof each === 'string'))) return;
  const given = typeof value === 'string' ? `; write [${JSON.stringify(value)}]` : '';
  throw new TypeError(`${where}: must be a list of strings${given}`);
}
