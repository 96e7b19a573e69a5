// The load over HTTP: a server process with its port, checked exchanges one by one, and a closed loop of many lanes.
import assert from 'node:assert/strict';
import { Agent, request as httpRequest } from 'node:http';
import { fileURLToPath } from 'node:url';
import { pathOf } from '../contestants.mjs';
import { Lane, Stream } from './lane.mjs';
import { cpuMicros, launch, rssMb, startedProcesses, stop, within } from './process.mjs';
import {
  badArguments,
  calls,
  expectAnswer,
  firstId,
  initialized,
  isRefusal,
  opening,
  request,
  revisions,
  Template,
} from './wire.mjs';

/** @typedef {import('../contestants.mjs').Contestant} Contestant */
/** @typedef {import('../contestants.mjs').Era} Era */
/** @typedef {keyof typeof calls} Call */

const patienceMs = 30_000;
const path = '/mcp';
const hook = fileURLToPath(new URL('server-hook.mjs', import.meta.url));
const listen = { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } };

export class HttpClient {
  #era;
  #shape;
  #asks;
  #accepts;
  #child;
  #counts;
  #port = 0;
  /** @type {number[]} */
  #ports = [];
  #nextId = firstId;
  /** For what is not measured. A connection is not used twice: servers close idle ones while another one is measured. */
  #agent = new Agent({ keepAlive: false, maxSockets: 64 });
  revision = '';
  /** Of the server's console. @type {string | undefined} */
  link;

  /** @param {Contestant} contestant @param {Era} era @param {string[]} [nodeArgs] */
  constructor(contestant, era, nodeArgs = []) {
    this.#era = era;
    this.#shape = contestant.shape;
    this.#asks = contestant.asks;
    this.#counts = contestant.counts;
    this.#accepts = contestant.accepts ?? 'application/json, text/event-stream';
    this.#child = launch(pathOf(contestant), {
      env: { ...contestant.env, BENCH_ERA: era },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      nodeArgs: ['--expose-gc', '--import', hook, ...nodeArgs],
      manyCores: contestant.manyCores,
    });
  }

  /** @param {ConstructorParameters<typeof HttpClient>} args */
  static async open(...args) {
    const client = new HttpClient(...args);
    const { listening, link } = await client.#told('listening');
    client.#ports = listening;
    client.link = link;
    client.turnTo(0);
    client.revision = revisions[client.#era];
    return client;
  }

  /** Speaks to one of the two servers of a process from now on. @param {0 | 1} which */
  turnTo(which) {
    this.#port = this.#ports[which];
  }

  /** Opens sessions where the era has them; stateless load runs under the one name it has. @param {number} count */
  async openSessions(count) {
    if (this.#era === 'stateless') return [undefined];
    /** @type {(string | undefined)[]} */
    const ids = [];
    let left = count;
    const opener = async () => {
      while (left-- > 0) ids.push(await this.#openSession());
    };
    await Promise.all(Array.from({ length: Math.min(32, count) }, opener));
    return ids;
  }

  /** Throws unless the answer is right and of the promised shape. @param {Call} call @param {string} [sessionId] */
  async check(call, sessionId) {
    const { method, params } = calls[call];
    const { type, message } = await this.#post(request(this.#era, this.#nextId++, method, params), sessionId);
    assert.equal(
      type.startsWith('text/event-stream') ? 'sse' : 'json',
      this.#shape,
      'another shape than the table says',
    );
    expectAnswer(this.#era, call, message);
  }

  /** @param {string} [sessionId] */
  async checkValidation(sessionId) {
    const { message } = await this.#post(request(this.#era, this.#nextId++, 'tools/call', badArguments), sessionId);
    if (!isRefusal(message)) throw new Error('wrong arguments were accepted');
  }

  /**
   * Keeps one request open per connection for `ms`; sessions take turns. With `perSec`, sends so many a second.
   * @param {Call} call
   * @param {{ connections: number, ms: number, sessions: (string | undefined)[], perSec?: number }} plan
   */
  async load(call, { connections, ms, sessions, perSec }) {
    await this.check(call, sessions[0]);
    const templates = sessions.map((id) => new Template(this.#era, call, (body) => this.#frame(calls[call], body, id)));
    /** @type {Lane[]} */
    const lanes = [];
    let sent = 0;
    let done = 0;
    let idle = 0;
    const cpuBefore = this.cpuMicros;
    const begun = performance.now();
    const all = new Promise((resolve, reject) => {
      const step = (/** @type {Lane} */ lane) => {
        // Each connection has one call at least: a busy machine may take longer than `ms` to open them.
        if (sent >= connections && performance.now() - begun >= ms) {
          if (++idle === connections) resolve(undefined);
          return;
        }
        const dueMs = perSec === undefined ? 0 : begun + (sent * 1000) / perSec - performance.now();
        if (dueMs >= 1) return void setTimeout(step, dueMs, lane);
        const template = templates[sent++ % templates.length];
        lane.send(template.fill(this.#nextId++, 1), (answer) => {
          if (!isRight(answer)) return reject(new Error(`a wrong answer to ${call}: ${answer.slice(0, 500)}`));
          done++;
          step(lane);
        });
      };
      for (let n = 0; n < connections; n++) lanes.push(new Lane(this.#port, reject));
      for (const lane of lanes) step(lane);
    });
    try {
      await within(all, ms + patienceMs, `no end of ${call}`);
      const micros = (performance.now() - begun) * 1000;
      const cpu = this.cpuMicros - cpuBefore;
      return { calls: done, perSec: done / (micros / 1e6), cpuUs: cpu / done, core: cpu / micros };
    } finally {
      for (const lane of lanes) lane.close();
    }
  }

  /** Opens one event stream per session, or that many listen requests, and waits until each is acknowledged.
   * @param {number} count @param {(string | undefined)[]} sessions */
  async openStreams(count, sessions) {
    /** @type {Stream[]} */
    const streams = [];
    let failed = (/** @type {Error} */ _error) => {};
    const failure = new Promise((_, reject) => {
      failed = reject;
    });
    for (let n = 0; n < count; n++) {
      const body =
        this.#era === 'stateless'
          ? JSON.stringify(request(this.#era, this.#nextId++, listen.method, listen.params))
          : undefined;
      const bytes = body ? this.#frame(listen, Buffer.from(body)) : Buffer.from(this.#head('GET', {}, sessions[n]));
      const stream = new Stream(this.#port, bytes, failed);
      const needle = body ? 'notifications/subscriptions/acknowledged' : 'HTTP/1.1 200';
      await within(Promise.race([stream.seen(needle), failure]), patienceMs, `stream ${n} did not open`);
      streams.push(stream);
    }
    return streams;
  }

  /** Publishes one change and waits until every stream has it. @param {Stream[]} streams */
  async fanOut(streams) {
    const all = Promise.all(streams.map((stream) => stream.seen('notifications/tools/list_changed')));
    const cpuBefore = this.cpuMicros;
    const begun = performance.now();
    this.#child.send('change');
    await within(all, patienceMs, 'a change did not reach every stream');
    return { ms: performance.now() - begun, cpuMs: (this.cpuMicros - cpuBefore) / 1000 };
  }

  /** Bytes held after a collection. */
  async heldBytes() {
    const reply = this.#told('heldBytes');
    this.#child.send('memory');
    return (await reply).heldBytes;
  }

  get cpuMicros() {
    return this.#sum(cpuMicros);
  }

  get rssMb() {
    return this.#sum(rssMb);
  }

  /** @param {(pid: number) => number} measure */
  #sum(measure) {
    const pid = /** @type {number} */ (this.#child.pid);
    const pids = this.#counts === undefined ? [pid] : startedProcesses(pid, this.#counts);
    return pids.reduce((sum, each) => sum + measure(each), 0);
  }

  /** Ends the server gently enough for it to write a profile. */
  async end() {
    this.#agent.destroy();
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.send('exit');
    await within(gone, patienceMs, 'the server did not exit');
  }

  close() {
    this.#agent.destroy();
    return stop(this.#child);
  }

  async #openSession() {
    const { headers, message } = await this.#post(opening(this.#era, this.#asks));
    const id = headers['mcp-session-id'];
    if (typeof id !== 'string') throw new Error(`no session: ${JSON.stringify(message)}`);
    this.revision = message.result.protocolVersion;
    await this.#post(initialized, id);
    return id;
  }

  /** @param {any} message @param {string} [sessionId] @returns {Promise<{ type: string, headers: import('node:http').IncomingHttpHeaders, message: any }>} */
  #post(message, sessionId) {
    const body = JSON.stringify(message);
    const headers = { ...this.#headers(message, sessionId), 'Content-Length': String(Buffer.byteLength(body)) };
    const reply = new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#port, path, method: 'POST', headers, agent: this.#agent };
      const outgoing = httpRequest(options, (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        incoming.on('end', () => {
          const { statusCode: status, headers } = incoming;
          const type = headers['content-type'] ?? '';
          if (status === 200) resolve({ type, headers, message: parseBody(type, text) });
          else if (status === 202) resolve({ type, headers, message: undefined });
          else reject(new Error(`status ${status}: ${text.slice(0, 500)}`));
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
    return within(reply, patienceMs, 'no answer');
  }

  /** @param {{ method?: string, params?: any }} message @param {string} [sessionId] @returns {Record<string, string>} */
  #headers({ method, params }, sessionId) {
    return {
      Host: `127.0.0.1:${this.#port}`,
      Accept: method ? this.#accepts : 'text/event-stream',
      ...(method && { 'Content-Type': 'application/json' }),
      ...(method !== 'initialize' && { 'MCP-Protocol-Version': this.revision }),
      ...(this.#era === 'stateless' && { 'Mcp-Method': method ?? '' }),
      ...(this.#era === 'stateless' && params?.name && { 'Mcp-Name': params.name }),
      ...(sessionId && { 'Mcp-Session-Id': sessionId }),
    };
  }

  /** @param {'GET' | 'POST'} verb @param {{ method?: string, params?: any }} message @param {string} [sessionId] @param {number} [length] */
  #head(verb, message, sessionId, length) {
    const headers = Object.entries(this.#headers(message, sessionId));
    if (length !== undefined) headers.push(['Content-Length', String(length)]);
    return `${verb} ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  }

  /** @param {{ method: string, params: any }} call @param {Buffer} body @param {string} [sessionId] */
  #frame(call, body, sessionId) {
    return Buffer.concat([Buffer.from(this.#head('POST', call, sessionId, body.length)), body]);
  }

  /** Waits for a message of the server process that has `key`. @param {string} key @returns {Promise<any>} */
  #told(key) {
    const told = new Promise((resolve, reject) => {
      const read = (/** @type {any} */ message) => {
        if (message?.[key] === undefined) return;
        this.#child.off('message', read);
        resolve(message);
      };
      this.#child.on('message', read);
      this.#child.once('exit', () => reject(new Error('the server ended')));
    });
    return within(told, patienceMs, `the server did not report "${key}"`);
  }
}

/** @param {string} answer */
const isRight = (answer) =>
  answer.startsWith('HTTP/1.1 200') && answer.includes('"result":{') && !answer.includes('"isError":true');

/** The answer in a body of either shape. @param {string} type @param {string} text */
function parseBody(type, text) {
  if (!type.startsWith('text/event-stream')) return JSON.parse(text);
  const data = text.split('\n').filter((line) => line.startsWith('data:') && line.length > 6);
  return data.map((line) => JSON.parse(line.slice(5))).find((message) => message.id !== undefined);
}
