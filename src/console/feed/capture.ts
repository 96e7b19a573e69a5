// The text of a message as the console stores and shows it: without secrets, and cut to a limit. Everything that enters the
// feed passes through here first, so that no secret is ever stored.

import { parseJson } from '../../common/parse-json.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { createRedactor, type Redactor } from '../../security/redact.ts';
import { copyOf } from './first-chars.ts';
import { beginningOf } from './json-beginning.ts';
import { RecentMap } from './recent-map.ts';

/** Longer texts are cut: stops one message from filling the buffer. */
export const maxTextChars = 64 * 1024;
/** What is looked at beyond that: a secret must not escape by being cut in half. */
const lookAheadChars = 4096;

const replacement = '[redacted]';
/** The longest name of a secret that is not a member: `--token`, `Authorization`. */
const maxNameChars = 64;
/** Shorter texts are neither secrets nor names of secrets such as `pin`. */
const minSecretChars = 3;
const maxTexts = 4_000;

/** Names of arguments whose values are secret, by tool: those with `writeOnly` or `format: password` in the schema. */
export type SecretArguments = (tool: string) => ReadonlySet<string> | undefined;

export interface CaptureOptions {
  /** Nothing is redacted. */
  readonly raw?: boolean;
  readonly secretArguments?: SecretArguments;
}

export interface CapturedText {
  readonly text: string;
  readonly cut: boolean;
  /** Of the whole message. */
  readonly bytes: number;
}

export class Capture {
  readonly raw: boolean;
  readonly #redactor: Redactor;
  readonly #secretArguments: SecretArguments;
  /** Whether short texts are neither secrets nor names of secrets: most messages have the same ones. */
  readonly #texts = new RecentMap<boolean>(maxTexts);

  constructor({ raw = false, secretArguments = () => undefined }: CaptureOptions = {}) {
    this.raw = raw;
    this.#redactor = createRedactor({ maxTextChars: maxTextChars + lookAheadChars, replacement, maxDepth: 64 });
    this.#secretArguments = secretArguments;
  }

  /** `text` is the message as it travelled, where that is known. */
  message(message: unknown, text: string | undefined): CapturedText {
    const whole = text ?? toJson(message);
    const bytes = Buffer.byteLength(whole);
    if (this.raw) return cut(whole, bytes);
    if (whole.length > maxTextChars) return this.#longMessage(message, whole, bytes);
    // Without secrets the text is shown as it travelled: parsing it again would change large integers.
    if (this.#hideFields(message) === message && this.#isClean(whole)) return cut(whole, bytes);
    // From the text, since a handler may have changed its arguments meanwhile.
    const sent = text === undefined ? message : parseJson(text);
    return cut(this.#redacted(whole, sent, sent), bytes);
  }

  /** Only the beginning is looked at: stops large messages from blocking calls. */
  #longMessage(message: unknown, whole: string, bytes: number): CapturedText {
    const { json, end } = beginningOf(whole, maxTextChars + lookAheadChars);
    const sent = parseJson(json);
    if (sent === undefined) return cut(this.#redactor.redactText(whole), bytes, true);
    const safe = this.#redacted(json, sent, message);
    return cut(safe === json ? whole.slice(0, end) : safe, bytes, true);
  }

  /** The text of a message without secrets; the same text if there are none. `sent`: what it says. */
  #redacted(json: string, sent: unknown, message: unknown): string {
    const safe = toJson(this.#redactor.redact(this.#hideFields(sent, message)));
    return safe === toJson(sent) && quotes(safe) === quotes(json) ? json : safe;
  }

  /**
   * Whether redaction would certainly change nothing: no text looks like a secret, and none is a name that makes the value
   * after it one. Most messages are clean, and this is faster than redacting a copy. Text by text, since most are the names of
   * members, which are always the same (bench console: 4 of 16 µs for a whole message).
   */
  #isClean(json: string): boolean {
    // A text with escape sequences is examined after parsing.
    if (json.length > maxTextChars || json.includes('\\u') || json.includes('\\/')) return false;
    for (let start = json.indexOf('"'); start !== -1; ) {
      const end = endOfText(json, start);
      if (!this.#isCleanText(json, start + 1, end)) return false;
      start = json.indexOf('"', end + 1);
    }
    return true;
  }

  /** Whether the text from `start` to `end` is neither a secret nor the name of one. */
  #isCleanText(json: string, start: number, end: number): boolean {
    if (end - start < minSecretChars) return true;
    const text = json.slice(start, end);
    if (text.length > maxNameChars) {
      // Only names of members can be longer than that; the redactor decides about those.
      return !/^\s*:/.test(json.slice(end + 1, end + 10)) && this.#redactor.redactText(text) === text;
    }
    let isClean = this.#texts.get(text);
    if (isClean === undefined) {
      isClean = !this.#redactor.isSecretKey(readText(text)) && this.#redactor.redactText(text) === text;
      this.#texts.set(text, isClean);
    }
    return isClean;
  }

  /** A name, method or URI. */
  name(text: string): string {
    return this.raw || this.#texts.get(text) === true ? text : this.#redactor.redactText(text);
  }

  /** A text that is not a message. */
  text(text: string): CapturedText {
    return cut(this.raw ? text : this.#redactor.redactText(text), Buffer.byteLength(text));
  }

  /** Redacts something that is not a message: a setting, a header, a line of a log. */
  value(value: unknown): unknown {
    return this.raw ? value : this.#redactor.redact(value);
  }

  /**
   * Hides what is secret because of its place: the content of elicitation results, secret arguments of tools. `whole`: the
   * whole message, if `message` is its beginning. What cannot be known of it is taken for a secret.
   */
  #hideFields(message: unknown, whole = message): unknown {
    if (!isObject(message)) return message;
    const { result, params } = message;
    if (isObject(result) && isObject(result['content'])) {
      const { action, content } = memberOf(whole, 'result');
      const isElicited = content === undefined || typeof action === 'string';
      return isElicited ? { ...message, result: { ...result, content: replacement } } : message;
    }
    if (!isObject(params)) return message;
    let shown = params;
    if (isObject(params['inputResponses'])) {
      const responses = Object.entries(params['inputResponses']).map(([key, response]) => [
        key,
        isObject(response) && isObject(response['content']) ? { ...response, content: replacement } : response,
      ]);
      shown = { ...shown, inputResponses: Object.fromEntries(responses) };
    }
    const name = memberOf(whole, 'params')['name'] ?? params['name'];
    const hidden = typeof name === 'string' ? this.#secretArguments(name) : undefined;
    if (message !== whole && name === undefined && 'arguments' in params) shown = { ...shown, arguments: replacement };
    else if (hidden !== undefined && hidden.size > 0) {
      shown = { ...shown, arguments: withoutFields(params['arguments'], hidden, 0) };
    }
    return shown === params ? message : { ...message, params: shown };
  }
}

function memberOf(message: unknown, name: string): JsonObject {
  const value = isObject(message) ? message[name] : undefined;
  return isObject(value) ? value : {};
}

/** Stops deeply nested arguments from exhausting the stack. */
const maxDepth = 64;

function withoutFields(value: unknown, names: ReadonlySet<string>, depth: number): unknown {
  if (depth > maxDepth) return replacement;
  if (Array.isArray(value)) return value.map((item) => withoutFields(item, names, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      names.has(key) ? replacement : withoutFields(item, names, depth + 1),
    ]),
  );
}

/** The names of all properties of a JSON Schema that are secret, at any depth. */
export function secretProperties(schema: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (node: unknown, depth: number): void => {
    if (depth > maxDepth || !isObject(node)) return;
    for (const [keyword, value] of Object.entries(node)) {
      if (keyword === 'properties' && isObject(value)) {
        for (const [name, property] of Object.entries(value)) {
          if (isObject(property) && (property['writeOnly'] === true || property['format'] === 'password')) {
            found.add(name);
          }
        }
      }
      if (Array.isArray(value)) for (const item of value) visit(item, depth + 1);
      else visit(value, depth + 1);
    }
  };
  visit(schema, 0);
  return found;
}

function cut(text: string, bytes: number, isCut = false): CapturedText {
  // A text that was redacted may still be a piece of the message.
  if (bytes > maxTextChars)
    return { text: copyOf(text.slice(0, maxTextChars)), cut: isCut || text.length > maxTextChars, bytes };
  return { text, cut: isCut, bytes };
}

/** The number of quotation marks. A text with a member twice has more than what parsing leaves of it. */
const quotes = (json: string): number => json.split('"').length;

/** A text of JSON as it reads: a name may be written with escapes, such as `passw\u006frd`. */
function readText(written: string): string {
  if (!written.includes('\\')) return written;
  const read = parseJson(`"${written}"`);
  return typeof read === 'string' ? read : written;
}

/** The position of the quotation mark that ends the text which begins at `start`. */
function endOfText(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end === -1 ? json.length : end;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

export function toJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}
