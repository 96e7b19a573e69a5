// Which resources of one upstream are followed: by which clients, and over whose connections. It outlives connections: a new
// one follows what the last one did.

import type { Logger } from '../../common/logger.ts';
import type { AudienceTest, NotifiedClient } from '../../engine/changes/audience.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import { asksOf } from '../relays/input-request.ts';
import type { UpstreamConnection } from './connection.ts';
import type { UpstreamConnections } from './connections.ts';
import type { CallerKeys, ConnectionCaller } from './contract.ts';
import { callerKeys } from './isolation.ts';

/** How long a client may take to follow a resource that was prepared for it; its request may have failed. */
const prepareMs = 10_000;

interface FollowingConnection {
  readonly caller: ConnectionCaller;
  /** By URI. A connection follows what one of its clients does. */
  readonly clients: Map<string, Set<NotifiedClient>>;
}

export class ResourceFollowers {
  readonly #connections: UpstreamConnections;
  readonly #isolation: UpstreamConfig['isolation'];
  readonly #logger: Logger | undefined;
  /** By the key of the connection. */
  readonly #following = new Map<string, FollowingConnection>();
  /** By the same key, the headers of a request that followed something: clients have none when they are notified. */
  readonly #headers = new Map<string, ConnectionCaller['headers']>();

  constructor(connections: UpstreamConnections, isolation: UpstreamConfig['isolation'], logger: Logger | undefined) {
    this.#connections = connections;
    this.#isolation = isolation;
    this.#logger = logger;
  }

  /** Follows a resource for a caller that is about to. Resolves to false if the upstream cannot notify us of changes. */
  async prepare(uri: string, caller: ConnectionCaller): Promise<boolean> {
    const key = this.#keyOf(caller);
    return this.#with(key, caller, async (connection) => {
      if (!(await connection.follow(uri))) return false;
      if (caller.headers !== undefined) this.#headers.set(key, caller.headers);
      const timer = setTimeout(() => {
        if (!this.#isFollowed(key, uri)) void connection.unfollow(uri);
        if (!this.#following.has(key)) this.#headers.delete(key);
      }, prepareMs);
      timer.unref();
      return true;
    });
  }

  /** Keeps the connection open until it follows something: one for each call is closed as soon as it is idle. */
  async #with<T>(
    key: string,
    caller: ConnectionCaller,
    use: (connection: UpstreamConnection) => Promise<T>,
  ): Promise<T> {
    const release = this.#connections.connectionOf(key, caller).keepOpen();
    try {
      return await use(await this.#connections.get(key, caller));
    } finally {
      release();
    }
  }

  /** A client follows a resource, over its own connection if it has one. */
  follow(uri: string, client: NotifiedClient): void {
    const keys = callerKeys(client);
    const key = this.#keyOf(keys);
    const caller = { ...keys, asks: asksOf(client), headers: this.#headers.get(key) };
    let following = this.#following.get(key);
    if (following === undefined) this.#following.set(key, (following = { caller, clients: new Map() }));
    const clients = following.clients.get(uri);
    if (clients !== undefined) return void clients.add(client);
    following.clients.set(uri, new Set([client]));
    const followed = this.#with(key, caller, async (connection) => {
      // The client may have left while the connection was opened.
      if (this.#isFollowed(key, uri)) await connection.follow(uri);
      else await connection.unfollow(uri);
    });
    followed.catch((error: unknown) => this.#report(error));
  }

  /** The client does not follow it any more. */
  unfollow(uri: string, client: NotifiedClient): void {
    const key = this.#keyOf(callerKeys(client));
    const following = this.#following.get(key);
    const clients = following?.clients.get(uri);
    if (following === undefined || clients?.delete(client) !== true || clients.size > 0) return;
    following.clients.delete(uri);
    if (following.clients.size === 0) {
      this.#following.delete(key);
      this.#headers.delete(key);
    }
    for (const connection of this.#connections.open) if (connection.key === key) void connection.unfollow(uri);
  }

  #isFollowed(key: string, uri: string): boolean {
    return this.#following.get(key)?.clients.has(uri) === true;
  }

  /** The clients that are notified of what a connection reports; undefined: all. */
  audienceOf(key: string): AudienceTest | undefined {
    if (this.#isolation === 'shared') return undefined;
    return (principal, session) => this.#keyOf(callerKeys({ principal, session })) === key;
  }

  /** A connection is open: it follows what the last one with its key did. */
  opened(connection: UpstreamConnection): void {
    for (const uri of this.#following.get(connection.key)?.clients.keys() ?? []) void connection.follow(uri);
  }

  /** Opens the connections that are needed, after they were closed. */
  reopen(): void {
    for (const [key, { caller }] of this.#following) {
      this.#with(key, { ...caller, headers: this.#headers.get(key) }, async (connection) =>
        this.opened(connection),
      ).catch((error: unknown) => this.#report(error));
    }
  }

  /** With a connection for each call, a client has one more for what it follows. */
  #keyOf(keys: CallerKeys): string {
    return this.#isolation === 'call' ? `followed by ${keys.sessionKey}` : this.#connections.keyOf(keys);
  }

  #report(error: unknown): void {
    this.#logger?.debug('resources of an upstream cannot be followed', { error });
  }
}
