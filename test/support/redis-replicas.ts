// Several servers with one key that share a Redis, each with connections of its own, as if each were a process on another machine.

import { randomBytes } from 'node:crypto';
import { type HttpOptions, type Server, serveHttp } from '../../src/index.ts';
import { openRedis, type RedisOptions, type RedisStores } from '../../src/stores/redis/index.ts';
import { HttpTestClient } from './http-client.ts';
import { patient, type RedisServer, startRedis } from './redis.ts';
import { type CreateServer, noted, type Replica, type ReplicaGroup, serverWith } from './replicas.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

export interface RedisReplica extends Replica {
  readonly stores: RedisStores;
  /** Between this server and Redis. */
  readonly proxy: TcpProxy;
}

export class RedisReplicas implements ReplicaGroup {
  readonly keepsEvents = true;
  readonly redis: RedisServer;
  readonly all: RedisReplica[] = [];
  readonly reads: string[] = [];
  readonly written = new Map<string, unknown>();
  readonly #key = randomBytes(32);

  readonly #settings: Partial<RedisOptions>;

  constructor(redis: RedisServer, settings: Partial<RedisOptions> = {}) {
    this.redis = redis;
    this.#settings = settings;
  }

  start(
    install: (server: Server) => void,
    options: HttpOptions = {},
    settings: Partial<RedisOptions> = {},
  ): Promise<RedisReplica> {
    return this.startServer(serverWith(install), options, settings);
  }

  async startServer(
    create: CreateServer,
    options: HttpOptions = {},
    settings: Partial<RedisOptions> = {},
  ): Promise<RedisReplica> {
    const proxy = await startTcpProxy(this.redis.port);
    const url = `redis://127.0.0.1:${proxy.port}`;
    const stores = await openRedis({ url, name: 'replica', keys: [this.#key], ...this.#settings, ...settings });
    const store = noted(stores.store, this.reads, this.written);
    const tasks = { store: stores.tasks };
    const { bus } = stores;
    // What is logged while Redis is away would only be noise.
    const server = create({ logger: false, key: this.#key, store, bus, tasks });
    const { sharedEventLog, monitor } = stores;
    const http = await serveHttp(server, { port: 0, graceMs: 100, sharedEventLog, monitors: [monitor], ...options });
    const client = new HttpTestClient(http.port);
    const replica: RedisReplica = {
      stores,
      proxy,
      server,
      http,
      bus,
      client,
      // Only the connection that waits for messages.
      pause: () => proxy.pause('XREAD'),
      resume: () => proxy.resume(),
      leave: () => proxy.cut(),
      kill: () => {
        proxy.cut();
        client.close();
      },
    };
    this.all.push(replica);
    return replica;
  }

  async close(): Promise<void> {
    for (const { client } of this.all) client.close();
    await Promise.all(this.all.map(({ http }) => http.close()));
    await Promise.all(this.all.map(({ stores }) => stores.close()));
    await Promise.all(this.all.map(({ proxy }) => proxy.close()));
    await this.redis.close();
  }
}

export const openRedisReplicas = async (): Promise<RedisReplicas> => new RedisReplicas(await startRedis(), patient);
