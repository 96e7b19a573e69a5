// Redacts what is logged, audited or shown: by the name of a value, and by the shape of secrets in plain text. Works on
// a bounded copy; never changes, and never trusts, its input.

import { assertKnownOptions } from '../common/known-options.ts';
import { mayHoldSecret, secretShapes } from './redact/shapes.ts';

/** What a redactor looks for, in addition to the built-in names and shapes. */
export interface RedactorOptions {
  /** Additional names whose values are secret; compared without case, `-`, `_`, `.` and spaces. */
  readonly keys?: readonly string[];
  /** Additional shapes of secrets in text. A missing global flag is added. */
  readonly patterns?: readonly RegExp[];
  /** What secrets are replaced by. Default `[redacted]`. */
  readonly replacement?: string;
  /** Levels of nesting copied: bounds the stack. */
  readonly maxDepth?: number;
  /** Total number of values copied: bounds time and the size of the copy. */
  readonly maxValues?: number;
  /** Maximum length of one text. */
  readonly maxTextChars?: number;
  /** Marks where a text was cut. Default `…`. */
  readonly ellipsis?: string;
  /** Characters checked beyond that: a secret must not escape by being cut in half. Default 4096. */
  readonly lookAheadChars?: number;
}

/** Hides secrets in values and texts. */
export interface Redactor {
  /** A copy made of plain JSON values, without secrets or cycles. Does not throw. */
  redact(value: unknown): unknown;
  /** The text with everything replaced that looks like a secret. */
  redactText(text: string): string;
  /** Whether a value with this name would be hidden. */
  isSecretKey(key: string): boolean;
}

// Names are compared in lower case without separators, so that API_KEY, apiKey and x-api-key are the same.
const fragments = /passw|passphrase|secret|apikey|accesskey|privatekey|clientkey|signingkey|credential|cookie|idtoken/;
const endings = /(?:token|jwt|bearer|session|sessionid|authorization|assertion|signature|pwd)$/;
const whole = new Set(['auth', 'pass', 'otp', 'pin', 'sid', 'csrf', 'xsrf', 'codeverifier', 'requeststate']);
// Tokens of the protocol itself, and tokens that only point to a next page, are not secrets.
const harmless = new Set(['progresstoken', 'nexttoken', 'pagetoken', 'nextpagetoken', 'continuationtoken']);

const normalise = (key: string): string =>
  key
    .replace(/^-+/, '')
    .replace(/[-_.\s]/g, '')
    .toLowerCase();

const knownOptions: Record<keyof RedactorOptions, true> = {
  keys: true,
  patterns: true,
  replacement: true,
  maxDepth: true,
  maxValues: true,
  maxTextChars: true,
  ellipsis: true,
  lookAheadChars: true,
};

/** Creates a redactor. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  assertKnownOptions('createRedactor', options, knownOptions);
  const { replacement = '[redacted]', maxDepth = 32, maxValues = 20_000 } = options;
  const { maxTextChars = 16_384, lookAheadChars = 4096, ellipsis = '…' } = options;
  const extraKeys = new Set((options.keys ?? []).map(normalise));
  const extraShapes = (options.patterns ?? []).map(
    (pattern) => new RegExp(pattern.source, pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`),
  );

  const isSecretKey = (key: string): boolean => {
    if (key.length > 200) return true; // No real name is that long.
    const name = normalise(key);
    if (extraKeys.has(name) || whole.has(name) || fragments.test(name)) return true;
    return endings.test(name) && !harmless.has(name);
  };

  // Caches the few hundred names in use: deciding about a name takes longer than copying its value.
  const known = new Map<string, { readonly secret: boolean; readonly shown: string }>();
  const knowKey = (key: string) => {
    let facts = known.get(key);
    if (facts === undefined) {
      facts = { secret: isSecretKey(key), shown: redactText(key) };
      if (key.length <= 64 && known.size < 1000) known.set(key, facts);
    }
    return facts;
  };

  const redactText = (text: string): string => {
    const seen = Math.min(text.length, maxTextChars + lookAheadChars);
    const mayHold = extraShapes.length > 0 || mayHoldSecret(text, seen);
    if (!mayHold && text.length <= maxTextChars) return text;
    let result = text.slice(0, mayHold ? seen : maxTextChars);
    if (mayHold) {
      for (const { hint, pattern, keep } of secretShapes) {
        if (hint.test(result)) {
          result = result.replace(pattern, keep ? (_all, kept: string) => kept + replacement : () => replacement);
        }
      }
      for (const pattern of extraShapes) result = result.replace(pattern, () => replacement);
    }
    if (text.length <= maxTextChars) return result;
    return `${cutAfterWord(result, maxTextChars)}${ellipsis} [${text.length} characters]`;
  };

  /** The value of a secret: hidden, unless it reveals nothing (`null`, `true`). */
  const hide = (secret: unknown): unknown =>
    secret === null || secret === undefined || typeof secret === 'boolean' || secret === '' ? secret : replacement;

  const copyList = (items: readonly unknown[], parent: Parent, budget: CopyBudget): unknown[] => {
    const copies: unknown[] = [];
    for (let index = 0; index < items.length; index++) {
      if (budget.left <= 0) {
        copies.push(`[${items.length - index} more]`);
        break;
      }
      // ['--token', 's3cret'] and raw header lists: a secret name, then its value.
      const name = index > 0 ? items[index - 1] : undefined;
      budget.left -= 1;
      const follows = typeof items[index] === 'string' && isName(name) && isSecretKey(name);
      copies.push(follows ? hide(items[index]) : copy(items[index], parent, budget));
    }
    return copies;
  };

  /** Copies one member of a record. False if the budget is used up. */
  const copyMember = (record: RecordCopy, key: string, item: unknown, parent: Parent, budget: CopyBudget): boolean => {
    if (budget.left-- <= 0) {
      put(record.members, '…', 'more');
      return false;
    }
    const { secret, shown } = knowKey(key);
    if (nameKeys.has(key) && isName(item) && isSecretKey(item)) record.isNamed = true;
    put(record.members, shown, secret ? hide(item) : copy(item, parent, budget));
    return true;
  };

  const finish = ({ members, isNamed }: RecordCopy): Record<string, unknown> => {
    if (isNamed) {
      for (const key of ['value', 'values']) if (Object.hasOwn(members, key)) put(members, key, hide(members[key]));
    }
    return members;
  };

  const copyEntries = (entries: Iterable<readonly [string, unknown]>, parent: Parent, budget: CopyBudget): unknown => {
    const record: RecordCopy = { members: {}, isNamed: false };
    for (const [key, item] of entries) if (!copyMember(record, key, item, parent, budget)) break;
    return finish(record);
  };

  const copyProperties = (object: object, parent: Parent, budget: CopyBudget): unknown => {
    const record: RecordCopy = { members: {}, isNamed: false };
    for (const key of Object.keys(object)) {
      if (!copyMember(record, key, readProperty(object, key), parent, budget)) break;
    }
    return finish(record);
  };

  const copyObject = (object: object, parent: Parent, budget: CopyBudget): unknown => {
    // First, because most are; and because naming `Headers` below makes Node load all of fetch.
    if (Object.getPrototypeOf(object) === Object.prototype) return copyProperties(object, parent, budget);
    if (Array.isArray(object)) return copyList(object, parent, budget);
    if (object instanceof Date) return Number.isNaN(object.getTime()) ? 'Invalid Date' : object.toISOString();
    if (object instanceof RegExp || object instanceof URL) return redactText(String(object));
    if (ArrayBuffer.isView(object) || object instanceof ArrayBuffer) return `[${object.byteLength} bytes]`;
    if (object instanceof Set) return copyList([...take(object, budget.left + 1)], parent, budget);
    if (object instanceof Map || isHeaders(object)) return copyEntries(textEntries(object), parent, budget);
    if (object instanceof Error) return copyEntries(errorEntries(object), parent, budget);
    return copyProperties(object, parent, budget);
  };

  const copy = (node: unknown, parent: Parent | undefined, budget: CopyBudget): unknown => {
    if (typeof node === 'string') return redactText(node);
    if (typeof node === 'bigint') return String(node);
    if (typeof node === 'function' || typeof node === 'symbol') return `[${typeof node}]`;
    if (typeof node !== 'object' || node === null) return node;
    for (let outer = parent; outer !== undefined; outer = outer.parent) if (outer.object === node) return '[circular]';
    const depth = parent === undefined ? 0 : parent.depth + 1;
    if (depth >= maxDepth) return '[too deep]';
    try {
      return copyObject(node, { object: node, depth, parent }, budget);
    } catch {
      return '[unreadable]'; // A getter or proxy that throws must not prevent the rest from being logged.
    }
  };

  const redact = (value: unknown): unknown => copy(value, undefined, { left: maxValues });

  return { redact, redactText, isSecretKey };
}

/** How many values may still be copied. */
interface CopyBudget {
  left: number;
}

/** The object that contains the current value, and those that contain it. */
interface Parent {
  readonly object: object;
  readonly depth: number;
  readonly parent: Parent | undefined;
}

/** The copy of an object so far. */
interface RecordCopy {
  readonly members: Record<string, unknown>;
  /** { name: 'Authorization', value: '…' }: the name of a secret is beside the value instead of above it. */
  isNamed: boolean;
}

/** Sets an own property, also under a name such as `__proto__`. */
const put = (record: Record<string, unknown>, key: string, value: unknown): void => {
  if (key !== '__proto__') record[key] = value;
  else Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
};

/** Keys whose value may name what the value beside it is: `{ name: 'Authorization', value: '…' }`. */
const nameKeys: ReadonlySet<string> = new Set(['name', 'key', 'header', 'Name', 'Key', 'Header']);

/** An item that names the next one in a list: `Authorization`, `--token`. Sentences do not. */
const isName = (item: unknown): item is string => typeof item === 'string' && /^-{0,2}[A-Za-z][\w.-]{1,63}$/.test(item);

const isHeaders = (object: object): object is Iterable<[string, unknown]> =>
  typeof Headers === 'function' && object instanceof Headers;

function* textEntries(entries: Iterable<readonly [unknown, unknown]>): Generator<readonly [string, unknown]> {
  for (const [key, value] of entries) yield [typeof key === 'string' ? key : `[${typeof key}]`, value];
}

function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  for (const item of items) {
    if (count-- <= 0) return;
    yield item;
  }
}

/** At most `maxChars`, without the last word, which may be the first half of a secret. */
function cutAfterWord(text: string, maxChars: number): string {
  let end = Math.min(maxChars, text.length);
  while (end > 0 && isWordPart(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Whether a character can be part of a secret: `[\w+/=.~-]`. By character code, because long words have many of them. */
const isWordPart = (code: number): boolean => code < 128 && wordParts[code] === 1;

const wordParts = Uint8Array.from({ length: 128 }, (_, code) => (/[\w+/=.~-]/.test(String.fromCharCode(code)) ? 1 : 0));

function readProperty(object: object, key: string): unknown {
  try {
    return (object as Record<string, unknown>)[key];
  } catch {
    return '[unreadable]'; // One getter failed; the other properties are fine.
  }
}

function* errorEntries(error: Error): Generator<readonly [string, unknown]> {
  yield ['name', error.name];
  yield ['message', error.message];
  yield ['stack', error.stack];
  if (error.cause !== undefined) yield ['cause', error.cause];
  for (const key of Object.keys(error)) {
    if (!/^(?:name|message|stack|cause)$/.test(key)) yield [key, readProperty(error, key)];
  }
}
