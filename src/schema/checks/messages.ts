// Messages: what was wrong and what is allowed, short enough for a person or a model to act on.

import { limits } from '../limits.ts';
import { type TypeName, typeBits } from '../parse/plan.ts';
import { show } from './issues.ts';

const nouns: Record<TypeName, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

/** The types in a set of bits as nouns. */
export function nameTypes(bits: number): string[] {
  const names = (Object.keys(typeBits) as TypeName[]).filter((name) => (bits & typeBits[name]) !== 0);
  // Where a number is allowed, integers need not be mentioned.
  return names.filter((name) => name !== 'integer' || (bits & typeBits.number) === 0).map((name) => nouns[name]);
}

/** What a value is, as a noun. */
function nameKind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : 'a number that JSON cannot represent';
  return (typeof value) in nouns ? nouns[typeof value as TypeName] : 'a value that JSON cannot represent';
}

/** `must be a string or null, not a number`. */
export function mustBe(wanted: readonly string[], value: unknown): string {
  const kind = nameKind(value);
  const surprise = wanted.includes(kind) || (kind === 'a number' && wanted.includes('an integer'));
  if (surprise) return `must be ${either(wanted)}`;
  return `must be ${either(wanted)}, not ${kind}`;
}

/** `must be "a"`, or `must be one of "a", "b", "c"`. */
export function mustBeOneOf(choices: readonly string[]): string {
  return choices.length === 1 ? `must be ${choices[0]}` : `must be one of ${listed(choices)}`;
}

/** The message for an unknown property; the known ones help against typing errors. */
export function notKnown(known: ReadonlySet<string>): string {
  if (known.size === 0) return 'is not allowed';
  // Only those that are shown are formatted: there may be many.
  const first = [...known].slice(0, limits.maxListed).map(show);
  const more = known.size > first.length ? ` and ${known.size - first.length} more` : '';
  return `is not a known property; use one of ${first.join(', ')}${more}`;
}

/** `at least 2 items`, `at least 1 item`. */
export function counted(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${count} ${noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;
}

/** `a, b and 12 more`, never longer than a person reads. */
export function listed(items: readonly string[]): string {
  const more = items.length - limits.maxListed;
  const shown = items.slice(0, limits.maxListed).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

function either(items: readonly string[]): string {
  if (items.length > limits.maxListed) return listed(items);
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`;
}

/** What a format requires. */
export const formatNouns: ReadonlyMap<string, string> = new Map([
  ['email', 'an email address'],
  ['uri', 'a URI with a scheme, like https://example.com'],
  ['date', 'a date like 2026-01-31'],
  ['date-time', 'a date and time like 2026-01-31T09:30:00Z'],
]);
