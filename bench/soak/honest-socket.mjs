// Connections that are sessions: a WebSocket, and the stream and POSTs of HTTP+SSE. Requests are answered by id.
import { WebSocket } from 'ws';

const answerWithinMs = 10_000;

export class Socket {
  kind;
  #open;
  #send;
  #close = () => {};
  #waiting = new Map();

  constructor(kind, open) {
    this.kind = kind;
    this.#open = open;
  }

  static webSocket(port, token) {
    return new Socket('WebSocket', (take, lose) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`, { headers: { Authorization: `Bearer ${token}` } });
      socket.on('message', (data) => take(String(data)));
      return new Promise((resolve, reject) => {
        socket.on('error', reject).on('close', (code) => lose(`the WebSocket was closed with ${code}`));
        socket.on('open', () => resolve({ send: (text) => socket.send(text), close: () => socket.terminate() }));
      });
    });
  }

  static sse(caller) {
    return new Socket('SSE', async (take, lose) => {
      const stream = await caller.open('GET', '/sse', undefined, { Accept: 'text/event-stream' });
      let endpoint;
      let text = '';
      await new Promise((resolve, reject) => {
        stream.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
          for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
            const line = text.slice(0, end);
            text = text.slice(end + 1);
            if (!line.startsWith('data:')) continue;
            if (endpoint === undefined) resolve((endpoint = line.slice(5).trim()));
            else take(line.slice(5));
          }
        });
        stream.on('error', reject).on('close', () => lose('the event stream ended'));
      });
      const send = (message) =>
        caller.send('POST', endpoint, JSON.parse(message)).then(
          ({ status }) => status >= 400 && lose(`a POST has status ${status}`),
          (error) => lose(error.message),
        );
      return { send, close: () => stream.destroy() };
    });
  }

  async open() {
    const lose = (why) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(why));
      this.#waiting.clear();
    };
    const opened = await this.#open((text) => this.#take(JSON.parse(text)), lose);
    this.#send = opened.send;
    this.#close = opened.close;
  }

  #take(message) {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined || message.method !== undefined) return;
    this.#waiting.delete(message.id);
    waiting.resolve(message);
  }

  request(message) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no answer within 10 s')), answerWithinMs);
      const settle = (done) => (value) => {
        clearTimeout(timer);
        done(value);
      };
      this.#waiting.set(message.id, { resolve: settle(resolve), reject: settle(reject) });
      this.#send(JSON.stringify(message));
    });
  }

  notify(message) {
    this.#send(JSON.stringify(message));
  }

  close() {
    this.#close();
  }
}
