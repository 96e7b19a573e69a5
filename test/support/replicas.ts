// Several servers with one key, one store and one bus, as if each were a process of its own, for tests of what crosses between them.
import { randomBytes } from 'node:crypto';
import { createMemoryExpiringStore } from '../../src/engine/expiring-store.ts';
import {
  createServer,
  type HttpOptions,
  type HttpServer,
  type Server,
  type ServerOptions,
  serveHttp,
} from '../../src/index.ts';
import type { Bus, ExpiringStore } from '../../src/protocol/ports.ts';
import { TestBuses, type TestProcess } from './bus.ts';
import { both, EventReader, HttpTestClient } from './http-client.ts';

export interface Replica extends Omit<TestProcess, 'bus'> {
  readonly bus: Bus;
  readonly server: Server;
  readonly http: HttpServer;
  readonly client: HttpTestClient;
  /** As when the process is killed: its connections break, and what it still does has no effect. */
  kill(): void;
}

/** The store as one process reaches it. */
class StoreOfProcess implements ExpiringStore {
  readonly #store: ExpiringStore;
  isLost = false;

  constructor(store: ExpiringStore) {
    this.#store = store;
  }

  get: ExpiringStore['get'] = (key) => this.#reach(() => this.#store.get(key));
  set: ExpiringStore['set'] = (...args) => this.#reach(() => this.#store.set(...args));
  add: ExpiringStore['add'] = (...args) => this.#reach(() => this.#store.add(...args));
  replace: ExpiringStore['replace'] = (...args) =>
    this.#reach(() => this.#store.replace?.(...args) as Promise<boolean>);
  delete: ExpiringStore['delete'] = (key) => this.#reach(() => this.#store.delete(key));

  #reach<T>(call: () => T | Promise<T>): T | Promise<T> {
    return this.isLost ? new Promise<T>(() => {}) : call();
  }
}

export type CreateServer = (shared: Partial<ServerOptions>) => Server;

/** A server with the features that `install` adds. */
export const serverWith =
  (install: (server: Server) => void): CreateServer =>
  (shared) => {
    const server = createServer({ name: 'replica', version: '1', ...shared });
    install(server);
    return server;
  };

/** Servers that share everything, whatever connects them. */
export interface ReplicaGroup {
  /** Streams of a server that has ended can be resumed. */
  readonly keepsEvents: boolean;
  /** What the store was asked for, by kind of key: `revoked`, `state`, `stream`. */
  readonly reads: string[];
  /** What was stored last, by kind of key. */
  readonly written: ReadonlyMap<string, unknown>;
  start(install: (server: Server) => void, options?: HttpOptions): Promise<Replica>;
  /** `create`: makes the server with what it shares. */
  startServer(create: CreateServer, options?: HttpOptions): Promise<Replica>;
  close(): Promise<void>;
}

/** A store that notes what it is asked for. */
export function noted(own: ExpiringStore, reads: string[], written: Map<string, unknown>): ExpiringStore {
  const kindOf = (key: string): string => key.split(' ')[0] as string;
  return {
    get: (key) => {
      reads.push(kindOf(key));
      return own.get(key);
    },
    set: (...args) => {
      written.set(kindOf(args[0]), args[1]);
      return own.set(...args);
    },
    add: (...args) => own.add(...args),
    replace: (...args) => (own.replace as NonNullable<ExpiringStore['replace']>)(...args),
    delete: (key) => own.delete(key),
  };
}

export class Replicas implements ReplicaGroup {
  readonly keepsEvents = false;
  readonly buses = new TestBuses();
  readonly all: Replica[] = [];
  readonly #key = randomBytes(32);
  readonly #own = createMemoryExpiringStore();
  readonly reads: string[] = [];
  readonly written = new Map<string, unknown>();

  /** Answers later, with copies, as a store elsewhere would. */
  readonly store = noted(
    {
      get: (key) => later(() => this.#own.get(key)),
      set: (...args) => later(() => this.#own.set(...args)) as Promise<void>,
      add: (...args) => later(() => this.#own.add(...args)) as Promise<boolean>,
      replace: (...args) => later(() => this.#own.replace?.(...args)) as Promise<boolean>,
      delete: (key) => later(() => this.#own.delete(key)) as Promise<void>,
    },
    this.reads,
    this.written,
  );

  start(install: (server: Server) => void, options: HttpOptions = {}): Promise<Replica> {
    return this.startServer(serverWith(install), options);
  }

  async startServer(create: CreateServer, options: HttpOptions = {}): Promise<Replica> {
    const joined = await this.buses.join();
    const store = new StoreOfProcess(this.store);
    const server = create({ key: this.#key, store, bus: joined.bus });
    const http = await serveHttp(server, { port: 0, graceMs: 100, ...options });
    const client = new HttpTestClient(http.port);
    const kill = (): void => {
      store.isLost = true;
      joined.leave();
      client.close();
    };
    const replica = { ...joined, server, http, client, kill };
    this.all.push(replica);
    return replica;
  }

  async close(): Promise<void> {
    for (const { client } of this.all) client.close();
    await Promise.all(this.all.map(({ http }) => http.close()));
    this.buses.close();
  }
}

function later<T>(read: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      Promise.resolve()
        .then(read)
        .then((value) => resolve(value === undefined ? value : structuredClone(value)), reject);
    });
  });
}

/** Posts a request of a session and gives its response as a stream. */
export async function openPost(client: HttpTestClient, session: string, body: object): Promise<EventReader> {
  return new EventReader(await client.open({ body, headers: { Accept: both, 'Mcp-Session-Id': session } }));
}

/** Opens the standalone stream of a session, or resumes a stream. */
export async function openGet(client: HttpTestClient, session: string, last?: string): Promise<EventReader> {
  const resume = last === undefined ? {} : { 'Last-Event-ID': last };
  const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': session, ...resume };
  const reader = new EventReader(await client.open({ method: 'GET', headers }));
  await reader.begun();
  return reader;
}

export const lastEventId = (stream: EventReader): string =>
  stream.events.findLast(({ id }) => id !== undefined)?.id ?? '';
