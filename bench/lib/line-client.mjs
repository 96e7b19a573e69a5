// A client for suites whose answers differ from call to call: requests by id, answers parsed.
import { launch, rssMb, stop, within } from './process.mjs';
import { initialized, opening } from './wire.mjs';

const patienceMs = 120_000;

export class LineClient {
  #child;
  #rest = '';
  #nextId = 1;
  /** @type {Map<number, (answer: any) => void>} */
  #waiting = new Map();
  /** The revision the server answered with. */
  revision = '';

  /** @param {string} file @param {Record<string, string>} env */
  constructor(file, env) {
    this.#child = launch(file, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#child.stdin?.on('error', () => {}); // a server that dies shows as an answer that never comes
    this.#child.stdout?.setEncoding('utf8').on('data', (text) => this.#take(text));
  }

  /** @param {string} file @param {Record<string, string>} env */
  static async open(file, env) {
    const client = new LineClient(file, env);
    const { method, params } = opening('handshake');
    client.revision = (await client.request(method, params)).protocolVersion;
    client.#child.stdin?.write(`${JSON.stringify(initialized)}\n`);
    return client;
  }

  /** @param {string} method @param {object} params @returns {Promise<any>} */
  async request(method, params) {
    const id = this.#nextId++;
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const { result, error } = await within(answer, patienceMs, `no answer to ${method}`);
    if (error || result.isError) throw new Error(`${method} failed: ${JSON.stringify(error ?? result)}`);
    return result;
  }

  /** The text of a tool's answer. @param {string} name @param {object} args @returns {Promise<string>} */
  async call(name, args) {
    return (await this.request('tools/call', { name, arguments: args })).content[0].text;
  }

  get rssMb() {
    return rssMb(/** @type {number} */ (this.#child.pid));
  }

  close() {
    return stop(this.#child);
  }

  /** @param {string} text */
  #take(text) {
    const lines = text.split('\n');
    if (lines.length === 1) {
      this.#rest += text;
      return;
    }
    lines[0] = this.#rest + lines[0];
    this.#rest = /** @type {string} */ (lines.pop());
    for (const line of lines) {
      const answer = JSON.parse(line);
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    }
  }
}
