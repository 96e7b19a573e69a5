// One keep-alive connection of the HTTP load: sends a request, reads one whole answer, never pipelines.
import { connect } from 'node:net';

const headEnd = '\r\n\r\n';
const lastChunk = '\r\n0\r\n\r\n';

export class Lane {
  #socket;
  #text = '';
  #bodyAt = -1;
  #length = -1;
  /** @type {(answer: string) => void} */
  #onAnswer = () => {};

  /** @param {number} port @param {(error: Error) => void} onError */
  constructor(port, onError) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (/** @type {string} */ chunk) => this.#read(chunk));
    this.#socket.on('error', onError);
    this.#socket.on('close', () => onError(new Error('the server closed a connection')));
  }

  /** @param {Buffer} request @param {(answer: string) => void} onAnswer  gets head and body as latin1 text */
  send(request, onAnswer) {
    this.#onAnswer = onAnswer;
    this.#socket.write(request);
  }

  close() {
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
  }

  /** @param {string} chunk */
  #read(chunk) {
    this.#text += chunk;
    if (this.#bodyAt < 0 && !this.#readHead()) return;
    const whole = this.#length < 0 ? this.#text.endsWith(lastChunk) : this.#text.length >= this.#bodyAt + this.#length;
    if (!whole) return;
    const answer = this.#text;
    this.#text = '';
    this.#bodyAt = -1;
    this.#onAnswer(answer);
  }

  #readHead() {
    const at = this.#text.indexOf(headEnd);
    if (at < 0) return false;
    this.#bodyAt = at + headEnd.length;
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#text.slice(0, at));
    this.#length = length ? Number(length[1]) : -1;
    return true;
  }
}

/** One open event stream: counts what it is told to look for. */
export class Stream {
  #socket;
  #text = '';
  /** @type {{ needle: string, found: () => void } | undefined} */
  #watch;

  /** @param {number} port @param {Buffer} request @param {(error: Error) => void} onError */
  constructor(port, request, onError) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (/** @type {string} */ chunk) => {
      this.#text += chunk;
      this.#look();
    });
    this.#socket.on('error', onError);
    this.#socket.write(request);
  }

  /** Resolves when `needle` arrives, and forgets all up to it. @param {string} needle @returns {Promise<void>} */
  seen(needle) {
    return new Promise((found) => {
      this.#watch = { needle, found };
      this.#look();
    });
  }

  close() {
    this.#socket.destroy();
  }

  #look() {
    if (!this.#watch) return;
    const { needle, found } = this.#watch;
    const at = this.#text.indexOf(needle);
    if (at < 0) return;
    this.#text = this.#text.slice(at + needle.length);
    this.#watch = undefined;
    found();
  }
}
