// One HTTP response of a bridge: a JSON body as long as nothing precedes the answer, an event stream from the first interim message on.
// Knows nothing of sessions or routing.
import type { ServerResponse } from 'node:http';
import type { Message } from './wire.ts';

export class Reply {
  readonly #response: ServerResponse;
  #streaming = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Starts the event stream now, before there is anything to say on it. */
  open(): void {
    if (this.#streaming) return;
    this.#streaming = true;
    this.#response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    this.#response.flushHeaders();
  }

  /** Sends something that is not the final answer. */
  interim(message: Message): void {
    this.open();
    this.#event(message);
  }

  /** Sends the answer and ends; the status counts only while no stream has begun. */
  answer(message: Message, status = 200, headers: Record<string, string> = {}): void {
    if (this.#streaming) {
      this.#event(message);
      this.#response.end();
    } else {
      this.#response.writeHead(status, { 'content-type': 'application/json', ...headers });
      this.#response.end(JSON.stringify(message));
    }
  }

  /** Ends without an answer, as after a cancelled request. */
  end(): void {
    this.open();
    this.#response.end();
  }

  #event(message: Message): void {
    this.#response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }
}
