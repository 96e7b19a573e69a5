// The bus of a worker: everything goes through the relay in the process that started the workers.

import { monotonicMs } from '../../common/clock.ts';
import type { Logger } from '../../common/logger.ts';
import type { Json } from '../../protocol/model.ts';
import type { Bus, BusListener } from '../../protocol/ports.ts';
import type { BusPort, FromRelay, ToRelay } from './bus-messages.ts';
import { outcomeOf } from './bus-relay.ts';

/** How often a worker makes sure that it has received everything. */
const checkMs = 250;

interface PendingRelayedRequest {
  readonly to: string;
  readonly resolve: (value: Json) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Joins the bus. Resolves when the relay knows this process. */
export function joinBus(port: BusPort<ToRelay, FromRelay>, logger: Logger): Promise<RelayedBus> {
  return new Promise((resolve) => {
    const bus = new RelayedBus(port, logger, () => resolve(bus));
  });
}

export class RelayedBus implements Bus {
  readonly process = crypto.randomUUID().slice(0, 8);
  processes: ReadonlySet<string> = new Set();
  position = 0;
  freshAtMs: number;
  readonly #port: BusPort<ToRelay, FromRelay>;
  readonly #logger: Logger;
  readonly #listeners = new Map<string, BusListener>();
  readonly #leaveListeners: ((process: string) => void)[] = [];
  /** Published messages that have not been received back yet. */
  readonly #published = new Map<number, (position: number) => void>();
  readonly #requests = new Map<number, PendingRelayedRequest>();
  #numbers = 0;
  /** When the check that is under way was sent: while the relay does not respond, nothing is fresh. */
  #checkSentAtMs: number | undefined;
  #onJoined: (() => void) | undefined;
  readonly #checker: ReturnType<typeof setInterval>;

  constructor(port: BusPort<ToRelay, FromRelay>, logger: Logger, onJoined: () => void) {
    this.#port = port;
    this.#logger = logger;
    this.#onJoined = onJoined;
    this.freshAtMs = monotonicMs();
    port.onMessage((message) => this.#receive(message));
    port.send({ type: 'join', process: this.process });
    this.#checker = setInterval(() => this.#check(), checkMs);
    this.#checker.unref();
  }

  #check(): void {
    if (this.#checkSentAtMs !== undefined) return;
    this.#checkSentAtMs = monotonicMs();
    this.#port.send({ type: 'check' });
  }

  close(): void {
    clearInterval(this.#checker);
  }

  publish(topic: string, data: Json): Promise<number> {
    const number = ++this.#numbers;
    return new Promise((resolve) => {
      this.#published.set(number, resolve);
      this.#port.send({ type: 'publish', number, topic, data });
    });
  }

  send(process: string, topic: string, data: Json): void {
    this.#port.send({ type: 'send', to: process, topic, data });
  }

  request(process: string, topic: string, data: Json, timeoutMs: number): Promise<Json> {
    const number = ++this.#numbers;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#fail(number, `no response within ${timeoutMs} ms`), timeoutMs);
      this.#requests.set(number, { to: process, resolve, reject, timer });
      this.#port.send({ type: 'request', to: process, number, topic, data });
    });
  }

  listen(topic: string, listener: BusListener): () => void {
    if (this.#listeners.has(topic)) throw new TypeError(`Two servers with the same name share one bus: ${topic}`);
    this.#listeners.set(topic, listener);
    return () => this.#listeners.delete(topic);
  }

  /** Messages between a parent process and its child are not lost, so there are no gaps. */
  onGap(): void {}

  onLeave(listener: (process: string) => void): void {
    this.#leaveListeners.push(listener);
  }

  #receive(message: FromRelay): void {
    switch (message.type) {
      case 'processes':
        return this.#setProcesses(message.processes, message.position);
      case 'published':
        return this.#receivePublished(message);
      case 'sent':
        return this.#tell(message.topic, message.data, message.from);
      case 'requested': {
        const { from, number, topic, data } = message;
        const run = (): unknown => this.#listeners.get(topic)?.(data, from, this.position);
        void outcomeOf(run).then((outcome) => this.#port.send({ type: 'response', to: from, number, outcome }));
        return;
      }
      case 'responded': {
        const { number, outcome } = message;
        if ('value' in outcome) this.#take(number)?.resolve(outcome.value);
        else this.#fail(number, outcome.error);
        return;
      }
      case 'checked':
        this.freshAtMs = this.#checkSentAtMs ?? this.freshAtMs;
        this.#checkSentAtMs = undefined;
        return;
    }
  }

  #receivePublished({ position, from, number, topic, data }: FromRelay & { readonly type: 'published' }): void {
    this.position = position;
    this.#tell(topic, data, from);
    if (from !== this.process) return;
    this.#published.get(number)?.(position);
    this.#published.delete(number);
  }

  #tell(topic: string, data: Json, from: string): void {
    const failed = (error: unknown): void => this.#logger.error('a message of another worker failed', { topic, error });
    try {
      const told = this.#listeners.get(topic)?.(data, from, this.position);
      if (told instanceof Promise) told.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  #setProcesses(processes: readonly string[], position: number): void {
    const gone = [...this.processes].filter((each) => !processes.includes(each));
    this.processes = new Set(processes);
    if (this.#onJoined !== undefined) {
      this.position = position;
      this.#onJoined();
      this.#onJoined = undefined;
    }
    for (const process of gone) {
      for (const [number, { to }] of this.#requests) if (to === process) this.#fail(number, 'the process has ended');
      for (const listener of this.#leaveListeners) listener(process);
    }
  }

  #fail(number: number, why: string): void {
    this.#take(number)?.reject(new Error(`Another worker did not respond: ${why}`));
  }

  #take(number: number): PendingRelayedRequest | undefined {
    const request = this.#requests.get(number);
    if (request === undefined) return undefined;
    this.#requests.delete(number);
    clearTimeout(request.timer);
    return request;
  }
}
