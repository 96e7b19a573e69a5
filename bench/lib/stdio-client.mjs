// The load over stdio. Cheap on purpose: requests are copied bytes, and answers are counted by length, since answers to
// equal calls with ids of equal width are equally long; an answer of another length ends the bench.
import { pathOf } from '../contestants.mjs';
import { cpuMicros, launch, rssMb, stop, within } from './process.mjs';
import { badArguments, expectAnswer, firstId, initialized, isRefusal, opening, request, Template } from './wire.mjs';

/** @typedef {import('../contestants.mjs').Contestant} Contestant */
/** @typedef {import('../contestants.mjs').Era} Era */
/** @typedef {keyof typeof import('./wire.mjs').calls} Call */

const patienceMs = 30_000;
const newline = 0x0a;

export class StdioClient {
  #era;
  #child;
  #nextId = firstId;
  /** @type {(chunk: Buffer) => void} */
  #onData = () => {};
  /** The revision the server answered with. */
  revision = '';
  /** From spawn to the first answer. */
  startMs = 0;

  /** @param {Contestant} contestant @param {Era} era @param {{ env?: Record<string, string>, nodeArgs?: string[] }} [options] */
  constructor(contestant, era, { env, nodeArgs } = {}) {
    this.#era = era;
    this.#child = launch(pathOf(contestant), {
      env: { ...contestant.env, ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
      nodeArgs,
    });
    this.#child.stdout?.on('data', (chunk) => this.#onData(chunk));
    this.#child.stdin?.on('error', () => {}); // a server that dies shows as an answer that never comes
  }

  /** Starts a server and settles the connection. @param {ConstructorParameters<typeof StdioClient>} args */
  static async open(...args) {
    const begun = performance.now();
    const client = new StdioClient(...args);
    const { result, error } = await client.ask(opening(client.#era));
    client.startMs = performance.now() - begun;
    if (error) throw new Error(`the server refused to open: ${JSON.stringify(error)}`);
    client.revision = result.protocolVersion ?? result.supportedVersions.at(-1);
    if (client.#era === 'handshake') client.#write(Buffer.from(`${JSON.stringify(initialized)}\n`));
    return client;
  }

  /** Sends one message and parses the one line that comes back. @param {object} message @returns {Promise<any>} */
  async ask(message) {
    const line = await this.#askForLine(Buffer.from(`${JSON.stringify(message)}\n`));
    return JSON.parse(line.toString());
  }

  /** Throws unless the answer is right; gives its length. @param {Call} call */
  async check(call) {
    const line = await this.#askForLine(new Template(this.#era, call).fill(this.#nextId++, 1));
    expectAnswer(this.#era, call, JSON.parse(line.toString()));
    return line.length;
  }

  /** Throws unless the server validates arguments. */
  async checkValidation() {
    const answer = await this.ask(request(this.#era, this.#nextId++, 'tools/call', badArguments));
    if (!isRefusal(answer)) throw new Error('wrong arguments were accepted');
  }

  /**
   * Keeps `inFlight` requests open for `ms`, so that slow and fast servers are measured equally long. With `perSec`, sends
   * `inFlight` at a time and so many a second, whenever they are answered.
   * @param {Call} call @param {{ inFlight: number, ms: number, perSec?: number }} plan
   */
  async load(call, { inFlight, ms, perSec }) {
    const answerBytes = await this.check(call);
    const template = new Template(this.#era, call);
    /** @type {number[]} */
    const latencies = [];
    const cpuBefore = this.cpuMicros;
    const begun = performance.now();
    let sent = 0;
    let done = 0;
    let sentAt = begun;
    /** @type {NodeJS.Timeout | undefined} */
    let pacer;
    const send = (/** @type {number} */ count) => {
      sentAt = performance.now();
      this.#write(template.fill(this.#nextId, count));
      this.#nextId += count;
      sent += count;
    };
    const all = new Promise((resolve, reject) => {
      let received = 0;
      this.#onData = (chunk) => {
        received += chunk.length;
        const answered = Math.trunc(received / answerBytes);
        const lastEnd = chunk.length - (received % answerBytes) - 1;
        if (lastEnd >= 0 && chunk[lastEnd] !== newline)
          reject(new Error(`an answer to ${call} differs from the others`));
        const fresh = answered - done;
        if (fresh === 0) return;
        done = answered;
        const now = performance.now();
        if (inFlight === 1) latencies.push(now - sentAt);
        if (now - begun >= ms) {
          if (done === sent) resolve(undefined);
        } else if (perSec === undefined) send(fresh);
      };
      send(inFlight);
      if (perSec === undefined) return;
      pacer = setInterval(
        () => {
          // By the clock: timers come late.
          const due = Math.trunc(((performance.now() - begun) / 1000) * perSec) - sent;
          if (performance.now() - begun < ms && due >= inFlight) send(due);
          else if (performance.now() - begun >= ms && done === sent) resolve(undefined);
        },
        (inFlight / perSec) * 1000,
      );
    });
    await within(all, ms + patienceMs, `no end of ${call}`).finally(() => {
      clearInterval(pacer);
      this.#onData = () => {};
    });
    const seconds = (performance.now() - begun) / 1000;
    return { calls: done, perSec: done / seconds, cpuUs: (this.cpuMicros - cpuBefore) / done, latencies };
  }

  get cpuMicros() {
    return cpuMicros(this.pid);
  }

  get rssMb() {
    return rssMb(this.pid);
  }

  get pid() {
    return /** @type {number} */ (this.#child.pid);
  }

  close() {
    return stop(this.#child);
  }

  /** Ends the server the way a client does: by closing its input. */
  async end() {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin?.end();
    await within(gone, patienceMs, 'the server did not exit');
  }

  /** @param {Buffer} bytes @returns {Promise<Buffer>} */
  #askForLine(bytes) {
    /** @type {Buffer[]} */
    const parts = [];
    const line = new Promise((resolve) => {
      this.#onData = (chunk) => {
        parts.push(chunk);
        if (chunk.at(-1) === newline) resolve(Buffer.concat(parts));
      };
    });
    this.#write(bytes);
    return within(line, patienceMs, 'no answer');
  }

  /** @param {Buffer} bytes */
  #write(bytes) {
    this.#child.stdin?.write(bytes);
  }
}
