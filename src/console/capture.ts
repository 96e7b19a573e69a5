// The text of a message as the console stores and shows it: without secrets, and cut to a limit. Everything that enters the
// feed passes through here first, so that no secret is ever stored.

import { isObject } from '../protocol/json-rpc.ts';
import { parseJson } from '../protocol/parse-json.ts';
import { createRedactor, type Redactor } from '../security/redact.ts';
import { RecentMap } from './recent-map.ts';

/** Longer texts are cut: stops one message from filling the buffer. */
export const maxTextChars = 64 * 1024;
/** Longer texts are not parsed, only searched for the shapes of secrets: stops large results from blocking calls. */
const maxParsedChars = 256 * 1024;

const replacement = '[redacted]';
/** The longest name of a secret that is not a member: `--token`, `Authorization`. */
const maxNameChars = 64;
/** Shorter texts are neither secrets nor names of secrets such as `pin`. */
const minSecretChars = 3;
const maxTexts = 4_000;
/** A member of a JSON object whose value is a text. */
const member = /"((?:[^"\\]|\\.){1,200})"\s*:\s*"(?:[^"\\]|\\.)*(?:"|$)/g;

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
    this.#redactor = createRedactor({ maxTextChars, replacement, maxDepth: 64 });
    this.#secretArguments = secretArguments;
  }

  /** `text` is the message as it travelled, where that is known. */
  message(message: unknown, text: string | undefined): CapturedText {
    const whole = text ?? toJson(message);
    const bytes = Buffer.byteLength(whole);
    if (this.raw) return cut(whole, bytes);
    if (whole.length > maxParsedChars) return cut(this.#hideMembers(this.#redactor.redactText(whole)), bytes, true);
    // Without secrets the text is shown as it travelled: parsing it again would change large integers.
    if (this.#hideFields(message) === message && this.#isClean(whole)) return cut(whole, bytes);
    // From the text, since a handler may have changed its arguments meanwhile.
    const sent = text === undefined ? message : parseJson(text);
    const safe = toJson(this.#redactor.redact(this.#hideFields(sent)));
    const isSame = safe === toJson(sent) && quotes(safe) === quotes(whole);
    return cut(isSame ? whole : safe, bytes);
  }

  /**
   * Whether redaction would certainly change nothing: no text looks like a secret, and none is a name that makes the value
   * after it one. Most messages are clean, and this is faster than redacting a copy. Text by text, since most are the names of
   * members, which are always the same (bench console: 4 of 16 µs for a whole message).
   */
  #isClean(json: string): boolean {
    // A text that is written in another way than it reads is looked at after parsing.
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

  /** A text that is not a message. */
  text(text: string): CapturedText {
    return cut(this.raw ? text : this.#redactor.redactText(text), Buffer.byteLength(text));
  }

  /** Redacts something that is not a message: a setting, a header, a line of a log. */
  value(value: unknown): unknown {
    return this.raw ? value : this.#redactor.redact(value);
  }

  /** Hides texts by the names of their members in JSON that is too long to parse. */
  #hideMembers(json: string): string {
    return json.replace(member, (all, name: string) =>
      this.#redactor.isSecretKey(readText(name)) ? `"${name}":"${replacement}"` : all,
    );
  }

  /** Hides what is secret because of its place: the content of elicitation results, secret arguments of tools. */
  #hideFields(message: unknown): unknown {
    if (!isObject(message)) return message;
    const { result, params, method } = message;
    if (isObject(result) && isObject(result['content']) && typeof result['action'] === 'string') {
      return { ...message, result: { ...result, content: replacement } };
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
    const name = params['name'];
    const hidden = method === 'tools/call' && typeof name === 'string' ? this.#secretArguments(name) : undefined;
    if (hidden !== undefined && hidden.size > 0) {
      shown = { ...shown, arguments: withoutFields(params['arguments'], hidden, 0) };
    }
    return shown === params ? message : { ...message, params: shown };
  }
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
  if (text.length <= maxTextChars) return { text, cut: isCut, bytes };
  return { text: text.slice(0, maxTextChars), cut: true, bytes };
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
