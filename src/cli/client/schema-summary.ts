// Short descriptions of JSON Schemas, for tables: "city: string, days?: integer 1…14".

import { lineForTerminal } from '../../app/untrusted-text.ts';
import type { FormSchema } from './types.ts';

const maxChoices = 5;

/** The arguments of a tool in one line. */
export function signature(schema: FormSchema): string {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {})
    .map(([name, each]) => `${lineForTerminal(name, 64)}${required.has(name) ? '' : '?'}: ${typeText(each)}`)
    .join(', ');
}

/** The type of a value. */
export function typeText(schema: FormSchema): string {
  const choices = choicesOf(schema);
  if (choices !== undefined) {
    const shown = choices.slice(0, maxChoices).map(({ value }) => lineForTerminal(JSON.stringify(value) ?? '', 40));
    return shown.join('|') + (choices.length > maxChoices ? '|…' : '');
  }
  const type = typeof schema.type === 'string' ? schema.type : (schema.type?.join('|') ?? '');
  if (type === 'array') return schema.items === undefined ? 'array' : `${typeText(schema.items)}[]`;
  if (type === '' && (schema.anyOf ?? schema.oneOf) !== undefined) {
    return [...new Set((schema.anyOf ?? schema.oneOf)?.map(typeText))].join('|');
  }
  if (type === 'number' || type === 'integer') return `${type}${rangeText(schema)}`;
  return type === '' ? 'any' : type;
}

function rangeText({ minimum, maximum }: FormSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` ${minimum}…${maximum}`;
  if (minimum !== undefined) return ` ≥ ${minimum}`;
  return maximum === undefined ? '' : ` ≤ ${maximum}`;
}

/** The allowed values with their titles; undefined if the schema is not a choice. */
export function choicesOf(
  schema: FormSchema,
): readonly { readonly value: unknown; readonly title: string }[] | undefined {
  if (schema.enum !== undefined) {
    return schema.enum.map((value, i) => ({ value, title: schema.enumNames?.[i] ?? String(value) }));
  }
  const options = schema.oneOf ?? schema.anyOf;
  if (options !== undefined && options.length > 0 && options.every((each) => each.const !== undefined)) {
    return options.map((each) => ({ value: each.const, title: each.title ?? String(each.const) }));
  }
  return undefined;
}
