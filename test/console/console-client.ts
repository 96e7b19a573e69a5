// What the page does, without a browser: requests with the token, and the event stream.

import { request as httpRequest } from 'node:http';
import type { CallUpdate, FeedBatch, FeedEntry, PeerInfo } from '../../src/console/api.ts';

/** A console by its link. */
export class ConsoleClient {
  readonly base: string;
  readonly token: string;

  constructor(link: string) {
    const { origin, pathname, hash } = new URL(link);
    this.base = `${origin}${pathname}api/`;
    this.token = hash.replace(/^#t=/, '');
  }

  async get<T = unknown>(path: string): Promise<T> {
    return this.#parse<T>(await fetch(`${this.base}${path}`, { headers: this.headers }));
  }

  async post<T = unknown>(path: string, body: unknown): Promise<T> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.#parse<T>(await fetch(`${this.base}${path}`, { method: 'POST', body: text, headers: this.headers }));
  }

  get headers(): Record<string, string> {
    return { Authorization: `Bearer ${this.token}` };
  }

  async #parse<T>(response: Response): Promise<T> {
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  async feed(after = 0): Promise<ConsoleFeed> {
    const controller = new AbortController();
    const { signal } = controller;
    const response = await fetch(`${this.base}feed?after=${after}`, { headers: this.headers, signal });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return new ConsoleFeed(response.body as ReadableStream<Uint8Array>, controller);
  }
}

/** An open page: everything that arrived so far. */
export class ConsoleFeed {
  readonly entries: FeedEntry[] = [];
  readonly peers = new Map<number, PeerInfo>();
  readonly calls = new Map<string, CallUpdate>();
  readonly batches: FeedBatch[] = [];
  dropped = 0;
  ended = false;
  readonly #controller: AbortController;
  readonly #waiting = new Set<() => void>();

  constructor(body: ReadableStream<Uint8Array>, controller: AbortController) {
    this.#controller = controller;
    void this.#read(body);
  }

  /** Waits until `find` returns something. */
  async until<T>(find: (feed: ConsoleFeed) => T | undefined | false): Promise<T> {
    for (;;) {
      const found = find(this);
      if (found !== undefined && found !== false) return found;
      if (this.ended) throw new Error(`The stream has ended; it had ${JSON.stringify(this.entries.map(line))}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
      this.#waiting.clear();
    }
  }

  /** The update of a call with one of these states. */
  call(id: string, ...states: CallUpdate['status'][]): Promise<CallUpdate> {
    return this.until(({ calls }) => {
      const update = calls.get(id);
      return update !== undefined && states.includes(update.status) ? update : undefined;
    });
  }

  close(): void {
    this.#controller.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const chunk of body) {
        const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
        rest = blocks.pop() as string;
        for (const block of blocks) this.#take(/^data: (.*)$/m.exec(block)?.[1]);
        for (const wake of this.#waiting) wake();
      }
    } catch {
      // Closed by us.
    }
    this.ended = true;
    for (const wake of this.#waiting) wake();
  }

  #take(data: string | undefined): void {
    if (data === undefined) return;
    const batch = JSON.parse(data) as FeedBatch;
    this.batches.push(batch);
    this.entries.push(...batch.entries);
    for (const peer of batch.peers) this.peers.set(peer.number, peer);
    for (const call of batch.calls) this.calls.set(call.call, call);
    this.dropped += batch.dropped;
  }
}

/** An entry in a few words. */
export function line({ direction, kind, method, name, outcome }: FeedEntry): string {
  return [direction, kind, method, name, outcome].filter((part) => part !== undefined).join(' ');
}

/** A request with any headers, also those that fetch does not allow. */
export function rawRequest(
  url: string,
  options: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string } = {},
): Promise<{ readonly status: number; readonly text: string; readonly headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options;
    const request = httpRequest(url, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(chunks).toString('utf8'),
          headers: response.headers,
        }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}
