// What was entered into a form. From a value to the state of its fields and back; no DOM, so it can be tested without a browser.

import type { Field, FieldReader } from './field.ts';
import { type ExactJson, equalJson, formatJson, isNumberText, NumberText } from './json-text.ts';
import type { Schema } from './merge.ts';

export interface Item {
  readonly id: number;
  readonly state: FieldState;
}

export interface KeyedItem extends Item {
  readonly key: string;
}

/** The state of one field; undefined: nothing was entered. */
export type FieldState =
  | undefined
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'null' }
  | { readonly kind: 'option'; readonly index: number }
  | {
      readonly kind: 'object';
      readonly fields: ReadonlyMap<string, FieldState>;
      readonly entries: readonly KeyedItem[];
      /** Sent although nothing in it was entered. */
      readonly opened: boolean;
    }
  | { readonly kind: 'list'; readonly items: readonly Item[] }
  | { readonly kind: 'choice'; readonly index: number; readonly state: FieldState }
  /** A part that is edited as JSON: no form for it, or the value does not fit the form. */
  | { readonly kind: 'json'; readonly text: string };

/** Deeper fields stay empty: a schema that requires itself has no end. */
const maxDepth = 40;

let lastId = 0;
export const nextId = (): number => ++lastId;

export const emptyObject: FieldState = { kind: 'object', fields: new Map(), entries: [], opened: true };

/** Whether something was entered here. */
export function hasContent(state: FieldState): boolean {
  if (state?.kind !== 'object') return state !== undefined;
  return state.opened || state.entries.length > 0 || [...state.fields.values()].some(hasContent);
}

/** A part that is not JSON yet; its text is sent as a string, which the validator then rejects. */
function parsedOrText(text: string, parse: (text: string) => ExactJson): ExactJson {
  try {
    return parse(text);
  } catch {
    return text;
  }
}

export interface Reading {
  readonly reader: FieldReader;
  readonly parse: (text: string) => ExactJson;
}

/** The value of a field; undefined: it is not sent. */
export function valueFrom(
  schema: Schema,
  state: FieldState,
  required: boolean,
  reading: Reading,
  depth = 0,
): ExactJson | undefined {
  if (depth > maxDepth) return undefined;
  const field = reading.reader.read(schema);
  if (state === undefined || (state.kind === 'object' && !required && !hasContent(state))) {
    return required ? emptyValue(field, reading, depth) : undefined;
  }
  switch (state.kind) {
    case 'text':
      return state.text;
    case 'number':
      return new NumberText(state.text);
    case 'boolean':
      return state.value;
    case 'null':
      return null;
    case 'json':
      return state.text.trim() === '' ? undefined : parsedOrText(state.text, reading.parse);
    case 'option':
      return field.kind === 'enum' ? field.options[state.index]?.value : undefined;
    case 'choice': {
      const branch = field.kind === 'choice' ? field.branches[state.index] : undefined;
      return branch && valueFrom(branch.schema, state.state, true, reading, depth + 1);
    }
    case 'list':
      return state.items.map((item, index) => {
        const part = field.kind === 'list' ? (field.prefix[index] ?? field.items ?? {}) : {};
        return valueFrom(part, item.state, true, reading, depth + 1) ?? null;
      });
    case 'object': {
      const value = new Map<string, ExactJson>();
      const properties = field.kind === 'object' ? field.properties : [];
      for (const { name, schema: part, required: isRequired } of properties) {
        const found = valueFrom(part, state.fields.get(name), isRequired, reading, depth + 1);
        if (found !== undefined) value.set(name, found);
      }
      const part = (field.kind === 'object' ? field.entries : undefined) ?? {};
      for (const { key, state: entry } of state.entries) {
        value.set(key, valueFrom(part, entry, true, reading, depth + 1) ?? null);
      }
      return value;
    }
  }
}

/** The value of a required field without input: only what the form already shows. */
function emptyValue(field: Field, reading: Reading, depth: number): ExactJson | undefined {
  if (field.kind === 'boolean' && !field.nullable) return false;
  if (field.kind === 'null') return null;
  if (field.kind === 'enum' && field.options.length === 1) return field.options[0]?.value;
  if (field.kind === 'list' && field.prefix.length === 0 && !field.nullable) return [];
  if (field.kind !== 'object' || field.nullable) return undefined;
  const value = new Map<string, ExactJson>();
  for (const { name, schema, required } of field.properties) {
    const found = valueFrom(schema, undefined, required, reading, depth + 1);
    if (found !== undefined) value.set(name, found);
  }
  return value;
}

/** The state that shows a value. */
export function stateOf(schema: Schema, value: ExactJson | undefined, reading: Reading): FieldState {
  if (value === undefined) return undefined;
  const field = reading.reader.read(schema);
  return fitting(field, value, reading) ?? { kind: 'json', text: formatJson(value, true) };
}

/** The state if the value fits the kind of the field. */
function fitting(field: Field, value: ExactJson, reading: Reading): FieldState {
  if (value === null && (field.nullable || field.kind === 'null')) return { kind: 'null' };
  switch (field.kind) {
    case 'string':
      return typeof value === 'string' ? { kind: 'text', text: value } : undefined;
    case 'number':
      return value instanceof NumberText ? { kind: 'number', text: value.text } : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? { kind: 'boolean', value } : undefined;
    case 'enum': {
      const index = field.options.findIndex((option) => equalJson(option.value, value));
      return index < 0 ? undefined : { kind: 'option', index };
    }
    case 'list': {
      if (!Array.isArray(value)) return undefined;
      const schemaAt = (index: number): Schema => field.prefix[index] ?? field.items ?? {};
      const items = value.map((each: ExactJson, index) => ({
        id: nextId(),
        state: stateOf(schemaAt(index), each, reading),
      }));
      return { kind: 'list', items };
    }
    case 'object': {
      if (!(value instanceof Map)) return undefined;
      const fields = new Map<string, FieldState>();
      for (const { name, schema } of field.properties) {
        if (value.has(name)) fields.set(name, stateOf(schema, value.get(name), reading));
      }
      const known = new Set(field.properties.map(({ name }) => name));
      const entries = [...(value as ReadonlyMap<string, ExactJson>)]
        .filter(([key]) => !known.has(key))
        .map(([key, each]) => ({ id: nextId(), key, state: stateOf(field.entries ?? {}, each, reading) }));
      return { kind: 'object', fields, entries, opened: true };
    }
    case 'choice': {
      let best = { score: 0, index: -1 };
      for (const [index, branch] of field.branches.entries()) {
        const score = scoreOf(branch.schema, value, reading, 0);
        if (score > best.score) best = { score, index };
      }
      const branch = field.branches[best.index];
      return branch && { kind: 'choice', index: best.index, state: stateOf(branch.schema, value, reading) };
    }
    default:
      return undefined;
  }
}

/** Levels and items that are compared to find the branch of a value. */
const comparedDepth = 6;
const comparedItems = 20;

/** How well a value fits a schema: 0 not at all; more for each known property. */
function scoreOf(schema: Schema, value: ExactJson, reading: Reading, depth: number): number {
  if (depth > comparedDepth) return 1;
  const field = reading.reader.read(schema);
  if (value === null && field.nullable) return 1;
  switch (field.kind) {
    case 'object': {
      if (!(value instanceof Map)) return 0;
      let score = 1;
      for (const property of field.properties) {
        if (!value.has(property.name)) {
          if (property.required) return 0;
          continue;
        }
        const part = scoreOf(property.schema, value.get(property.name) as ExactJson, reading, depth + 1);
        if (part === 0) return 0;
        score += part;
      }
      const known = new Set(field.properties.map(({ name }) => name));
      const others = [...(value as ReadonlyMap<string, ExactJson>)].filter(([key]) => !known.has(key));
      if (others.length > 0 && !field.open) return 0;
      const entries = field.entries;
      if (entries === undefined) return score;
      return others.every(([, each]) => scoreOf(entries, each, reading, depth + 1) > 0) ? score : 0;
    }
    case 'list': {
      if (!Array.isArray(value) || (field.items === undefined && value.length > field.prefix.length)) return 0;
      const compared = value.slice(0, comparedItems);
      const fits = (each: ExactJson, index: number): boolean =>
        scoreOf(field.prefix[index] ?? field.items ?? {}, each, reading, depth + 1) > 0;
      return compared.every(fits) ? 1 : 0;
    }
    case 'choice':
      return Math.max(0, ...field.branches.map((branch) => scoreOf(branch.schema, value, reading, depth + 1)));
    case 'json':
      // Anything, but what has a form is better.
      return 0.5;
    case 'number':
      return value instanceof NumberText && (!field.integer || isInteger(value.text)) ? 1 : 0;
    default:
      return fitting(field, value, reading) === undefined ? 0 : 1;
  }
}

const isInteger = (text: string): boolean => isNumberText(text) && Number.isInteger(Number(text));

/** The state of a new list item, map entry or branch: what the form shows is what is sent. */
export function startState(schema: Schema, reader: FieldReader): FieldState {
  const field = reader.read(schema);
  switch (field.kind) {
    case 'string':
      return { kind: 'text', text: '' };
    case 'number':
      return { kind: 'number', text: '' };
    case 'boolean':
      return { kind: 'boolean', value: false };
    case 'null':
      return { kind: 'null' };
    case 'object':
      return emptyObject;
    case 'list':
      return { kind: 'list', items: field.prefix.map((part) => ({ id: nextId(), state: startState(part, reader) })) };
    case 'enum':
      return field.options.length === 1 ? { kind: 'option', index: 0 } : undefined;
    default:
      return undefined;
  }
}
