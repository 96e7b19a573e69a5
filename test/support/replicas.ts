// Several servers with one key, one store and one bus, as if each were a process of its own, for tests of what crosses between them.
import { randomBytes } from 'node:crypto';
import { createMemoryExpiringStore } from '../../src/engine/expiring-store.ts';
import { createServer, type HttpOptions, type HttpServer, type Server, serveHttp } from '../../src/index.ts';
import type { ExpiringStore } from '../../src/protocol/ports.ts';
import { TestBuses, type TestProcess } from './bus.ts';
import { both, EventReader, HttpTestClient } from './http-client.ts';

export interface Replica extends TestProcess {
  readonly server: Server;
  readonly http: HttpServer;
  readonly client: HttpTestClient;
}

export class Replicas {
  readonly buses = new TestBuses();
  readonly all: Replica[] = [];
  readonly #key = randomBytes(32);
  readonly #own = createMemoryExpiringStore();
  /** What the store was asked for, by kind of key: `revoked`, `state`, `stream`. */
  readonly reads: string[] = [];
  /** What was stored last, by kind of key. */
  readonly written = new Map<string, unknown>();

  /** Answers later, with copies, as a store elsewhere would. */
  readonly store: ExpiringStore = {
    get: (key) => {
      this.reads.push(key.split(' ')[0] as string);
      return later(() => this.#own.get(key));
    },
    set: (...args) =>
      later(() => {
        this.written.set(args[0].split(' ')[0] as string, args[1]);
        return this.#own.set(...args);
      }) as Promise<void>,
    add: (...args) => later(() => this.#own.add(...args)) as Promise<boolean>,
    replace: (...args) => later(() => this.#own.replace?.(...args)) as Promise<boolean>,
    delete: (key) => later(() => this.#own.delete(key)) as Promise<void>,
  };

  async start(install: (server: Server) => void, options: HttpOptions = {}): Promise<Replica> {
    const joined = await this.buses.join();
    const server = createServer({ name: 'replica', version: '1', key: this.#key, store: this.store, bus: joined.bus });
    install(server);
    const http = await serveHttp(server, { port: 0, graceMs: 100, ...options });
    const replica = { ...joined, server, http, client: new HttpTestClient(http.port) };
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
  return new EventReader(await client.open({ method: 'GET', headers }));
}

export const lastEventId = (stream: EventReader): string =>
  stream.events.findLast(({ id }) => id !== undefined)?.id ?? '';
