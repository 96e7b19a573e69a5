// The worker's side: joins the bus of the process that started it, reports when it listens, and ends on request.

import type { Socket } from 'node:net';
import type { StreamLogger } from '../../logging/logger.ts';
import type { Json } from '../../protocol/model.ts';
import type { Bus, ExpiringStore } from '../../protocol/ports.ts';
import type { Listener } from '../../transports/http/node/listener.ts';
import { type BusPort, type FromRelay, relayProcess, type ToRelay } from './bus-messages.ts';
import { PassedConnections, type WorkerChannel } from './passed-connections.ts';
import { joinBus } from './relayed-bus.ts';
import { type OpenedPort, relayTopics, type ToWorker } from './worker-messages.ts';

/** Set in the environment of a worker: its number. */
export const workerVariable = 'MOORING_WORKER';

const requestTimeoutMs = 5_000;

/** A message that cannot be sent: the event `disconnect` follows. */
const ignoreError = (): void => {};

/** `portIsShared`: other workers continue to serve. */
type CloseWorker = (portIsShared: boolean) => Promise<void>;

/** This process as a worker. */
export interface WorkerProcess {
  /** Adds the number of the worker to each line. */
  readonly logger: StreamLogger;
  readonly bus: Bus;
  /** Seals sessions if no key is configured; all workers have the same one. */
  key(): Promise<Uint8Array>;
  /** In the memory of the supervisor: what no worker may forget. */
  readonly store: ExpiringStore;
  /** Where its connections come from. */
  readonly listener: Listener;
  listening(url: string): void;
  /** Leaves the other workers, when this one cannot start. */
  close(): Promise<void>;
  /** Ends the process when the supervisor asks for it, or has ended. `reload` is called on its request. */
  own(close: CloseWorker, reload: () => void): void;
}

/** Joins the other workers. Undefined in a process that was not started as a worker. */
export async function joinWorkers(processLogger: StreamLogger): Promise<WorkerProcess | undefined> {
  const number = process.env[workerVariable];
  if (number === undefined) return undefined;
  // The process that started it has ended meanwhile. It must not serve on its own.
  if (process.connected !== true) process.exit(1);
  const logger = processLogger.child({ worker: Number(number) });
  // Programs that this one starts are not workers.
  delete process.env[workerVariable];
  const send: WorkerChannel['send'] = (message, onSent) => {
    if (process.connected === true) process.send?.(message, undefined, undefined, onSent ?? ignoreError);
    else onSent?.(new Error('the process that started this one has ended'));
  };
  const onStartEnd = (): never => process.exit(1);
  process.once('disconnect', onStartEnd);
  const port: BusPort<ToRelay, FromRelay> = {
    send: (message) => send({ bus: message }),
    onMessage: (listener) =>
      process.on('message', (message: ToWorker) => {
        if ('bus' in message) listener(message.bus);
      }),
  };
  const bus = await joinBus(port, logger);
  return {
    logger,
    bus,
    async key() {
      const key = await bus.request(relayProcess, relayTopics.key, null, requestTimeoutMs);
      return Buffer.from(key as string, 'base64');
    },
    store: relayedStore(bus),
    listener: new PassedConnections({
      send,
      onConnection: (listener) =>
        process.on('message', (message: ToWorker, socket: Socket | undefined) => {
          if (!('bus' in message) && message.type === 'connection') listener(message.number, socket);
        }),
      openPort: async (...address) =>
        (await bus.request(relayProcess, relayTopics.port, address, requestTimeoutMs)) as unknown as OpenedPort,
    }),
    listening: (url) => send({ type: 'listening', url }),
    async close() {
      bus.close();
      // The process still has to report why it cannot start.
      process.off('disconnect', onStartEnd);
      if (process.connected === true) process.disconnect();
    },
    own(close, reload) {
      process.off('disconnect', onStartEnd);
      ownWorker(close, reload, () => send({ type: 'leaving' }), logger);
    },
  };
}

/** A call of the store: the name of the method and its arguments. An empty list stands for undefined. */
export type StoreCall = readonly [method: keyof ExpiringStore, ...args: (readonly [Json?])[]];

function relayedStore(bus: Bus): ExpiringStore {
  const call = (...[method, ...args]: [keyof ExpiringStore, ...(Json | undefined)[]]): Promise<Json> =>
    bus.request(
      relayProcess,
      relayTopics.store,
      [method, ...args.map((each) => (each === undefined ? [] : [each]))],
      requestTimeoutMs,
    );
  return {
    get: async (key) => (await call('get', key)) ?? undefined,
    set: async (key, value, ttlMs, owner) => void (await call('set', key, value, ttlMs, owner)),
    add: async (key, value, ttlMs) => (await call('add', key, value, ttlMs)) === true,
    replace: async (key, expected, value, ttlMs, owner) =>
      (await call('replace', key, expected, value, ttlMs, owner)) === true,
    delete: async (key) => void (await call('delete', key)),
  };
}

/** Serves the store of the workers. */
export function callStore(store: ExpiringStore, call: StoreCall): Json | undefined | Promise<Json | undefined> {
  const [method, ...args] = call;
  const run = store[method] as
    | ((...args: (Json | undefined)[]) => Json | undefined | Promise<Json | undefined>)
    | undefined;
  return run?.(...args.map(([value]) => value));
}

/**
 * A terminal sends its signals to all processes, so a worker leaves SIGINT and SIGHUP to the supervisor. SIGTERM for one
 * worker drains it, as soon as the supervisor has started another one.
 */
function ownWorker(close: CloseWorker, reload: () => void, leave: () => void, logger: StreamLogger): void {
  let isEnding = false;
  const exit = async (code: number, portIsShared = false): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    try {
      await close(portIsShared);
    } catch (error) {
      logger.error('closing failed', { error });
    }
    await logger.flush();
    process.exit(code);
  };
  const onFatal = (kind: string) => (error: unknown) => {
    logger.error(kind, { error });
    void exit(1);
  };
  process.on('message', (message: ToWorker) => {
    if ('bus' in message) return;
    if (message.type === 'drain') void exit(0, message.portIsShared);
    else if (message.type === 'reload') reload();
  });
  process.on('disconnect', () => void exit(0, true));
  let signals = 0;
  process.on('SIGTERM', () => {
    if (++signals === 1) leave();
    else void exit(0, true);
  });
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  process.on('uncaughtException', onFatal('uncaught exception'));
  process.on('unhandledRejection', onFatal('unhandled rejection'));
}
