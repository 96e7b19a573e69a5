// Starts the workers that serve one port together, replaces those that end, and carries their bus. Connections are
// distributed by node:cluster, one after the other, so that none is lost when a worker ends.

import cluster, { type Worker as Child } from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { createMemoryExpiringStore } from '../../engine/expiring-store.ts';
import type { StreamLogger } from '../../logging/logger.ts';
import { ownProcess } from '../../transports/http/node/own-process.ts';
import { BusRelay } from './bus-relay.ts';
import { callStore, type FromWorker, relayTopics, type StoreCall, type ToWorker, workerVariable } from './worker.ts';

/** So many failures in that time end the supervisor: something is wrong that a restart does not fix. */
const maxFailures = 5;
const failureWindowMs = 60_000;
/** The wait before a worker is replaced that failed: doubled with each failure. */
const firstDelayMs = 250;
/** How much longer than its own grace period a worker may take to end. */
const endTimeoutMs = 15_000;

export interface SuperviseOptions {
  readonly count: number;
  readonly logger: StreamLogger;
  /** Called when all workers listen for the first time. */
  readonly onListening: (url: string) => void;
}

/** Serves with workers until the process is stopped. Resolves with an exit code if they cannot be started. */
export function supervise(options: SuperviseOptions): Promise<number> {
  return new Promise((resolve) => new Supervisor(options, resolve).start());
}

class Supervisor {
  readonly #options: SuperviseOptions;
  readonly #giveUp: (code: number) => void;
  readonly #relay = new BusRelay();
  readonly #children = new Set<Child>();
  readonly #listening = new Set<Child>();
  /** Times of the last failures. */
  #failures: number[] = [];
  #announced = false;
  #ending = false;

  constructor(options: SuperviseOptions, giveUp: (code: number) => void) {
    this.#options = options;
    this.#giveUp = giveUp;
    const key = randomBytes(32).toString('base64');
    const store = createMemoryExpiringStore();
    this.#relay.serve(relayTopics.key, () => key);
    this.#relay.serve(relayTopics.store, (call) => callStore(store, call as unknown as StoreCall));
  }

  start(): void {
    const [, program, ...args] = process.argv;
    cluster.setupPrimary({ exec: program as string, args });
    ownProcess(
      { close: async () => {} },
      () => this.#close(),
      this.#options.logger,
      () => this.#tellAll({ type: 'reload' }),
    );
    // The others follow when the first one listens: what is wrong with the settings is then reported once.
    this.#fork(1);
  }

  #fork(number: number): void {
    const child = cluster.fork({ [workerVariable]: String(number) });
    this.#children.add(child);
    const leave = this.#relay.add({
      send: (message) => this.#tell(child, { bus: message }),
      onMessage: (listener) =>
        child.on('message', (message: FromWorker) => {
          if ('bus' in message) listener(message.bus);
        }),
    });
    child.on('message', (message: FromWorker) => {
      if ('type' in message) this.#onListening(child, number, message.url);
    });
    // A worker that is killed while something is sent to it.
    child.on('error', (error) => this.#options.logger.debug('a worker cannot be reached', { worker: number, error }));
    child.once('exit', (code, signal) => {
      leave();
      this.#onExit(child, number, code, signal);
    });
  }

  #onListening(child: Child, number: number, url: string): void {
    this.#listening.add(child);
    if (this.#announced) return;
    const { count, onListening } = this.#options;
    if (number === 1 && this.#children.size === 1) for (let next = 2; next <= count; next++) this.#fork(next);
    if (this.#listening.size < count) return;
    this.#announced = true;
    onListening(url);
  }

  #onExit(child: Child, number: number, code: number | null, signal: string | null): void {
    this.#children.delete(child);
    const wasListening = this.#listening.delete(child);
    if (this.#ending) return;
    // It has reported why.
    if (!wasListening && !this.#announced) return this.#stop(code ?? 1);
    const { logger } = this.#options;
    if (code === 0) return this.#fork(number);
    const now = Date.now();
    this.#failures = [...this.#failures.filter((at) => at > now - failureWindowMs), now];
    if (this.#failures.length >= maxFailures) {
      logger.error(`${maxFailures} workers have ended unexpectedly within a minute, so the server stops`, {
        code,
        signal,
      });
      return this.#stop(1);
    }
    const delayMs = firstDelayMs * 2 ** (this.#failures.length - 1);
    logger.error('a worker has ended unexpectedly and is replaced', { worker: number, code, signal, delayMs });
    setTimeout(() => {
      if (!this.#ending) this.#fork(number);
    }, delayMs);
  }

  /** Ends the other workers and then the supervisor. */
  #stop(code: number): void {
    void this.#close().then(() => {
      this.#giveUp(code);
    });
  }

  async #close(): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    const children = [...this.#children];
    const ended = children.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    this.#tellAll({ type: 'drain' });
    const timer = setTimeout(() => {
      for (const child of children) child.process.kill('SIGKILL');
    }, endTimeoutMs);
    await Promise.all(ended);
    clearTimeout(timer);
  }

  #tellAll(message: ToWorker): void {
    for (const child of this.#children) this.#tell(child, message);
  }

  #tell(child: Child, message: ToWorker): void {
    if (child.isConnected()) child.send(message as object);
  }
}
