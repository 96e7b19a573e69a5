// Values that are not in a configuration file: the inputs of a VS Code file, which "${input:id}" stands for, and secrets. They
// come from the environment, from a file, from what the user has stored, or from the user at the terminal.

import { readFileSync } from 'node:fs';
import { decodeText } from '../../../common/decode-text.ts';
import { reasonText } from '../../../common/errno-text.ts';
import { isObject } from '../../../protocol/json-rpc.ts';
import type { StoredValues } from './stored-values.ts';

/** An input as VS Code defines it under "inputs". */
export interface InputDefinition {
  readonly id: string;
  /** `command`: only an extension of VS Code can find the value. */
  readonly type: 'promptString' | 'pickString' | 'command';
  readonly description?: string | undefined;
  readonly default?: string | undefined;
  /** Must not be seen while it is typed. */
  readonly password: boolean;
  /** What can be chosen. */
  readonly options: readonly { readonly label: string; readonly value: string }[];
}

/** Asks the user for a value; undefined if there is none. */
export type AskForInput = (input: InputDefinition) => Promise<string | undefined>;

export type FoundInput = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly why: string };

interface InputSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What "mooring gateway login" has stored. */
  readonly stored?: Pick<StoredValues, 'get'> | undefined;
  /** Absent: there is no terminal. */
  readonly ask?: AskForInput | undefined;
  /** Is called with what the user has entered. Default: it is kept in memory only. */
  readonly entered?: ((key: string, value: string) => Promise<void>) | undefined;
}

/** Finds values, each once: later reads of a file get the same ones. */
export class Inputs {
  readonly #sources: Omit<InputSources, 'ask'>;
  readonly #known = new Map<string, string>();
  #ask: AskForInput | undefined;

  constructor({ ask, ...sources }: InputSources) {
    this.#sources = sources;
    this.#ask = ask;
  }

  /** The value of an input of a file. `definition`: undefined if the file does not define it. */
  async find(file: string, id: string, definition: InputDefinition | undefined): Promise<FoundInput> {
    const key = JSON.stringify([file, id]);
    const found = await this.#find(key, variableOf('INPUT', id));
    if (found?.ok === false) return { ok: false, why: `needs the input ${id}, and ${found.why}` };
    if (found !== undefined) return found;
    const canAsk = definition !== undefined && definition.type !== 'command';
    const value = canAsk ? await this.#enter(key, definition) : undefined;
    return value === undefined ? { ok: false, why: this.#missing(id, definition) } : { ok: true, value };
  }

  /** The value of `{ "secret": "name" }`: the same in all files. */
  async findSecret(id: string): Promise<FoundInput> {
    const key = JSON.stringify([id]);
    const variable = variableOf('SECRET', id);
    const found = await this.#find(key, variable);
    if (found?.ok === false) return { ok: false, why: `needs the secret ${id}, and ${found.why}` };
    if (found !== undefined) return found;
    const description = `Secret ${id}`;
    const value = await this.#enter(key, { id, type: 'promptString', description, password: true, options: [] });
    if (value !== undefined && value !== '') return { ok: true, value };
    const why =
      this.#ask === undefined ? `there is no terminal to ask for it. ${howToSet(variable)}` : 'it was not entered';
    return { ok: false, why: `needs the secret ${id}, and ${why}` };
  }

  /** Undefined: there is none yet. */
  async #find(key: string, variable: string): Promise<FoundInput | undefined> {
    try {
      const value = this.#known.get(key) ?? this.#fromEnvironment(variable) ?? (await this.#sources.stored?.get(key));
      return value === undefined ? undefined : { ok: true, value };
    } catch (error) {
      return { ok: false, why: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Asks the user, or takes the default if there is no terminal. */
  async #enter(key: string, definition: InputDefinition): Promise<string | undefined> {
    if (this.#ask === undefined) return definition.default;
    const value = await this.#ask(definition);
    if (value === undefined) return undefined;
    this.#known.set(key, value);
    if (value !== '') await this.#sources.entered?.(key, value);
    return value;
  }

  /** From now on the server uses the terminal: inputs are not asked for when a file is read again. */
  stopAsking(): void {
    this.#ask = undefined;
  }

  #fromEnvironment(name: string): string | undefined {
    const { env } = this.#sources;
    const file = env[`${name}_FILE`];
    if (env[name] !== undefined || file === undefined) return env[name];
    try {
      return decodeText(readFileSync(file)).replace(/\r?\n$/, '');
    } catch (error) {
      throw new Error(`${name}_FILE: ${file} cannot be read: ${reasonText(error, 'file')}`);
    }
  }

  #missing(id: string, definition: InputDefinition | undefined): string {
    const what = definition?.description === undefined ? id : `${id} (${definition.description})`;
    const set = howToSet(variableOf('INPUT', id));
    if (definition === undefined) return `needs the input ${id}, which is not defined under "inputs". ${set}`;
    if (definition.type === 'command') return `needs the input ${what}, which only VS Code can find. ${set}`;
    if (this.#ask === undefined) return `needs the input ${what}, and there is no terminal to ask for it. ${set}`;
    return `needs the input ${what}, and it was not entered`;
  }
}

function howToSet(variable: string): string {
  return `Enter it once at a terminal with "mooring gateway login --config FILE", or set the environment variable ${variable}, or ${variable}_FILE to a file that contains it`;
}

/** The environment variable of a value: the input `api-key` is in MOORING_INPUT_API_KEY. */
function variableOf(kind: 'INPUT' | 'SECRET', id: string): string {
  return `MOORING_${kind}_${id.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`;
}

/** The environment variable that has the value of an input. */
export function variableOfInput(id: string): string {
  return variableOf('INPUT', id);
}

/** The definitions as they are written. */
export function writtenInputs(data: unknown): readonly unknown[] {
  if (!isObject(data)) return [];
  const written = data['inputs'] ?? (isObject(data['mcp']) ? data['mcp']['inputs'] : undefined);
  return Array.isArray(written) ? written : [];
}

/** The definitions in a file: under "inputs", or under "mcp" in the settings of VS Code. What is not valid is left out. */
export function inputsIn(data: unknown): ReadonlyMap<string, InputDefinition> {
  const found = new Map<string, InputDefinition>();
  for (const each of writtenInputs(data)) {
    if (!isObject(each) || typeof each['id'] !== 'string') continue;
    const { id, type, description, options } = each;
    found.set(id, {
      id,
      type: type === 'pickString' || type === 'command' ? type : 'promptString',
      description: typeof description === 'string' ? description : undefined,
      default: typeof each['default'] === 'string' ? each['default'] : undefined,
      password: each['password'] === true,
      options: (Array.isArray(options) ? options : []).flatMap(optionOf),
    });
  }
  return found;
}

function optionOf(written: unknown): InputDefinition['options'] {
  if (typeof written === 'string') return [{ label: written, value: written }];
  if (!isObject(written) || typeof written['value'] !== 'string') return [];
  const { value, label } = written;
  return [{ value, label: typeof label === 'string' ? label : value }];
}

const reference = /\$\{input:([^}]*)\}/g;

/** The ids of the inputs that a text needs. */
export function inputsNeededBy(text: string): string[] {
  return [...text.matchAll(reference)].map(([, id]) => id as string);
}

/** Puts values in the place of their references. Those without a value stay. */
export function replaceInputs(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(reference, (all, id: string) => values.get(id) ?? all);
}
