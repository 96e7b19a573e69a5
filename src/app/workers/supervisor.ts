// Starts the workers that serve one port together, replaces those that end, and relays their bus. How they get connections is in
// shared-port.ts.

import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { monotonicMs } from '../../common/clock.ts';
import { createMemoryExpiringStore } from '../../engine/expiring-store.ts';
import type { StreamLogger } from '../../logging/logger.ts';
import { ownProcess } from '../../transports/own-process.ts';
import { BusRelay } from './bus-relay.ts';
import { SharedPort } from './shared-port.ts';
import { callStore, type StoreCall, workerVariable } from './worker.ts';
import { type FromWorker, type OpenedPort, relayTopics, type ToWorker } from './worker-messages.ts';

/** This many failures in this time end the supervisor: a restart does not fix the cause. */
const maxFailures = 5;
const failureWindowMs = 60_000;
/** The delay before a failed worker is replaced; it doubles with each failure. */
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
  readonly #children = new Set<ChildProcess>();
  readonly #listening = new Set<ChildProcess>();
  /** Workers that end as soon as another one listens in their place. */
  readonly #leaving = new Set<ChildProcess>();
  /** The port of the workers that start now, and the address that they ask for: replaced workers may have other settings. */
  #opening: { readonly address: string; readonly port: Promise<SharedPort> } | undefined;
  #port: SharedPort | undefined;
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
    this.#relay.serve(relayTopics.port, (address) => this.#openPort(...(address as [string, number])));
    this.#relay.serve(relayTopics.store, (call) => callStore(store, call as unknown as StoreCall));
  }

  start(): void {
    ownProcess(
      { close: async () => {} },
      () => this.#close(),
      this.#options.logger,
      () => this.#tellAll({ type: 'reload' }),
    );
    // Not on Windows, which has no such signal.
    if (process.platform !== 'win32') process.on('SIGUSR2', () => void this.#restart());
    // The others start when the first one listens, so that an error in the settings is reported once.
    this.#fork(1);
  }

  /** Replaces all workers, one after the other. */
  async #restart(): Promise<void> {
    if (this.#ending || this.#restarting) return;
    this.#restarting = true;
    this.#options.logger.info('the workers are replaced one after the other');
    for (const child of [...this.#listening]) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    }
    this.#restarting = false;
  }

  /** `old`: the worker that it replaces, and that still serves. */
  #fork(number: number, old?: ChildProcess): void {
    const [, program, ...args] = process.argv;
    const child = fork(program as string, args, { env: { ...process.env, [workerVariable]: String(number) } });
    this.#children.add(child);
    let port: SharedPort | undefined;
    const leave = this.#relay.add({
      send: (message) => this.#tell(child, { bus: message }),
      onMessage: (listener) =>
        child.on('message', (message: FromWorker) => {
          if ('bus' in message) listener(message.bus);
        }),
    });
    child.on('message', (message: FromWorker) => {
      if ('bus' in message) return;
      switch (message.type) {
        case 'leaving':
          return this.#onLeaving(child, number);
        case 'listening':
          port = this.#port;
          port?.add(child);
          return this.#onListening(child, number, message.url, old);
        case 'connection':
          return port?.onResponse(child, message.number, message.accepted);
        case 'closing':
          return port?.remove(child);
      }
    });
    // Emitted for a worker that is killed while something is sent to it.
    child.on('error', (error) => this.#options.logger.debug('a worker cannot be reached', { worker: number, error }));
    child.once('exit', (code, signal) => {
      leave();
      this.#onExit(child, number, code, signal, old);
    });
    // Later than `exit`: nothing that it sent is still to be read.
    child.once('close', () => port?.onEnd(child));
  }

  /** Opens the port for the first worker that asks for this address. */
  async #openPort(host: string, port: number): Promise<OpenedPort> {
    const address = `${host} ${port}`;
    const before = this.#opening;
    const opening = before?.address === address ? before : { address, port: SharedPort.open(host, port) };
    this.#opening = opening;
    try {
      const opened = await opening.port;
      if (this.#port !== opened) this.#port?.closeAfterLast();
      this.#port = opened;
      return { port: opened.port, reusePort: opened.reusePort };
    } catch (error) {
      if (this.#opening === opening) this.#opening = before === opening ? undefined : before;
      const { code = '', message } = error as NodeJS.ErrnoException;
      return { code, message };
    }
  }

  #onLeaving(child: ChildProcess, number: number): void {
    if (this.#ending || this.#leaving.has(child)) return;
    this.#leaving.add(child);
    this.#fork(number, child);
  }

  #onListening(child: ChildProcess, number: number, url: string, old: ChildProcess | undefined): void {
    this.#listening.add(child);
    // It was started after the message to all workers.
    if (this.#ending) return this.#tell(child, { type: 'drain', portIsShared: false });
    if (old !== undefined) this.#tell(old, { type: 'drain', portIsShared: true });
    const { count, onListening, logger } = this.#options;
    if (this.#announced) {
      logger.info('a worker listens', { worker: number, pid: child.pid });
      return;
    }
    if (number === 1 && this.#children.size === 1) for (let next = 2; next <= count; next++) this.#fork(next);
    if (this.#listening.size < count) return;
    this.#announced = true;
    onListening(url);
  }

  #onExit(
    child: ChildProcess,
    number: number,
    code: number | null,
    signal: string | null,
    old: ChildProcess | undefined,
  ): void {
    this.#children.delete(child);
    const wasListening = this.#listening.delete(child);
    // Another worker has been started in its place.
    if (this.#leaving.delete(child) || this.#ending) return;
    // The worker has reported why.
    if (!wasListening && !this.#announced) return this.#stop(code ?? 1);
    const { logger } = this.#options;
    const replaced = wasListening ? undefined : old;
    if (code === 0) return this.#fork(number, replaced);
    const now = monotonicMs();
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
    this.#port?.closeAfterLast();
    const children = [...this.#children];
    const ended = children.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    this.#tellAll({ type: 'drain', portIsShared: false });
    const timer = setTimeout(() => {
      for (const child of children) child.kill('SIGKILL');
    }, endTimeoutMs + this.#options.drainDelayMs);
    await Promise.all(ended);
    clearTimeout(timer);
  }

  #tellAll(message: ToWorker): void {
    for (const child of this.#children) this.#tell(child, message);
  }

  #tell(child: ChildProcess, message: ToWorker): void {
    if (child.connected) child.send(message as object);
  }
}
