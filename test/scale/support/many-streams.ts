// Thousands of open streams: GET streams of sessions, and subscriptions/listen of stateless clients. Only what is
// needed to count notifications is read.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { both, initializeBody, modernBody, modernHeaders } from '../../support/http-client.ts';

export interface CountedStream {
  /** Notifications about the resource so far. */
  told: number;
  /** On the clock of `performance.now()`. */
  lastToldAtMs: number;
}

/** A limit of the server counts connections by address; on Linux, 127.0.0.0/8 has enough of them. */
const streamsPerAddress = 1_000;
/** How many are opened at the same time. */
const parallel = 50;

export class ManyStreams {
  readonly streams: CountedStream[] = [];
  readonly #responses: IncomingMessage[] = [];
  readonly #urls: readonly string[];
  readonly #uri: string;
  readonly #token: (stream: number) => string;

  private constructor(urls: readonly string[], uri: string, token: (stream: number) => string) {
    this.#urls = urls;
    this.#uri = uri;
    this.#token = token;
  }

  /** Every second one belongs to a session. `urls`: servers that get as many each. `token`: the caller of each stream. */
  static async open(
    urls: readonly string[],
    uri: string,
    count: number,
    token: (stream: number) => string,
  ): Promise<ManyStreams> {
    const all = new ManyStreams(urls, uri, token);
    let next = 0;
    const open = async (): Promise<void> => {
      while (next < count) {
        const stream = next++;
        await (stream % 2 === 0 ? all.#openSession(stream) : all.#listen(stream));
      }
    };
    await Promise.all(Array.from({ length: parallel }, open));
    return all;
  }

  close(): void {
    for (const response of this.#responses) response.destroy();
  }

  async #openSession(stream: number): Promise<void> {
    const opened = await this.#send(stream, { Accept: both }, initializeBody('2025-11-25'));
    opened.resume();
    const session = { Accept: both, 'Mcp-Session-Id': opened.headers['mcp-session-id'] as string };
    const rest = [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: this.#uri } },
    ];
    for (const body of rest) (await this.#send(stream, session, body)).resume();
    this.#read(await this.#send(stream, { ...session, Accept: 'text/event-stream' }));
  }

  async #listen(stream: number): Promise<void> {
    const params = { notifications: { resourceSubscriptions: [this.#uri] } };
    const method = 'subscriptions/listen';
    this.#read(await this.#send(stream, modernHeaders(method, params), modernBody(method, params)));
  }

  #read(response: IncomingMessage): void {
    const counted: CountedStream = { told: 0, lastToldAtMs: 0 };
    this.streams.push(counted);
    this.#responses.push(response);
    response.setEncoding('latin1');
    response.on('error', () => {}); // Closed by this test.
    response.on('data', (chunk: string) => {
      const told = chunk.split('notifications/resources/updated').length - 1;
      if (told === 0) return;
      counted.told += told;
      counted.lastToldAtMs = performance.now();
    });
  }

  /** A server that was stopped for a while rejects what it cannot know yet: it is sent again. */
  async #send(stream: number, headers: Record<string, string>, body?: object): Promise<IncomingMessage> {
    for (;;) {
      const response = await this.#sendOnce(stream, headers, body);
      const { statusCode = 0 } = response;
      if (statusCode < 300) return response;
      response.resume();
      if (statusCode !== 503) throw new Error(`a stream got ${statusCode}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  #sendOnce(stream: number, headers: Record<string, string>, body?: object): Promise<IncomingMessage> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const all: Record<string, string> = {
      ...headers,
      Authorization: `Bearer ${this.#token(stream)}`,
      Connection: 'close',
    };
    if (text !== undefined) all['Content-Type'] = 'application/json';
    const localAddress = `127.0.1.${1 + Math.floor(stream / streamsPerAddress)}`;
    const method = text === undefined ? 'GET' : 'POST';
    return new Promise((resolve, reject) => {
      const options = { method, headers: all, agent: false as const, localAddress };
      const url = this.#urls[Math.floor(stream / 2) % this.#urls.length] as string;
      httpRequest(url, options, resolve).once('error', reject).end(text);
    });
  }
}
