// Prepares untrusted values for the log: no secrets, no clipboard contents, no long texts.

import { hash } from 'node:crypto';
import { compileGlobs, type Glob } from '../../common/glob.ts';
import { canonicalJson } from '../../schema/index.ts';
import { createRedactor } from '../redact.ts';
import type { AuditOptions, FieldRule } from './contract.ts';

/** Enough to understand a call, too little to copy a document. */
const maxTextChars = 256;
/** How far beyond the cut secrets are searched: searching a whole long text would cost more than the call. */
const lookAheadChars = 128;
const maxValues = 200;
const maxDepth = 8;

/** The arguments of any clipboard tool may be a password that was just copied. */
const clipboardRules: readonly FieldRule[] = [{ tools: ['*clipboard*', '*Clipboard*', '*clip_*'], hide: ['*'] }];

/** Encodes untrusted values for the log. */
export interface Redaction {
  /** The arguments of a tool; undefined if they must not be written. */
  arguments(tool: string, args: unknown): unknown;
  /** Any other value. */
  value(value: unknown): unknown;
  /** A short text, as JSON in ASCII. */
  text(text: string): string;
}

export function createRedaction(
  options: Pick<AuditOptions, 'arguments' | 'fields' | 'secretKeys' | 'secretPatterns'>,
): Redaction {
  const redactor = createRedactor({
    keys: options.secretKeys ?? [],
    patterns: options.secretPatterns ?? [],
    maxTextChars,
    lookAheadChars,
    ellipsis: '...',
    maxValues,
    maxDepth,
  });
  const hiddenOf = compileFields([...clipboardRules, ...(options.fields ?? [])]);
  const mode = options.arguments ?? 'redacted';
  const texts = new Map<string, string>();

  return {
    arguments(tool, args) {
      if (mode === 'none' || args === undefined) return undefined;
      if (mode === 'digest') return `sha256:${hash('sha256', canonicalJson(args), 'hex')}`;
      const hidden = hiddenOf(tool);
      return redactor.redact(hidden === undefined ? args : hideFields(args, hidden));
    },
    value: redactor.redact,
    text(text) {
      let redacted = texts.get(text);
      if (redacted === undefined) {
        redacted = toAscii(redactor.redactText(text));
        // The same few names repeat; names invented by callers must not fill the memory.
        if (text.length <= maxCachedChars) {
          if (texts.size >= maxCached) texts.clear();
          texts.set(text, redacted);
        }
      }
      return redacted;
    },
  };
}

const maxCached = 1000;
const maxCachedChars = 128;

/** Characters other than printable ASCII. */
const nonAscii = /[^ -~]/;
const everyNonAscii = /[^ -~]/g;

/**
 * JSON with everything beyond ASCII escaped: the file has no look-alike letters, no characters that change the writing
 * direction, and no terminal commands.
 */
export function toAscii(value: unknown): string {
  const json = JSON.stringify(value);
  if (!nonAscii.test(json)) return json;
  return json.replace(everyNonAscii, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
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
    if (tool.length <= maxCachedChars && known.size < maxCached) known.set(tool, hidden);
    return hidden;
  };
}

/** A copy in which hidden fields only show their size. */
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
