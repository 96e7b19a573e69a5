// The words of the timeline's filter. All words must match; a word with a minus in front must not.
//
//   method:tools/*  name:add  peer:claude  side:upstream  task:  is:error  code:-32602  ms>500  text:"two words"  anything

export interface FilterSubject {
  readonly method?: string;
  readonly name?: string;
  /** Names of the peer: client, transport, principal, revision, number. */
  readonly peer: readonly string[];
  readonly side: string;
  readonly kind: string;
  readonly direction: string;
  readonly isError: boolean;
  readonly code?: number;
  readonly durationMs?: number;
  /** The text of the message and of its response. */
  readonly texts: readonly (string | undefined)[];
  readonly reason?: string;
}

type SubjectTest = (subject: FilterSubject) => boolean;

export interface Filter {
  /** False for an empty filter, which matches everything. */
  readonly isActive: boolean;
  /** Invalid words, for a message beside the field. */
  readonly problems: readonly string[];
  matches(subject: FilterSubject): boolean;
}

/** A word: `key:value`, `key>value`, or text; values may be quoted. */
const wordPattern = /(-?)(?:([a-z]+)(:|>=|<=|>|<|=))?("(?:[^"\\]|\\.)*"?|\S*)/giy;

export function parseFilter(query: string): Filter {
  const tests: SubjectTest[] = [];
  const problems: string[] = [];
  for (const { negative, key, operator, value, whole } of words(query)) {
    const test = testOf(key, operator, value);
    if (typeof test === 'string') problems.push(`${whole}: ${test}`);
    else if (test !== undefined) tests.push(negative ? (subject) => !test(subject) : test);
  }
  return {
    isActive: tests.length > 0,
    problems,
    matches: (subject) => tests.every((test) => test(subject)),
  };
}

interface Word {
  readonly negative: boolean;
  readonly key?: string;
  readonly operator?: string;
  readonly value: string;
  readonly whole: string;
}

function* words(query: string): Generator<Word> {
  let at = 0;
  while (at < query.length) {
    if (/\s/.test(query[at] as string)) {
      at += 1;
      continue;
    }
    wordPattern.lastIndex = at;
    const match = wordPattern.exec(query);
    if (match === null || match[0] === '') break;
    const [whole, minus, key, operator, text = ''] = match;
    at += whole.length;
    const isQuoted = text.startsWith('"');
    const value = isQuoted ? text.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : text;
    yield { negative: minus === '-', key: key?.toLowerCase(), operator, value, whole };
  }
}

/** The test of a word; a text: why it is invalid; undefined: it is incomplete. */
function testOf(
  key: string | undefined,
  operator: string | undefined,
  value: string,
): SubjectTest | string | undefined {
  if (key === undefined) return value === '' ? undefined : contains(value);
  if (key === 'ms' || key === 'code') return numberTest(key, operator as string, value);
  if (operator !== ':') return contains(`${key}${operator}${value}`);
  const test = tests[key];
  if (test !== undefined) return value === '' && key !== 'task' ? undefined : test(value);
  // A text such as https://… or urn:x is not a key.
  return contains(`${key}:${value}`);
}

const states: Readonly<Record<string, SubjectTest>> = {
  error: (subject) => subject.isError,
  ok: (subject) => !subject.isError && subject.durationMs !== undefined,
  open: (subject) => subject.kind === 'request' && subject.durationMs === undefined && !subject.isError,
  request: (subject) => subject.kind === 'request',
  response: (subject) => subject.kind === 'response',
  notification: (subject) => subject.kind === 'notification',
  invalid: (subject) => subject.kind === 'invalid',
  in: (subject) => subject.direction === 'in',
  out: (subject) => subject.direction === 'out',
};

const tests: Readonly<Record<string, (value: string) => SubjectTest | string | undefined>> = {
  method: (value) => {
    const match = pattern(value);
    return (subject) => match(subject.method);
  },
  name: (value) => {
    const match = pattern(value);
    return (subject) => match(subject.name);
  },
  peer: (value) => {
    const match = pattern(value);
    return (subject) => subject.peer.some(match);
  },
  side: (value) => (subject) => subject.side.startsWith(value.toLowerCase()),
  task: (value) => (subject) =>
    subject.method?.startsWith('tasks/') === true && (value === '' || pattern(value)(subject.name)),
  is: (value) => states[value.toLowerCase()] ?? `use one of ${Object.keys(states).join(', ')}`,
  text: contains,
};

function numberTest(key: 'ms' | 'code', operator: string, value: string): SubjectTest | string | undefined {
  if (value === '' || value === '-') return undefined;
  const limit = Number(value);
  if (Number.isNaN(limit)) return 'use a number';
  return (subject) => {
    const actual = key === 'ms' ? subject.durationMs : subject.code;
    if (actual === undefined) return false;
    if (operator === '>') return actual > limit;
    if (operator === '<') return actual < limit;
    if (operator === '>=') return actual >= limit;
    if (operator === '<=') return actual <= limit;
    return actual === limit;
  };
}

/** Any part of a text; with `*` for any characters it is the whole text. */
function pattern(value: string): (text: string | undefined) => boolean {
  const lower = value.toLowerCase();
  if (!lower.includes('*')) return (text) => text?.toLowerCase().includes(lower) === true;
  const parts = lower.split('*');
  return (text) => text !== undefined && matchesParts(text.toLowerCase(), parts);
}

/** Without a regular expression, so that no pattern is slow. */
function matchesParts(text: string, parts: readonly string[]): boolean {
  const first = parts[0] as string;
  const last = parts.at(-1) as string;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}

function contains(value: string): SubjectTest {
  const lower = value.toLowerCase();
  const isIn = (text: string | undefined): boolean => text?.toLowerCase().includes(lower) === true;
  return (subject) => isIn(subject.method) || isIn(subject.name) || isIn(subject.reason) || subject.texts.some(isIn);
}
