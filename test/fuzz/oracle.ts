// What must be true of the responses to a case, derived from the bytes that were sent: one response per id, and no others.

export interface Expectation {
  /** Ids that must be answered exactly once. */
  readonly due: ReadonlySet<string>;
  /** Ids that may be answered, at most that often. */
  readonly allowed: ReadonlyMap<string, number>;
  /** Lines that are no JSON: each is answered by one error, with its id where that can be made out. */
  readonly unreadable: number;
}

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** Ids of different types are different ids. */
export const keyOf = (id: unknown): string => JSON.stringify(id) ?? 'undefined';

/** Requests that stay open, or wait for input, by their nature. */
const patient = /subscriptions\/listen|test_slow|test_reconnection|test_streaming/;

/** The limit `maxIdLength`: a longer id is rejected and not repeated. */
const maxIdLength = 1_024;

const isId = (id: unknown): boolean => (typeof id === 'string' ? id.length <= maxIdLength : Number.isSafeInteger(id));
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads what was sent, line by line. */
export function expectAnswers(lines: readonly Buffer[]): Expectation {
  const due = new Set<string>();
  const allowed = new Map<string, number>();
  const cancelled = new Set<string>();
  let unreadable = 0;
  const allow = (message: unknown): void => {
    const { id } = isObject(message) ? (message as Message) : {};
    if (isId(id)) allowed.set(keyOf(id), (allowed.get(keyOf(id)) ?? 0) + 1);
  };
  for (const bytes of lines) {
    let message: unknown;
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
      message = JSON.parse(text);
    } catch {
      unreadable++;
      continue;
    }
    for (const each of Array.isArray(message) ? message : [message]) allow(each);
    if (!isObject(message)) continue;
    const { jsonrpc, id, method, params } = message as Message;
    if (method === 'notifications/cancelled' && isObject(params)) cancelled.add(keyOf(params['requestId']));
    const request =
      jsonrpc === '2.0' &&
      typeof method === 'string' &&
      isId(id) &&
      (params === undefined || isObject(params)) &&
      !('result' in message) &&
      !('error' in message);
    if (request && !patient.test(text)) due.add(keyOf(id));
  }
  for (const key of cancelled) due.delete(key);
  for (const [key, count] of allowed) if (count > 1) due.delete(key);
  return { due, allowed, unreadable };
}

/** Collects answers and says what is wrong with them. */
export class Answers {
  readonly #expectation: Expectation;
  readonly #seen = new Map<string, number>();
  /** Ids that were made out of lines that are no JSON. */
  #guessed = 0;
  flaw: string | undefined;

  /** `late`: answers to earlier cases that may still come. */
  constructor(expectation: Expectation, late: ReadonlyMap<string, number> = new Map()) {
    const allowed = new Map(expectation.allowed);
    for (const [key, count] of late) allowed.set(key, (allowed.get(key) ?? 0) + count);
    this.#expectation = { ...expectation, allowed };
  }

  /** What may still come. */
  get late(): Map<string, number> {
    const open = [...this.#expectation.allowed].map(
      ([key, count]) => [key, count - (this.#seen.get(key) ?? 0)] as const,
    );
    return new Map(open.filter(([, count]) => count > 0));
  }

  /** What is still due. */
  get missing(): string[] {
    return [...this.#expectation.due].filter((key) => !this.#seen.has(key));
  }

  take(text: string): void {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      this.flaw ??= `an answer is not JSON: ${text.slice(0, 200)}`;
      return;
    }
    for (const each of Array.isArray(parsed) ? parsed : [parsed]) this.#check(each, text);
  }

  #check(message: unknown, text: string): void {
    if (!isObject(message) || message['jsonrpc'] !== '2.0') {
      this.flaw ??= `an answer is no message: ${text.slice(0, 200)}`;
      return;
    }
    // Whatever comes, an error outside of every handler is a mistake of ours.
    if (isObject(message['error']) && message['error']['message'] === 'Internal error')
      this.flaw ??= `an internal error: ${text.slice(0, 200)}`;
    if (message['method'] !== undefined || message['id'] === null || message['id'] === undefined) return;
    // A line that is no JSON is answered as such. The id that was made out of it may be one that a whole line has too,
    // whose own answer is then still to come.
    const isAboutLine = isObject(message['error']) && message['error']['code'] === -32700;
    if (isAboutLine && this.#guessed < this.#expectation.unreadable) {
      this.#guessed++;
      return;
    }
    const key = keyOf(message['id']);
    const count = (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, count);
    const limit = this.#expectation.allowed.get(key) ?? 0;
    if (count <= limit) return;
    // An id that was made out of a broken line may be one that a whole line has too, so its turn is not known.
    if (++this.#guessed <= this.#expectation.unreadable) return;
    this.flaw ??=
      limit === 0 ? `a response without a request: ${text.slice(0, 200)}` : `${key} is answered ${count} times`;
  }
}
