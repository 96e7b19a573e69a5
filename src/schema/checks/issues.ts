// Issues for people and models: how a path is written, how a list becomes one line, how long a line may grow.
// What counts as wrong is decided elsewhere (closures.ts, standard.ts).

import { limits } from '../limits.ts';
import type { Issue } from '../types.ts';
import { lazyPattern } from './lazy-pattern.ts';

const isPlainName = lazyPattern('^[\\p{L}_$][\\p{L}\\p{N}_$…-]*$');

/** `[]` → '', `['tags', 2]` → 'tags[2]', `['a b', 'c']` → '["a b"].c'. */
export function formatPath(path: readonly (string | number)[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else {
      const name = shorten(step);
      text += isPlainName(name) ? `${text === '' ? '' : '.'}${name}` : `[${JSON.stringify(name)}]`;
    }
  }
  return shorten(text, limits.maxPathLength);
}

/** One line for people: 'name: must be a string; tags[2]: must be one of "a", "b"'. */
export function formatIssues(issues: readonly Issue[]): string {
  return issues
    .map(({ path, message }) => (path.length === 0 ? message : `${formatPath(path)}: ${message}`))
    .join('; ');
}

/** Cuts text that came from a value or a schema, so that an error stays readable whatever was sent. */
export function shorten(text: string, max: number = limits.maxQuotedLength): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

/** Any value as short JSON, for a message. */
export function show(value: unknown): string {
  return shorten(JSON.stringify(value) ?? String(value));
}

/** The answer to a value that descends further than we follow. */
export const nestedTooDeeply: Issue = Object.freeze({ path: Object.freeze([]), message: 'is nested too deeply' });

/** The issue for a value that would take too long to validate. */
export const budgetExceededIssue: Issue = Object.freeze({
  path: Object.freeze([]),
  message: 'is too large to be checked against this schema',
});

/** JavaScript engines word it differently; all of them mean that the stack is used up, not that a value is out of range. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof Error && /call stack|recursion/i.test(error.message);
}
