// JSON text to values and back without losing anything: numbers keep their text, so that integers beyond 2^53 survive, and
// objects are maps, so that a key such as __proto__ is only a key.

/** A number as it is written. */
export class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type ExactJson = null | boolean | string | NumberText | readonly ExactJson[] | ReadonlyMap<string, ExactJson>;

/** Deeper text is not parsed: a response of a thousand brackets must not overflow the stack of the page. */
const maxDepth = 400;

export class JsonTextError extends Error {
  readonly line: number;
  constructor(message: string, text: string, at: number) {
    const line = text.slice(0, at).split('\n').length;
    super(`${message} (line ${line})`);
    this.line = line;
  }
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const stringPattern = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const spacePattern = /[ \t\r\n]*/y;

/** Whether a text is a number in JSON. */
export function isNumberText(text: string): boolean {
  numberPattern.lastIndex = 0;
  return numberPattern.test(text) && numberPattern.lastIndex === text.length;
}

/** Parses JSON text; throws a JsonTextError that names the line. */
export function parseJson(text: string): ExactJson {
  let at = 0;
  const fail = (message: string): never => {
    throw new JsonTextError(message, text, at);
  };
  const skip = (): void => {
    spacePattern.lastIndex = at;
    spacePattern.test(text);
    at = spacePattern.lastIndex;
  };
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const string = (): string => {
    const found = match(stringPattern) ?? fail(text[at] === '"' ? 'A string is not complete' : 'A string is expected');
    return JSON.parse(found) as string;
  };
  const value = (depth: number): ExactJson => {
    if (depth > maxDepth) fail('Nested too deeply');
    skip();
    const first = text[at];
    if (first === '{') return object(depth);
    if (first === '[') return list(depth);
    if (first === '"') return string();
    for (const [word, meaning] of words) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return meaning;
      }
    }
    const number = match(numberPattern);
    if (number !== undefined) return new NumberText(number);
    return fail(first === undefined ? 'A value is missing at the end' : `Unexpected ${JSON.stringify(first)}`);
  };
  const object = (depth: number): ExactJson => {
    const found = new Map<string, ExactJson>();
    at += 1;
    skip();
    if (text[at] === '}') {
      at += 1;
      return found;
    }
    for (;;) {
      skip();
      const key = string();
      skip();
      if (text[at] !== ':') fail('A colon is expected');
      at += 1;
      found.set(key, value(depth + 1));
      skip();
      if (text[at] === '}') break;
      if (text[at] !== ',') fail('A comma or } is expected');
      at += 1;
    }
    at += 1;
    return found;
  };
  const list = (depth: number): ExactJson => {
    const found: ExactJson[] = [];
    at += 1;
    skip();
    if (text[at] === ']') {
      at += 1;
      return found;
    }
    for (;;) {
      found.push(value(depth + 1));
      skip();
      if (text[at] === ']') break;
      if (text[at] !== ',') fail('A comma or ] is expected');
      at += 1;
    }
    at += 1;
    return found;
  };
  const result = value(0);
  skip();
  if (at < text.length) fail(`Unexpected ${JSON.stringify(text[at])} after the value`);
  return result;
}

const words = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

/** JSON text of a value, indented by two spaces if `indent` is true. An invalid number becomes a string. */
export function formatJson(value: ExactJson, indent = false, margin = ''): string {
  if (value instanceof NumberText) return isNumberText(value.text) ? value.text : JSON.stringify(value.text);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const inner = `${margin}  `;
  const isList = Array.isArray(value);
  const parts = isList
    ? (value as readonly ExactJson[]).map((each) => formatJson(each, indent, inner))
    : [...(value as ReadonlyMap<string, ExactJson>)].map(
        ([key, each]) => `${JSON.stringify(key)}:${indent ? ' ' : ''}${formatJson(each, indent, inner)}`,
      );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  return indent ? `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}` : open + parts.join(',') + close;
}

/** A value that JSON.parse made. */
export function fromPlain(value: unknown): ExactJson {
  return parseJson(JSON.stringify(value) ?? 'null');
}

/** Whether two values are the same JSON; 1 and 1.0 are. */
export function equalJson(a: ExactJson, b: ExactJson): boolean {
  if (a instanceof NumberText && b instanceof NumberText) {
    const whole = /^-?\d+$/;
    return a.text === b.text || (!(whole.test(a.text) && whole.test(b.text)) && Number(a.text) === Number(b.text));
  }
  if (a instanceof NumberText || b instanceof NumberText) return false;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((each, index) => equalJson(each, b[index] as ExactJson));
  }
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, each]) => b.has(key) && equalJson(each, b.get(key) as ExactJson));
  }
  return a === b;
}
