// Values that are not in a configuration file: the inputs of a VS Code file, which "${input:id}" stands for, and secrets. They
// come from the environment, from a file, or from the user at the terminal, and are kept in memory only.

import { readFileSync } from 'node:fs';
import { reasonText } from '../../protocol/errno-text.ts';
import { isObject } from '../../protocol/json-rpc.ts';

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
  /** Absent: there is no terminal. */
  readonly ask?: AskForInput | undefined;
}

/** Finds values, each once: later reads of a file get the same ones. */
export class Inputs {
  readonly #env: InputSources['env'];
  readonly #known = new Map<string, string>();
  #ask: AskForInput | undefined;

  constructor({ env, ask }: InputSources) {
    this.#env = env;
    this.#ask = ask;
  }

  /** The value of an input of a file. `definition`: undefined if the file does not define it. */
  async find(file: string, id: string, definition: InputDefinition | undefined): Promise<FoundInput> {
    const key = JSON.stringify([file, id]);
    const given = this.#known.get(key) ?? this.#fromEnvironment(variableOf('INPUT', id), `the input ${id}`);
    if (typeof given === 'object') return given;
    let value = given;
    if (value === undefined && definition !== undefined && definition.type !== 'command') {
      value = this.#ask === undefined ? definition.default : await this.#ask(definition);
    }
    if (value === undefined) return { ok: false, why: this.#missing(id, definition) };
    this.#known.set(key, value);
    return { ok: true, value };
  }

  /** The value of `{ "secret": "name" }`: the same in all files. */
  async findSecret(id: string): Promise<FoundInput> {
    const key = JSON.stringify([id]);
    const variable = variableOf('SECRET', id);
    const given = this.#known.get(key) ?? this.#fromEnvironment(variable, `the secret ${id}`);
    if (typeof given === 'object') return given;
    const asked: InputDefinition = {
      id,
      type: 'promptString',
      description: `Secret ${id}`,
      password: true,
      options: [],
    };
    const value = given ?? (await this.#ask?.(asked));
    if (value === undefined || value === '') {
      const why = this.#ask === undefined ? 'there is no terminal to ask for it' : 'it was not entered';
      return { ok: false, why: `needs the secret ${id}, and ${why}. ${howToSet(variable)}` };
    }
    this.#known.set(key, value);
    return { ok: true, value };
  }

  /** From now on the server uses the terminal: inputs are not asked for when a file is read again. */
  stopAsking(): void {
    this.#ask = undefined;
  }

  #fromEnvironment(name: string, what: string): string | undefined | FoundInput {
    const file = this.#env[`${name}_FILE`];
    if (this.#env[name] !== undefined || file === undefined) return this.#env[name];
    try {
      return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      const reason = reasonText(error, 'file');
      return { ok: false, why: `needs ${what}, and ${name}_FILE: ${file} cannot be read: ${reason}` };
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
  return `Set the environment variable ${variable}, or ${variable}_FILE to a file that contains it`;
}

/** The environment variable of a value: the input `api-key` is in MOORING_INPUT_API_KEY. */
function variableOf(kind: 'INPUT' | 'SECRET', id: string): string {
  return `MOORING_${kind}_${id.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`;
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
