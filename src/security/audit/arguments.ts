// How the arguments of a call are written: without secrets, never with what a clipboard holds, and never at length.
// Most are spelled in one go; where names say what is secret, a careful copy comes first.

import { hash } from 'node:crypto';
import { canonicalJson } from '../../schema/index.ts';
import { compileGlobs, type Glob } from '../glob.ts';
import { createRedactor, nameKeys, type Redactor } from '../redact.ts';
import { type Batch, bytesOf } from './batch.ts';
import { closeList, closeRecord, comma, openList, openRecord } from './codes.ts';
import type { AuditOptions, FieldRule } from './contract.ts';

/** Enough to understand a call, too little to copy a document. */
const maxTextChars = 256;
/** How far beyond the cut is looked: looking for secrets in all of a long text would cost more than the call did. */
const lookAheadChars = 128;
const maxValues = 200;
const maxDepth = 8;
const bulkyChars = 1024;
/** Nothing shorter looks like a secret by itself. */
const shortestSecret = 5;

/** Whatever a clipboard tool is called, what it is given may be a password that somebody just copied. */
const clipboardRules: readonly FieldRule[] = [{ tools: ['*clipboard*', '*Clipboard*', '*clip_*'], hide: ['*'] }];

/** Spells values for the log, as JSON text in ASCII. */
export interface Spelling {
  /** Whether arguments are written at all. */
  readonly hasArgs: boolean;
  /** The arguments of a tool, as a field; nothing when they are not to be written. */
  args(into: Batch, tool: string, args: unknown): void;
  /** Any other value. */
  value(into: Batch, value: unknown): void;
  /** A short text from outside. */
  text(text: string): Uint8Array;
  /** Whether there was something large since this was asked last. */
  wasBulky(): boolean;
}

const field = bytesOf(',"arguments":');

export function createSpelling(
  options: Pick<AuditOptions, 'arguments' | 'fields' | 'secretKeys' | 'secretPatterns'>,
): Spelling {
  const redactor = createRedactor({
    keys: options.secretKeys ?? [],
    patterns: options.secretPatterns ?? [],
    maxTextChars,
    lookAheadChars,
    ellipsis: '...',
    maxValues,
    maxDepth,
  });
  // What somebody added himself may be as short as he likes.
  const clean = new CleanSpelling(redactor, options.secretPatterns?.length ? 1 : shortestSecret);
  const hiddenOf = compileFields([...clipboardRules, ...(options.fields ?? [])]);
  const mode = options.arguments ?? 'redacted';

  const value = (into: Batch, value: unknown): void => {
    const begin = into.end;
    if (clean.spell(into, value)) return;
    clean.sawBulk = true;
    into.cut(begin);
    into.ascii(spellAscii(redactor.redact(value)) ?? 'null');
  };

  const texts = new Map<string, Uint8Array>();
  return {
    hasArgs: mode !== 'none',
    args(into, tool, args) {
      if (mode === 'none' || args === undefined) return;
      into.bytes(field);
      if (mode === 'digest') {
        const json = canonicalJson(args);
        if (json.length > bulkyChars) clean.sawBulk = true;
        return into.ascii(`"sha256:${hash('sha256', json, 'hex')}"`);
      }
      const hidden = hiddenOf(tool);
      // What is not to be shown is not to be kept for long either.
      if (hidden !== undefined) clean.sawBulk = true;
      value(into, hidden === undefined ? args : hideFields(args, hidden));
    },
    value,
    text(text) {
      let spelled = texts.get(text);
      if (spelled === undefined) {
        spelled = bytesOf(spellAscii(redactor.redactText(text)) as string);
        // The same few names come again and again; a stranger's made-up ones must not fill memory.
        if (text.length <= 128) {
          if (texts.size >= 1000) texts.clear();
          texts.set(text, spelled);
        }
      }
      return spelled;
    },
    wasBulky() {
      const { sawBulk } = clean;
      clean.sawBulk = false;
      return sawBulk;
    },
  };
}

/**
 * Spells a JSON value without secret names in it, neither deep nor many. Most arguments are such, and looking at them and
 * spelling them in one go takes half the time of one after the other. Of any other value something may have been written
 * before it is found out.
 */
class CleanSpelling {
  /** Nobody wants to keep what is this large, or to look at it twice. */
  sawBulk = false;
  readonly #redactor: Redactor;
  readonly #shortest: number;
  /** Names that may be shown, with comma and colon; false stands for those that may not. */
  readonly #keys = new Map<string, Uint8Array | false>();
  /** The names of the value before, in their order: mostly the next one has the same. */
  readonly #lastKeys: Name[] = Array.from({ length: maxLastKeys }, () => ({ key: undefined, spelled: false }));
  #keyCount = 0;
  #left = 0;

  constructor(redactor: Redactor, shortest: number) {
    this.#redactor = redactor;
    this.#shortest = shortest;
  }

  /** False: it is not clean. */
  spell(into: Batch, value: unknown): boolean {
    this.#left = maxValues;
    this.#keyCount = 0;
    return this.#value(into, value, 0);
  }

  #value(into: Batch, value: unknown, depth: number): boolean {
    if (this.#left-- <= 0) return false;
    if (typeof value === 'string') return this.#text(into, value);
    if (typeof value === 'number') return this.#number(into, value);
    if (typeof value === 'boolean' || value === null) return word(into, value);
    if (typeof value !== 'object' || depth >= maxDepth) return false;
    return Array.isArray(value) ? this.#list(into, value, depth) : this.#record(into, value, depth);
  }

  #text(into: Batch, text: string): boolean {
    if (text.length > bulkyChars) this.sawBulk = true;
    const shown = text.length < this.#shortest ? text : this.#redactor.redactText(text);
    if (!into.quoted(shown)) into.ascii(spellAscii(shown) as string);
    return true;
  }

  #number(into: Batch, value: number): boolean {
    if (Number.isSafeInteger(value) && value > 0) into.digits(value);
    else into.ascii(Number.isFinite(value) ? `${value}` : 'null');
    return true;
  }

  #list(into: Batch, items: readonly unknown[], depth: number): boolean {
    into.byte(openList);
    for (let index = 0; index < items.length; index++) {
      if (index > 0) into.byte(comma);
      const item = items[index];
      // Names and values side by side in a list are for the careful copy to find.
      if (typeof item === 'string' || !this.#value(into, item, depth + 1)) return false;
    }
    into.byte(closeList);
    return true;
  }

  #record(into: Batch, record: object, depth: number): boolean {
    // Dates, maps and errors are not what their keys say.
    if (record.constructor !== Object) return false;
    const begin = into.end;
    for (const key in record) {
      const name = this.#key(key);
      if (name === false) return false;
      into.bytes(name);
      if (!this.#value(into, (record as Record<string, unknown>)[key], depth + 1)) return false;
    }
    // Every name came with a comma before it; the first one has none.
    if (into.end === begin) into.byte(openRecord);
    else into.replace(begin, openRecord);
    into.byte(closeRecord);
    return true;
  }

  #key(key: string): Uint8Array | false {
    const count = this.#keyCount++;
    if (count >= maxLastKeys || key.length > maxKeptKey) return this.#findKey(key);
    const last = this.#lastKeys[count] as Name;
    if (last.key !== key) {
      last.spelled = this.#findKey(key);
      last.key = key;
    }
    return last.spelled;
  }

  #findKey(key: string): Uint8Array | false {
    let spelled = this.#keys.get(key);
    if (spelled === undefined) {
      const redactor = this.#redactor;
      const isSecret = nameKeys.has(key) || redactor.isSecretKey(key) || redactor.redactText(key) !== key;
      spelled = isSecret ? false : bytesOf(`,${spellAscii(key)}:`);
      if (key.length <= maxKeptKey && this.#keys.size < 1000) this.#keys.set(key, spelled);
    }
    return spelled;
  }
}

const maxLastKeys = 16;
const maxKeptKey = 64;

interface Name {
  key: string | undefined;
  spelled: Uint8Array | false;
}

const words = { null: bytesOf('null'), true: bytesOf('true'), false: bytesOf('false') };

function word(into: Batch, value: boolean | null): true {
  into.bytes(words[`${value}`]);
  return true;
}

/** What is neither a printable character of ASCII nor JSON's own. */
const notAscii = /[^ -~]/g;

/**
 * JSON with everything beyond ASCII spelled out: whoever looks at the file itself meets no letters that pass for others,
 * none that turn the direction of writing, and nothing a terminal obeys.
 */
function spellAscii(value: unknown): string | undefined {
  return JSON.stringify(value)?.replace(notAscii, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function compileFields(rules: readonly FieldRule[]): (tool: string) => ReadonlySet<string> | undefined {
  const compiled: readonly (readonly [Glob, readonly string[]])[] = rules.map(({ tools, hide }) => [
    compileGlobs(tools),
    hide,
  ]);
  const known = new Map<string, ReadonlySet<string> | undefined>();
  return (tool) => {
    if (known.has(tool)) return known.get(tool);
    const names = compiled.flatMap(([fits, hide]) => (fits(tool) ? hide : []));
    const hidden = names.length === 0 ? undefined : new Set(names);
    if (tool.length <= 128 && known.size < 1000) known.set(tool, hidden);
    return hidden;
  };
}

/** A copy in which hidden fields only say how much they held. */
function hideFields(value: unknown, hidden: ReadonlySet<string>, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth >= maxDepth) return depth >= maxDepth ? '[too deep]' : value;
  if (Array.isArray(value)) return value.slice(0, maxValues).map((item) => hideFields(item, hidden, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, maxValues)
      .map(([key, item]) => [
        key,
        hidden.has('*') || hidden.has(key) ? sizeOf(item) : hideFields(item, hidden, depth + 1),
      ]),
  );
}

function sizeOf(value: unknown): string {
  if (typeof value === 'string') return `[${value.length} characters]`;
  return Array.isArray(value) ? `[${value.length} items]` : `[${value === null ? 'null' : typeof value}]`;
}
