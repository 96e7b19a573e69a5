// One field of a form: the prompt for it, and the checks of the answer.

import { forTerminal, lineForTerminal } from '../../app/foreign-text.ts';
import { styleFor } from '../ui/style.ts';
import { choicesOf, typeWords } from './schema-words.ts';
import type { Schema } from './types.ts';

const style = styleFor(process.stderr);

/** Prints a prompt and returns the line that was typed. */
export type Ask = (question: string) => Promise<string>;

/** Prompts until the answer is valid. Undefined: the user declined. A result without a value: the field is omitted. */
export async function askField(
  name: string,
  field: Schema,
  required: boolean,
  ask: Ask,
  say: (text: string) => void,
): Promise<{ readonly value: unknown } | undefined> {
  const choices = choicesOf(field) ?? (field.type === 'array' ? choicesOf(field.items ?? {}) : undefined);
  const title = lineForTerminal(field.title ?? name);
  if (field.description !== undefined) say(`${style.faint(forTerminal(field.description))}\n`);
  choices?.forEach(({ title: each }, i) => {
    say(`  ${style.name(String(i + 1))} ${lineForTerminal(each)}\n`);
  });
  const kind =
    field.type === 'boolean' ? 'y/n' : choices === undefined ? typeWords(field) : several(field, choices.length);
  const preset = field.default === undefined ? '' : ` [${lineForTerminal(shown(field.default))}]`;
  const marks = style.faint(` (${kind}${required ? '' : ', optional'})${preset}`);
  for (;;) {
    const words = (await ask(`${style.strong(title)}${marks} `)).trim();
    if (words === '!') return undefined;
    if (words === '') {
      if (field.default !== undefined) return { value: field.default };
      if (!required) return { value: undefined };
      say(`${style.warn('This field is required. Type "!" to decline the whole form.')}\n`);
      continue;
    }
    const { value, problem } = convertAnswer(field, words);
    if (problem === undefined) return { value };
    say(`${style.warn(`${title} ${problem}`)}\n`);
  }
}

const several = (field: Schema, count: number): string =>
  field.type === 'array' ? `numbers, as in 1,${count}` : `1–${count}`;

function shown(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'y' : 'n';
  return Array.isArray(value) ? value.join(',') : String(value);
}

/** Converts an answer to the field's type; `problem` says why it cannot. */
export function convertAnswer(field: Schema, words: string): { readonly value?: unknown; readonly problem?: string } {
  if (field.type === 'array') {
    const items = words.split(',').map((each) => convertAnswer(field.items ?? {}, each.trim()));
    const wrong = items.find(({ problem }) => problem !== undefined);
    if (wrong !== undefined) return wrong;
    if (items.length < (field.minItems ?? 0)) return { problem: `needs at least ${field.minItems} choices` };
    if (items.length > (field.maxItems ?? items.length)) return { problem: `takes at most ${field.maxItems} choices` };
    return { value: items.map(({ value }) => value) };
  }
  const choices = choicesOf(field);
  if (choices !== undefined) {
    const byWord = choices.find(({ value, title }) => String(value) === words || title === words);
    const chosen = byWord ?? (/^\d+$/.test(words) ? choices[Number(words) - 1] : undefined);
    return chosen === undefined ? { problem: `must be a number from 1 to ${choices.length}` } : { value: chosen.value };
  }
  if (field.type === 'boolean') {
    if (/^(y|yes|true|1)$/i.test(words)) return { value: true };
    return /^(n|no|false|0)$/i.test(words) ? { value: false } : { problem: 'must be y or n' };
  }
  if (field.type === 'number' || field.type === 'integer') return number(field, words);
  if (words.length < (field.minLength ?? 0)) return { problem: `needs at least ${field.minLength} characters` };
  if (words.length > (field.maxLength ?? words.length))
    return { problem: `takes at most ${field.maxLength} characters` };
  if (field.format === 'email' && !/^[^\s@]+@[^\s@]+$/.test(words)) return { problem: 'must be an email address' };
  if (field.format === 'uri' && !URL.canParse(words)) return { problem: 'must be a URL such as https://example.org' };
  if (field.format === 'date' && !/^\d{4}-\d{2}-\d{2}$/.test(words))
    return { problem: 'must be a date such as 2026-01-31' };
  return { value: words };
}

function number(
  { type, minimum, maximum }: Schema,
  words: string,
): { readonly value?: unknown; readonly problem?: string } {
  const value = Number(words);
  if (!Number.isFinite(value) || (type === 'integer' && !Number.isInteger(value))) {
    return { problem: `must be ${type === 'integer' ? 'a whole number' : 'a number'}` };
  }
  if (value < (minimum ?? value)) return { problem: `must be at least ${minimum}` };
  if (value > (maximum ?? value)) return { problem: `must be at most ${maximum}` };
  return { value };
}
