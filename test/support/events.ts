// Reads an event stream event by event.

export interface ReadEvent {
  readonly event: string;
  readonly data: unknown;
}

export class EventReader {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly #abort: AbortController;
  #text = '';

  private constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#reader = (response.body as ReadableStream<Uint8Array>).getReader();
    this.#abort = abort;
  }

  static async open(url: string, headers: Record<string, string>): Promise<EventReader> {
    const abort = new AbortController();
    const response = await fetch(url, { headers: { Accept: 'text/event-stream', ...headers }, signal: abort.signal });
    return new EventReader(response, abort);
  }

  /** The next event with data; comments that only keep the line open are passed over. */
  async next(): Promise<ReadEvent> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end === -1) {
        const { value, done } = await this.#reader.read();
        if (done) throw new Error('the stream has ended');
        this.#text += this.#decoder.decode(value, { stream: true });
        continue;
      }
      const lines = this.#text.slice(0, end).split('\n');
      this.#text = this.#text.slice(end + 2);
      const field = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field('data');
      if (data !== undefined) return { event: field('event') ?? 'message', data: JSON.parse(data) };
    }
  }

  close(): void {
    this.#abort.abort();
  }
}
