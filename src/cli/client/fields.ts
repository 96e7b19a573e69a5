// One field of a form: the prompt for it, and the checks of the answer.

import { forTerminal, lineForTerminal } from '../../app/untrusted-text.ts';
import { styleFor } from '../ui/style.ts';
import { choicesOf, typeText } from './schema-summary.ts';
import type { FormSchema } from './types.ts';

const style = styleFor(process.stderr);

/** Prints a prompt and returns the line that was typed. */
export type ReadLine = (question: string) => Promise<string>;

/** Prompts until the answer is valid. Undefined: the user declined. A result without a value: the field is omitted. */
export async function promptForField(
  name: string,
  field: FormSchema,
  required: boolean,
  ask: ReadLine,
  say: (text: string) => void,
): Promise<{ readonly value: unknown } | undefined> {
  const choices = choicesOf(field) ?? (field.type === 'array' ? choicesOf(field.items ?? {}) : undefined);
  const title = lineForTerminal(field.title ?? name);
  if (field.description !== undefined) say(`${style.faint(forTerminal(field.description))}\n`);
  choices?.forEach(({ title: each }, i) => {
    say(`  ${style.name(String(i + 1))} ${lineForTerminal(each)}\n`);
  });
  const kind =
    field.type === 'boolean' ? 'y/n' : choices === undefined ? typeText(field) : several(field, choices.length);
  const preset = field.default === undefined ? '' : ` [${lineForTerminal(shown(field.default))}]`;
  const marks = style.faint(` (${kind}${required ? '' : ', optional'})${preset}`);
  for (;;) {
    const text = (await ask(`${style.strong(title)}${marks} `)).trim();
    if (text === '!') return undefined;
    if (text === '') {
      if (field.default !== undefined) return { value: field.default };
      if (!required) return { value: undefined };
      say(`${style.warn('This field is required. Type "!" to decline the whole form.')}\n`);
      continue;
    }
    const { value, problem } = convertAnswer(field, text);
    if (problem === undefined) return { value };
    say(`${style.warn(`${title} ${problem}`)}\n`);
  }
}

/** Choices that an error names. */
const maxNamed = 10;

const several = (field: FormSchema, count: number): string =>
  field.type === 'array' ? `numbers, as in 1,${count}` : `1–${count}`;

function shown(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'y' : 'n';
  return Array.isArray(value) ? value.join(',') : String(value);
}

/** Flags of scripts name a choice, prompts show its number; both are accepted. */
function choiceProblem(choices: NonNullable<ReturnType<typeof choicesOf>>): string {
  const values = choices.map(({ value }) => lineForTerminal(String(value)));
  const named = values.length > maxNamed ? [...values.slice(0, maxNamed), '…'] : values;
  return `must be one of ${named.join(', ')}, or its number from 1 to ${choices.length}`;
}

/** Converts an answer to the field's type; `problem` says why it cannot. */
export function convertAnswer(
  field: FormSchema,
  text: string,
): { readonly value?: unknown; readonly problem?: string } {
  if (field.type === 'array') {
    const items = text.split(',').map((each) => convertAnswer(field.items ?? {}, each.trim()));
    const wrong = items.find(({ problem }) => problem !== undefined);
    if (wrong !== undefined) return wrong;
    if (items.length < (field.minItems ?? 0)) return { problem: `needs at least ${field.minItems} choices` };
    if (items.length > (field.maxItems ?? items.length)) return { problem: `takes at most ${field.maxItems} choices` };
    return { value: items.map(({ value }) => value) };
  }
  const choices = choicesOf(field);
  if (choices !== undefined) {
    const byWord = choices.find(({ value, title }) => String(value) === text || title === text);
    const chosen = byWord ?? (/^\d+$/.test(text) ? choices[Number(text) - 1] : undefined);
    return chosen === undefined ? { problem: choiceProblem(choices) } : { value: chosen.value };
  }
  if (field.type === 'boolean') {
    if (/^(y|yes|true|1)$/i.test(text)) return { value: true };
    return /^(n|no|false|0)$/i.test(text) ? { value: false } : { problem: 'must be y (yes) or n (no)' };
  }
  if (field.type === 'number' || field.type === 'integer') return number(field, text);
  if (text.length < (field.minLength ?? 0)) return { problem: `needs at least ${field.minLength} characters` };
  if (text.length > (field.maxLength ?? text.length)) return { problem: `takes at most ${field.maxLength} characters` };
  if (field.format === 'email' && !/^[^\s@]+@[^\s@]+$/.test(text)) return { problem: 'must be an email address' };
  if (field.format === 'uri' && !URL.canParse(text)) return { problem: 'must be a URL such as https://example.org' };
  if (field.format === 'date' && !isDate(text)) return { problem: 'must be a date such as 2026-01-31' };
  if (field.format === 'date-time' && !isDateTime(text))
    return { problem: 'must be a date and time such as 2026-01-31T09:30:00Z' };
  return { value: text };
}

/** `Date.parse` accepts the 31st of February. */
const isDate = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00Z`).getUTCDate() === Number(text.slice(8));

const isDateTime = (text: string): boolean =>
  isDate(text.slice(0, 10)) &&
  /^.{10}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i.test(text) &&
  !Number.isNaN(Date.parse(text));

/** A value of a field as it is written on the command line, where its type does not say enough. */
export function exampleAnswer(field: FormSchema): string | undefined {
  const choices = choicesOf(field);
  if (choices !== undefined) return String(choices[0]?.value);
  if (field.type === 'array') {
    const { minItems = 0, maxItems = 2 } = field;
    const picked = choicesOf(field.items ?? {})?.slice(0, Math.max(minItems, Math.min(maxItems, 2)));
    return picked?.map(({ value }) => String(value)).join(',');
  }
  if (field.type === 'boolean') return 'yes';
  if (field.type === 'number') return String(field.minimum ?? field.maximum ?? 1);
  if (field.type === 'integer') return String(Math.ceil(field.minimum ?? Math.floor(field.maximum ?? 1)));
  return field.format === undefined ? undefined : examples[field.format];
}

const examples: Readonly<Record<string, string>> = {
  email: 'ada@example.org',
  uri: 'https://example.org',
  date: '2026-01-31',
  'date-time': '2026-01-31T09:30:00Z',
};

function number(
  { type, minimum, maximum }: FormSchema,
  text: string,
): { readonly value?: unknown; readonly problem?: string } {
  const value = Number(text);
  if (!Number.isFinite(value) || (type === 'integer' && !Number.isInteger(value))) {
    return { problem: `must be ${type === 'integer' ? 'a whole number' : 'a number'}` };
  }
  if (value < (minimum ?? value)) return { problem: `must be at least ${minimum}` };
  if (value > (maximum ?? value)) return { problem: `must be at most ${maximum}` };
  return { value };
}
