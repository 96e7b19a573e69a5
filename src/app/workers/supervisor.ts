// Starts the workers that serve one port together, replaces those that end, and carries their bus. Connections are
// distributed by node:cluster, one after the other, so that none is lost when a worker ends.

import cluster, { type Worker as Child } from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { createMemoryExpiringStore } from '../../engine/expiring-store.ts';
import type { StreamLogger } from '../../logging/logger.ts';
import { ownProcess } from '../../transports/http/node/own-process.ts';
import { BusRelay } from './bus-relay.ts';
import { recoverConnections } from './lost-connections.ts';
import { callStore, type FromWorker, relayTopics, type StoreCall, type ToWorker, workerVariable } from './worker.ts';

/** So many failures in that time end the supervisor: something is wrong that a restart does not fix. */
const maxFailures = 5;
const failureWindowMs = 60_000;
/** The wait before a worker is replaced that failed: doubled with each failure. */
const firstDelayMs = 250;
/** How long workers may take to drain before they are killed: longer than their own grace period. */
const endTimeoutMs = 15_000;

export interface SuperviseOptions {
  readonly count: number;
  /** How long workers still serve when the server ends. */
  readonly drainDelayMs: number;
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
  /** Workers that end as soon as another one listens in their place. */
  readonly #leaving = new Set<Child>();
  /** Times of the last failures. */
  #failures: number[] = [];
  #announced = false;
  #restarting = false;
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
    // Not on Windows, which has no such signal.
    if (process.platform !== 'win32') process.on('SIGUSR2', () => void this.#restart());
    // The others follow when the first one listens: what is wrong with the settings is then reported once.
    this.#fork(1);
  }

  /** Replaces all workers, one after the other. */
  async #restart(): Promise<void> {
    if (this.#ending || this.#restarting) return;
    this.#restarting = true;
    this.#options.logger.info('the workers are replaced one after the other');
    for (const child of [...this.#listening]) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (!child.isDead()) child.process.kill('SIGTERM');
      await ended;
    }
    this.#restarting = false;
  }

  /** `old`: the worker that it replaces, and that still serves. */
  #fork(number: number, old?: Child): void {
    const child = cluster.fork({ [workerVariable]: String(number) });
    this.#children.add(child);
    recoverConnections(child);
    const leave = this.#relay.add({
      send: (message) => this.#tell(child, { bus: message }),
      onMessage: (listener) =>
        child.on('message', (message: FromWorker) => {
          if ('bus' in message) listener(message.bus);
        }),
    });
    child.on('message', (message: FromWorker) => {
      if ('bus' in message) return;
      if (message.type === 'leaving') this.#onLeaving(child, number);
      else this.#onListening(child, number, message.url, old);
    });
    // A worker that is killed while something is sent to it.
    child.on('error', (error) => this.#options.logger.debug('a worker cannot be reached', { worker: number, error }));
    child.once('exit', (code, signal) => {
      leave();
      this.#onExit(child, number, code, signal, old);
    });
  }

  #onLeaving(child: Child, number: number): void {
    if (this.#ending || this.#leaving.has(child)) return;
    this.#leaving.add(child);
    this.#fork(number, child);
  }

  #onListening(child: Child, number: number, url: string, old: Child | undefined): void {
    this.#listening.add(child);
    // It was started when the others were told.
    if (this.#ending) return this.#tell(child, { type: 'drain', portIsShared: false });
    if (old !== undefined) this.#tell(old, { type: 'drain', portIsShared: true });
    const { count, onListening, logger } = this.#options;
    if (this.#announced) {
      logger.info('a worker listens', { worker: number, pid: child.process.pid });
      return;
    }
    if (number === 1 && this.#children.size === 1) for (let next = 2; next <= count; next++) this.#fork(next);
    if (this.#listening.size < count) return;
    this.#announced = true;
    onListening(url);
  }

  #onExit(child: Child, number: number, code: number | null, signal: string | null, old: Child | undefined): void {
    this.#children.delete(child);
    const wasListening = this.#listening.delete(child);
    // Another one has been started in its place.
    if (this.#leaving.delete(child) || this.#ending) return;
    // It has reported why.
    if (!wasListening && !this.#announced) return this.#stop(code ?? 1);
    const { logger } = this.#options;
    const replaced = wasListening ? undefined : old;
    if (code === 0) return this.#fork(number, replaced);
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
      if (!this.#ending) this.#fork(number, replaced);
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
    this.#tellAll({ type: 'drain', portIsShared: false });
    const timer = setTimeout(() => {
      for (const child of children) child.process.kill('SIGKILL');
    }, endTimeoutMs + this.#options.drainDelayMs);
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
