// How the arguments of a call are written: without secrets, never with what a clipboard holds, and never at length.
// Values without anything to hide are spelled by the platform alone; the careful copy is for the others.

import { hash } from 'node:crypto';
import { canonicalJson } from '../../schema/index.ts';
import { compileGlobs, type Glob } from '../glob.ts';
import { createRedactor, type Redactor } from '../redact.ts';
import type { AuditOptions, FieldRule } from './contract.ts';

/** Enough to understand a call, too little to copy a document. */
const maxTextChars = 256;
const maxValues = 200;
const maxDepth = 8;
/** Nothing shorter looks like a secret by itself. */
const shortestSecret = 5;

/** Whatever a clipboard tool is called, what it is given may be a password that somebody just copied. */
const clipboardRules: readonly FieldRule[] = [{ tools: ['*clipboard*', '*Clipboard*', '*clip_*'], hide: ['*'] }];

/** Spells values for the log, as JSON text. */
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
    maxTextChars: maxTextChars * 2,
    maxValues,
    maxDepth,
  });
  const shorten = createShortening(redactor);
  const isClean = createCleanTest(redactor);
  const hiddenOf = compileFields([...clipboardRules, ...(options.fields ?? [])]);
  const mode = options.arguments ?? 'redacted';

  const spell = (value: unknown): string =>
    JSON.stringify(isClean(value) ? value : redactor.redact(shorten(value, 0))) ?? 'null';

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
        spelled = JSON.stringify(shorten(redactor.redactText(text.slice(0, maxTextChars + margin)), 0));
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

/** How far beyond a cut is looked, so that a secret is seen whole. */
const margin = 256;

/**
 * A copy whose long texts are their beginnings: looking for secrets in the rest would cost more than the call did. What
 * is kept of a text ends after a word, which may have been the first half of a secret.
 */
function createShortening(redactor: Redactor): (value: unknown, depth: number) => unknown {
  const shorten = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') {
      if (value.length <= maxTextChars) return value;
      const head = redactor.redactText(value.slice(0, maxTextChars + margin)).slice(0, maxTextChars);
      return `${head.slice(0, endOfWords(head))}… [${value.length} characters]`;
    }
    if (typeof value !== 'object' || value === null || depth >= maxDepth) return value;
    if (Array.isArray(value)) {
      const items = value.slice(0, maxValues).map((item) => shorten(item, depth + 1));
      return value.length > maxValues ? [...items, `[${value.length - maxValues} more]`] : items;
    }
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, maxValues)
        .map(([key, item]) => [key, shorten(item, depth + 1)]),
    );
  };
  return shorten;
}

/** Where the last word of a text begins. */
function endOfWords(text: string): number {
  let end = text.length;
  while (end > 0 && /[\w+/=.~-]/.test(text[end - 1] as string)) end--;
  return end;
}

/** Whether nothing of a JSON value is secret, long, deep or many. */
function createCleanTest(redactor: Redactor): (value: unknown) => boolean {
  const keys = new Map<string, boolean>();
  const isSecret = (key: string): boolean => {
    let secret = keys.get(key);
    if (secret === undefined) {
      secret = redactor.isSecretKey(key) || redactor.redactText(key) !== key;
      if (key.length <= 64 && keys.size < 1000) keys.set(key, secret);
    }
    return secret;
  };
  let left = 0;
  const clean = (value: unknown, depth: number): boolean => {
    if (left-- <= 0) return false;
    if (typeof value === 'number' || typeof value === 'boolean') return true;
    if (typeof value === 'string') {
      if (value.length < shortestSecret) return true;
      return value.length <= maxTextChars && redactor.redactText(value) === value;
    }
    if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
    if (depth >= maxDepth) return false;
    // Names and values side by side in a list are for the careful copy to find.
    if (Array.isArray(value)) return value.every((item) => typeof item !== 'string' && clean(item, depth + 1));
    for (const key of Object.keys(value)) {
      if (isSecret(key) || key === 'name' || key === 'key' || key === 'header') return false;
      if (!clean((value as Record<string, unknown>)[key], depth + 1)) return false;
    }
    return true;
  };
  return (value) => {
    left = maxValues;
    return clean(value, 0);
  };
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
