// Plays a transcript against a server and compares what comes back. The format is explained in
// test/transcripts/README.md; anyone can read a transcript without reading this.

import type { Server } from '../../src/engine/server.ts';
import { validateMessage } from './validate-message.ts';

export interface TestCase {
  readonly revisions: readonly string[];
  readonly title: string;
  readonly lines: readonly { readonly mark: string; readonly text: string; readonly at: number }[];
}

const revisionNames = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
const stateless = '2026-07-28';
/** How long a message may take. */
const patienceMs = 20_000;

/** Splits a file into cases. A heading names revisions, a range of them ("2024-11-05 .. 2025-06-18") or "all". */
export function parseTranscript(text: string): TestCase[] {
  const cases: { revisions: string[]; title: string; lines: TestCase['lines'][number][] }[] = [];
  text.split('\n').forEach((line, index) => {
    if (line.trim() === '' || line.startsWith('//')) return;
    if (line.startsWith('# ')) {
      const [names, ...title] = line.slice(2).split(': ');
      cases.push({ revisions: parseRevisions(names as string), title: title.join(': '), lines: [] });
      return;
    }
    const mark = line[0] as string;
    if (!'><@.'.includes(mark)) throw new Error(`line ${index + 1}: ${line}`);
    cases.at(-1)?.lines.push({ mark, text: line.slice(1).trim(), at: index + 1 });
  });
  return cases;
}

function parseRevisions(names: string): string[] {
  if (names === 'all') return revisionNames;
  return names.split(', ').flatMap((part) => {
    const [from, to] = part.split(' .. ');
    const [first, last] = [revisionNames.indexOf(from as string), revisionNames.indexOf(to ?? (from as string))];
    if (first === -1 || last === -1) throw new Error(`unknown revision in ${names}`);
    return revisionNames.slice(first, last + 1);
  });
}

/** The connection of one case. `receive` gets each message of the server as text. */
export type ConnectTestCase = (receive: (text: string) => void) => StoryConnection;

export interface StoryConnection {
  /** Messages come on several streams, so that their order is not known. */
  readonly isUnordered?: boolean;
  /** Resolves when the next message may be sent. */
  send(text: string): void | Promise<void>;
  /** The connection has been opened by `initialize` and `notifications/initialized`. */
  opened?(): Promise<void>;
  close(): void;
}

/** A connection within the process. */
export const inMemory =
  (server: Server): ConnectTestCase =>
  (receive) => {
    const push = (text: string): boolean => {
      receive(text);
      return true;
    };
    const end = (text: string | undefined): void => {
      if (text !== undefined) receive(text);
    };
    const channel = server.connect({ transport: 'memory' }, { duplex: true, push, end });
    return { send: (text) => channel.receiveText(text), close: () => channel.close() };
  };

/** Plays one case at one revision. Throws with the line that went wrong. */
export async function play(testCase: TestCase, revision: string, connect: ConnectTestCase): Promise<void> {
  const player = new Player(revision, connect);
  try {
    for (const line of testCase.lines) {
      try {
        await player.step(line.mark, line.text);
      } catch (cause) {
        throw new Error(`line ${line.at}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
      }
    }
    await player.finish();
  } finally {
    player.close();
  }
}

class Player {
  readonly #revision: string;
  readonly #connection: StoryConnection;
  readonly #received: string[] = [];
  /** What was asked under which id, and at which revision the answer is due. */
  readonly #asked = new Map<unknown, { readonly method: string; readonly revision: string }>();
  readonly #bound = new Map<string, unknown>();
  #arrived: () => void = () => {};

  constructor(revision: string, connect: ConnectTestCase) {
    this.#revision = revision;
    this.#connection = connect((text) => {
      this.#received.push(text);
      this.#arrived();
    });
  }

  async step(mark: string, text: string): Promise<void> {
    if (mark === '@') return this.#hello(text);
    if (mark === '.') return this.#silence();
    if (mark === '<') return this.#expect(text);
    await this.#send(text);
  }

  /** Opens the conversation the way the revision does; the stateless one has no opening. */
  async #hello(text: string): Promise<void> {
    const [word, ...rest] = text.split(' ');
    if (word !== 'hello') throw new Error(`unknown direction @${text}`);
    const capabilities = rest.length === 0 ? {} : JSON.parse(rest.join(' '));
    this.#bound.set('capabilities', capabilities);
    if (this.#revision === stateless) return;
    const params = {
      protocolVersion: this.#revision,
      capabilities,
      clientInfo: { name: 'transcript', version: '1.0.0' },
    };
    await this.#send(JSON.stringify({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params }));
    await this.#next();
    await this.#send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    await this.#connection.opened?.();
  }

  #send(text: string): void | Promise<void> {
    if (!text.startsWith('{') && !text.startsWith('[')) return this.#connection.send(text);
    const message = this.#fill(JSON.parse(text)) as Record<string, unknown>;
    if (typeof message['method'] === 'string') {
      const claims = JSON.stringify(message['params'] ?? {}).includes(`protocolVersion":"${stateless}`);
      const revision = claims && message['method'] !== 'initialize' ? stateless : this.#revision;
      this.#asked.set(message['id'], { method: message['method'], revision });
    }
    return this.#connection.send(JSON.stringify(message));
  }

  /** Puts bound values in; on the stateless revision every request gets its envelope unless it brings one. */
  #fill(message: unknown): unknown {
    const filled = this.#substitute(message) as Record<string, unknown>;
    if (
      this.#revision !== stateless ||
      Array.isArray(filled) ||
      typeof filled['method'] !== 'string' ||
      filled['bare'] === true
    ) {
      if (!Array.isArray(filled)) delete filled['bare'];
      return filled;
    }
    if (filled['id'] === undefined) return filled;
    const params = (filled['params'] ?? {}) as Record<string, unknown>;
    const meta = {
      'io.modelcontextprotocol/protocolVersion': stateless,
      'io.modelcontextprotocol/clientInfo': { name: 'transcript', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': this.#bound.get('capabilities') ?? {},
      ...(params['_meta'] as object | undefined),
    };
    return { ...filled, params: { ...params, _meta: meta } };
  }

  #substitute(value: unknown): unknown {
    if (typeof value === 'string' && value.startsWith('$')) return this.#bound.get(value.slice(1)) ?? value;
    if (Array.isArray(value)) return value.map((each) => this.#substitute(each));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#substitute(each)]));
  }

  async #expect(text: string): Promise<void> {
    const deadline = Date.now() + patienceMs;
    for (let at = 0; ; at++) {
      while (this.#received.length <= at) await this.#more(deadline);
      const received = this.#received[at] as string;
      const bound = new Map(this.#bound);
      const difference = this.#differenceOf(received, text);
      if (difference === undefined) {
        this.#received.splice(at, 1);
        return;
      }
      if (this.#connection.isUnordered !== true) throw new Error(difference);
      this.#bound.clear();
      for (const [name, value] of bound) this.#bound.set(name, value);
    }
  }

  #differenceOf(received: string, expected: string): string | undefined {
    const message = JSON.parse(received) as { [key: string]: unknown };
    const asked = this.#asked.get(message['id']);
    const findings = validateMessage(asked?.revision ?? this.#revision, message, asked?.method);
    if (findings.length > 0)
      throw new Error(`${received}\nis not what the revision allows:\n  ${findings.join('\n  ')}`);
    const difference = this.#compare(message, JSON.parse(expected), '');
    return difference && `${difference}\nexpected ${expected}\nreceived ${received}`;
  }

  /** "*" is anything, "$name" binds or must equal what was bound, "..." lets further members pass. */
  #compare(actual: unknown, expected: unknown, where: string): string | undefined {
    if (expected === '*') return actual === undefined ? `${where} is missing` : undefined;
    if (typeof expected === 'string' && expected.startsWith('$')) {
      const name = expected.slice(1);
      if (!this.#bound.has(name)) this.#bound.set(name, actual);
      return this.#compare(actual, this.#bound.get(name), where);
    }
    if (Array.isArray(expected)) {
      if (!Array.isArray(actual)) return `${where} is not an array`;
      if (actual.length !== expected.length) return `${where} has ${actual.length} items, not ${expected.length}`;
      return expected
        .map((each, i) => this.#compare(actual[i], each, `${where}[${i}]`))
        .find((each) => each !== undefined);
    }
    if (typeof expected === 'object' && expected !== null) {
      if (typeof actual !== 'object' || actual === null) return `${where} is not an object`;
      const wanted = expected as Record<string, unknown>;
      const given = actual as Record<string, unknown>;
      if (!('...' in wanted)) {
        const extra = Object.keys(given).find((key) => !(key in wanted) && !this.#isEnvelope(where, key));
        if (extra !== undefined) return `${where}.${extra} was not expected`;
      }
      for (const [key, each] of Object.entries(wanted)) {
        if (key === '...') continue;
        const difference = this.#compare(given[key], each, `${where}.${key}`);
        if (difference !== undefined) return difference;
      }
      return undefined;
    }
    return actual === expected ? undefined : `${where} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`;
  }

  /** What every answer of the stateless revision carries is validated by its type and need not be written each time. */
  #isEnvelope(where: string, key: string): boolean {
    if (this.#revision !== stateless || where !== '.result') return false;
    return ['resultType', '_meta', 'ttlMs', 'cacheScope'].includes(key);
  }

  async #next(): Promise<string> {
    const deadline = Date.now() + patienceMs;
    while (this.#received.length === 0) await this.#more(deadline);
    return this.#received.shift() as string;
  }

  /** Resolves when a message may have arrived. */
  async #more(deadline: number): Promise<void> {
    if (Date.now() > deadline) throw new Error(`the server says nothing more than ${this.#received.join(' ')}`);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 100);
      this.#arrived = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Nothing is said now; a few turns of the event loop make sure. */
  async #silence(): Promise<void> {
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 2));
    if (this.#received.length > 0) throw new Error(`the server should be silent but says ${this.#received[0]}`);
  }

  finish(): Promise<void> {
    return this.#silence();
  }

  close(): void {
    this.#connection.close();
  }
}
