// How the arguments of a call are written: without secrets, never with what a clipboard holds, and never at length.
// Most are spelled in one go; where names say what is secret, a careful copy comes first.

import { hash } from 'node:crypto';
import { canonicalJson } from '../../schema/index.ts';
import { compileGlobs, type Glob } from '../glob.ts';
import { createRedactor, nameKeys, type Redactor } from '../redact.ts';
import type { AuditOptions, FieldRule } from './contract.ts';

/** Enough to understand a call, too little to copy a document. */
const maxTextChars = 256;
/** How far beyond the cut is looked: looking for secrets in all of a long text would cost more than the call did. */
const lookAheadChars = 128;
const maxValues = 200;
const maxDepth = 8;
/** Nothing shorter looks like a secret by itself. */
const shortestSecret = 5;

/** Whatever a clipboard tool is called, what it is given may be a password that somebody just copied. */
const clipboardRules: readonly FieldRule[] = [{ tools: ['*clipboard*', '*Clipboard*', '*clip_*'], hide: ['*'] }];

/** Spells values for the log, as JSON text in ASCII. */
export interface Spelling {
  /** The arguments of a tool; undefined when there is nothing to write. */
  args(tool: string, args: unknown): string | undefined;
  /** Any other value. */
  value(value: unknown): string;
  /** A short text from outside. */
  text(text: string): string;
}

export function createSpelling(
  options: Pick<AuditOptions, 'arguments' | 'fields' | 'secretKeys' | 'secretPatterns'>,
): Spelling {
  const redactor = createRedactor({
    keys: options.secretKeys ?? [],
    patterns: options.secretPatterns ?? [],
    maxTextChars,
    lookAheadChars,
    maxValues,
    maxDepth,
  });
  // What somebody added himself may be as short as he likes.
  const spellClean = createCleanSpelling(redactor, options.secretPatterns?.length ? 1 : shortestSecret);
  const hiddenOf = compileFields([...clipboardRules, ...(options.fields ?? [])]);
  const mode = options.arguments ?? 'redacted';

  const spell = (value: unknown): string => spellClean(value) ?? spellAscii(redactor.redact(value)) ?? 'null';

  const texts = new Map<string, string>();
  return {
    args(tool, args) {
      if (mode === 'none' || args === undefined) return undefined;
      if (mode === 'digest') return `"sha256:${hash('sha256', canonicalJson(args), 'hex')}"`;
      const hidden = hiddenOf(tool);
      return spell(hidden === undefined ? args : hideFields(args, hidden));
    },
    value: spell,
    text(text) {
      let spelled = texts.get(text);
      if (spelled === undefined) {
        spelled = spellAscii(redactor.redactText(text)) as string;
        // The same few names come again and again; a stranger's made-up ones must not fill memory.
        if (text.length <= 128) {
          if (texts.size >= 1000) texts.clear();
          texts.set(text, spelled);
        }
      }
      return spelled;
    },
  };
}

/**
 * Spells a JSON value without secret names in it, neither deep nor many; undefined for any other. Most arguments are
 * such, and looking at them and spelling them in one go takes half the time of one after the other.
 */
function createCleanSpelling(redactor: Redactor, shortest: number): (value: unknown) => string | undefined {
  /** Names that may be shown, with their colon; an empty text stands for those that may not. */
  const keys = new Map<string, string>();
  const spellKey = (key: string): string => {
    let spelled = keys.get(key);
    if (spelled === undefined) {
      const isSecret = nameKeys.has(key) || redactor.isSecretKey(key) || redactor.redactText(key) !== key;
      spelled = isSecret ? '' : `${spellAscii(key)}:`;
      if (key.length <= 64 && keys.size < 1000) keys.set(key, spelled);
    }
    return spelled;
  };

  let left = 0;
  const spell = (value: unknown, depth: number): string | undefined => {
    if (left-- <= 0) return undefined;
    switch (typeof value) {
      case 'string':
        return spellText(value);
      case 'number':
        return Number.isFinite(value) ? `${value}` : 'null';
      case 'boolean':
        return value ? 'true' : 'false';
      case 'object':
        if (value === null) return 'null';
        if (depth >= maxDepth) return undefined;
        return Array.isArray(value) ? spellList(value, depth) : spellRecord(value, depth);
      default:
        return undefined;
    }
  };
  const spellText = (text: string): string => {
    if (text.length >= shortest) {
      const shown = redactor.redactText(text);
      // Spelled anew in any case: a piece of a text would keep all of it.
      if (shown !== text) return spellAscii(shown) as string;
    }
    return isPlain(text) ? `"${text}"` : (spellAscii(text) as string);
  };
  const spellList = (items: readonly unknown[], depth: number): string | undefined => {
    let line = '';
    for (const item of items) {
      // Names and values side by side in a list are for the careful copy to find.
      const spelled = typeof item === 'string' ? undefined : spell(item, depth + 1);
      if (spelled === undefined) return undefined;
      line += line === '' ? spelled : `,${spelled}`;
    }
    return `[${line}]`;
  };
  const spellRecord = (record: object, depth: number): string | undefined => {
    const parent: unknown = Object.getPrototypeOf(record);
    if (parent !== Object.prototype && parent !== null) return undefined;
    let line = '';
    for (const key of Object.keys(record)) {
      const name = spellKey(key);
      const item = name === '' ? undefined : spell((record as Record<string, unknown>)[key], depth + 1);
      if (item === undefined) return undefined;
      line += line === '' ? name + item : `,${name}${item}`;
    }
    return `{${line}}`;
  };
  return (value) => {
    left = maxValues;
    return spell(value, 0);
  };
}

/** Texts that are spelled as they are. */
function isPlain(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false;
  }
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
