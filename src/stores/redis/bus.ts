// The bus between processes on any number of machines, through streams of Redis. After a lost connection it continues
// where it was, so nothing is missed; if that is not possible, it reports a gap.

import { monotonicMs } from '../../common/clock.ts';
import type { Logger } from '../../common/logger.ts';
import type { Json } from '../../protocol/model.ts';
import type { Bus, BusListener, PastMessages } from '../../protocol/ports.ts';
import { type BusEntry, type BusMessage, parseEntry, parseMessage } from './bus-messages.ts';
import { BusReader } from './bus-reader.ts';
import { type BusKeys, BusWriter } from './bus-writer.ts';
import type { RedisConnection } from './connection.ts';
import type { Reply } from './driver.ts';
import { Members, type MembersOptions } from './members.ts';

/** Published messages that a process reads when it starts, and the characters of all of them. */
const maxPast = 5_000;
const maxPastLength = 4 * 1024 * 1024;
const pastPage = 500;
/** How long they are kept for listeners that are set after the start. */
const pastMs = 30_000;

interface PendingBusRequest {
  readonly to: string;
  readonly resolve: (value: Json) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

interface PastMessage {
  readonly topic: string;
  readonly data: Json;
  readonly from: string;
  readonly position: number;
}

export interface RedisBusOptions extends Omit<MembersOptions, 'mailbox'> {
  readonly logger: Logger;
}

export class RedisBus implements Bus {
  readonly process = crypto.randomUUID().slice(0, 8);
  processes: ReadonlySet<string> = new Set([this.process]);
  position = 0;
  readonly #logger: Logger;
  readonly #writer: BusWriter;
  readonly #members: Members;
  #reader!: BusReader;
  readonly #listeners = new Map<string, BusListener>();
  readonly #gapListeners: (() => void)[] = [];
  readonly #leaveListeners: ((process: string) => void)[] = [];
  /** Published and not received back yet, by number. */
  readonly #published = new Map<number, (position: number) => void>();
  readonly #requests = new Map<number, PendingBusRequest>();
  #past: PastMessage[] | undefined = [];
  #pastFrom = 0;
  #epoch = '';
  /** Set while the others may not know this process, so that they do not wait for it. */
  #unknownSinceMs: number | undefined;
  #rejoins = 0;

  /** Joins the other processes. `reader`: a connection of its own, since it waits most of the time. */
  static async join(redis: RedisConnection, reader: RedisConnection, options: RedisBusOptions): Promise<RedisBus> {
    const { prefix } = options;
    const keys: BusKeys = {
      stream: `${prefix}bus`,
      mailbox: (process) => `${prefix}to:${process}`,
      large: (process, number) => `${prefix}large:${process}:${number}`,
    };
    const bus = new RedisBus(redis, reader, keys, options);
    await bus.#join(redis, reader, keys);
    return bus;
  }

  private constructor(
    redis: RedisConnection,
    reader: RedisConnection,
    keys: BusKeys,
    { logger, ...options }: RedisBusOptions,
  ) {
    this.#logger = logger;
    this.#writer = new BusWriter(redis, keys, this.process, () => this.position, logger);
    this.#members = new Members(reader, this.process, { ...options, mailbox: keys.mailbox(this.process) }, logger);
  }

  async #join(redis: RedisConnection, reader: RedisConnection, keys: BusKeys): Promise<void> {
    const others = await this.#members.join();
    this.#epoch = this.#members.epoch;
    this.processes = new Set([this.process, ...others]);
    const last = await this.#readPast(redis, keys.stream);
    this.position = last?.position ?? 0;
    const names = { stream: keys.stream, mailbox: keys.mailbox(this.process) };
    this.#reader = new BusReader(
      reader,
      names,
      last,
      {
        receive: (message, from, number, position) => this.#receive(message, from, number, position),
        gap: () => this.#gap(),
        lost: () => this.#members.connectionLost(),
      },
      this.#logger,
    );
    this.#members.start(
      (processes) => this.#setProcesses(processes),
      () => this.#rejoin(),
      () => [...this.processes].filter((each) => each !== this.process),
    );
    setTimeout(() => {
      this.#past = undefined;
    }, pastMs).unref();
    // The others must know this process before a client sends them something for it.
    await this.#publishMessage({ type: 'joined' });
  }

  /** The others took this process for one that has ended. Once its own message is received, so is everything before it. */
  #rejoin(): void {
    const rejoin = ++this.#rejoins;
    this.#unknownSinceMs ??= this.freshAtMs;
    void this.#publishMessage({ type: 'joined' }).then(() => {
      if (rejoin === this.#rejoins) this.#unknownSinceMs = undefined;
    });
  }

  /** Reads what was published lately, newest first. Returns the newest entry. */
  async #readPast(redis: RedisConnection, stream: string): Promise<BusEntry | undefined> {
    let newest: BusEntry | undefined;
    let oldest: BusEntry | undefined;
    let length = 0;
    const past: PastMessage[] = [];
    for (let read = 0; read < maxPast && length < maxPastLength; read += pastPage) {
      const before = oldest === undefined ? '+' : `(${oldest.id}`;
      const page = (await redis.send('XREVRANGE', stream, before, '-', 'COUNT', String(pastPage))) as readonly Reply[];
      for (const reply of page) {
        const entry = parseEntry(reply);
        if ('unknown' in entry) continue;
        newest ??= entry;
        oldest = entry;
        length += entry.text?.length ?? 0;
        const message = entry.text === undefined ? undefined : parseMessage(entry.text);
        if (message?.type === 'message') past.push({ ...message, from: entry.from, position: entry.position });
      }
      if (page.length < pastPage) break;
    }
    this.#past = past.reverse();
    // The first entry has the index 1: nothing was published before it.
    this.#pastFrom = oldest === undefined || oldest.index === 1 ? 0 : oldest.position - 1;
    return newest;
  }

  get freshAtMs(): number {
    return this.#unknownSinceMs ?? Math.min(this.#reader.freshAtMs, this.#members.freshUntilMs);
  }

  get epoch(): string {
    return this.#epoch;
  }

  publish(topic: string, data: Json): Promise<number> {
    return this.#publishMessage({ type: 'message', topic, data });
  }

  #publishMessage(message: BusMessage): Promise<number> {
    return new Promise((resolve) => this.#published.set(this.#writer.add(undefined, message), resolve));
  }

  send(process: string, topic: string, data: Json): void {
    this.#writer.add(process, { type: 'message', topic, data });
  }

  request(process: string, topic: string, data: Json, timeoutMs: number): Promise<Json> {
    if (!this.processes.has(process)) return Promise.reject(failure('the process has ended'));
    const number = this.#writer.add(process, { type: 'request', topic, data });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#fail(number, `no response within ${timeoutMs} ms`), timeoutMs);
      this.#requests.set(number, { to: process, resolve, reject, timer });
    });
  }

  listen(topic: string, listener: BusListener): () => void {
    if (this.#listeners.has(topic)) throw new TypeError(`Two servers with the same name share one bus: ${topic}`);
    this.#listeners.set(topic, listener);
    return () => this.#listeners.delete(topic);
  }

  past(topic: string): PastMessages {
    if (this.#past === undefined) return { from: this.position, messages: [] };
    return { from: this.#pastFrom, messages: this.#past.filter((each) => each.topic === topic) };
  }

  onGap(listener: () => void): void {
    this.#gapListeners.push(listener);
  }

  onLeave(listener: (process: string) => void): void {
    this.#leaveListeners.push(listener);
  }

  /** How long it has been since all published messages were certainly received. */
  get ageMs(): number {
    return monotonicMs() - this.freshAtMs;
  }

  async close(): Promise<void> {
    const left = this.#members.leave().catch(() => {});
    void this.#writer.add(undefined, { type: 'left' });
    await Promise.all([left, this.#writer.drain(500)]);
    this.#writer.close();
    this.#reader.close();
    for (const number of [...this.#requests.keys()]) this.#fail(number, 'the server is closing');
  }

  #receive(message: BusMessage, from: string, number: number, position: number | undefined): void {
    if (position !== undefined) this.position = position;
    if (from !== this.process && !this.processes.has(from) && message.type !== 'left') {
      this.processes = new Set([...this.processes, from]);
    }
    switch (message.type) {
      case 'message':
        if (position !== undefined && this.#past !== undefined && !this.#listeners.has(message.topic)) {
          this.#past.push({ ...message, from, position });
        }
        this.#tell(message.topic, message.data, from);
        break;
      case 'request':
        void this.#respond(message, from, number);
        break;
      case 'response':
        if (message.error !== undefined) this.#fail(message.to, message.error);
        else this.#take(message.to)?.resolve(message.value ?? null);
        break;
      case 'left':
        if (from !== this.process) this.#setProcesses([...this.processes].filter((each) => each !== from));
        break;
      case 'gap':
        this.#gap();
        break;
    }
    if (from !== this.process || position === undefined) return;
    this.#published.get(number)?.(position);
    this.#published.delete(number);
  }

  #tell(topic: string, data: Json, from: string): void {
    const failed = (error: unknown): void =>
      this.#logger.error('a message of another process failed', { topic, error });
    try {
      const told = this.#listeners.get(topic)?.(data, from, this.position);
      if (told instanceof Promise) told.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  async #respond({ topic, data }: BusMessage & { readonly type: 'request' }, from: string, to: number): Promise<void> {
    try {
      const value = (await this.#listeners.get(topic)?.(data, from, this.position)) ?? null;
      this.#writer.add(from, { type: 'response', to, value });
    } catch (error) {
      this.#writer.add(from, { type: 'response', to, error: (error as Error).message });
    }
  }

  #setProcesses(others: readonly string[]): void {
    const processes = new Set([this.process, ...others]);
    const gone = [...this.processes].filter((each) => !processes.has(each));
    this.processes = processes;
    for (const process of gone) {
      this.#reader.forget(process);
      for (const [number, { to }] of this.#requests) if (to === process) this.#fail(number, 'the process has ended');
      for (const listener of this.#leaveListeners) this.#call(() => listener(process));
    }
    if (this.#members.epoch === this.#epoch) return;
    this.#logger.warn('Redis has lost its data: all sessions end, and clients initialize again');
    this.#epoch = this.#members.epoch;
    this.#gap();
  }

  #gap(): void {
    // The missing messages will not be received.
    for (const [number, resolve] of this.#published) {
      if (number > this.#writer.sent) continue;
      this.#published.delete(number);
      resolve(this.position);
    }
    for (const listener of this.#gapListeners) this.#call(listener);
  }

  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#logger.error('a listener of the bus failed', { error });
    }
  }

  #fail(number: number, why: string): void {
    this.#take(number)?.reject(failure(why));
  }

  #take(number: number): PendingBusRequest | undefined {
    const request = this.#requests.get(number);
    if (request === undefined) return undefined;
    this.#requests.delete(number);
    clearTimeout(request.timer);
    return request;
  }
}

const failure = (why: string): Error => new Error(`Another process did not respond: ${why}`);
