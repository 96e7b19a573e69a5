// Which resources of one upstream are followed: by which views, and over whose connections. It outlives connections: a new
// one follows what the last one did.

import type { Logger } from '../../protocol/logger.ts';
import type { UpstreamConnection } from './connection.ts';
import type { UpstreamConnections } from './connections.ts';
import type { ConnectionCaller } from './contract.ts';

interface FollowingConnection {
  /** The caller whose connection it is; undefined if any will do. */
  readonly caller: ConnectionCaller | undefined;
  readonly uris: Set<string>;
}

export class ResourceFollowers {
  readonly #connections: UpstreamConnections;
  readonly #logger: Logger | undefined;
  readonly #viewsByUri = new Map<string, Set<object>>();
  /** By isolation key. */
  readonly #following = new Map<string, FollowingConnection>();

  constructor(connections: UpstreamConnections, logger: Logger | undefined) {
    this.#connections = connections;
    this.#logger = logger;
  }

  /**
   * Follows a resource for a view, over the connection of a caller; without one, over any connection. False if the upstream
   * cannot notify us of changes.
   */
  async follow(uri: string, view: object, caller: ConnectionCaller | undefined): Promise<boolean> {
    const key = caller === undefined ? this.#connections.listKey : this.#connections.keyOf(caller);
    const connection = await this.#connections.get(key, caller);
    if (!(await connection.follow(uri))) return false;
    let views = this.#viewsByUri.get(uri);
    if (views === undefined) this.#viewsByUri.set(uri, (views = new Set()));
    views.add(view);
    let following = this.#following.get(key);
    if (following === undefined) {
      // A call holds its whole request; only these are needed later.
      const kept = caller && { principalKey: caller.principalKey, sessionKey: caller.sessionKey, asks: caller.asks };
      this.#following.set(key, (following = { caller: kept, uris: new Set() }));
    }
    following.uris.add(uri);
    return true;
  }

  /** The view does not follow it any more. */
  unfollow(uri: string, view: object): void {
    const views = this.#viewsByUri.get(uri);
    if (views?.delete(view) !== true || views.size > 0) return;
    this.#viewsByUri.delete(uri);
    for (const [key, { uris }] of this.#following) {
      uris.delete(uri);
      if (uris.size === 0) this.#following.delete(key);
    }
    for (const connection of this.#connections.open) void connection.unfollow(uri);
  }

  /** The caller of this connection is gone: the connection follows nothing any more, even if others follow the same resources. */
  leave(key: string): void {
    const following = this.#following.get(key);
    this.#following.delete(key);
    const connection = this.#connections.open.find((each) => each.key === key);
    for (const uri of following?.uris ?? []) void connection?.unfollow(uri);
  }

  /** Follows what a view followed before: at the upstream that this one replaces, if there is one. */
  continueFollowing(uri: string, view: object, before: ResourceFollowers | undefined): void {
    const callers = before === undefined ? [] : before.#callersOf(uri);
    for (const caller of callers.length === 0 ? [undefined] : callers) {
      this.follow(uri, view, caller).catch((error: unknown) => this.#report(error));
    }
  }

  /** A connection is open: it follows what the last one with its key did. */
  opened(connection: UpstreamConnection): void {
    for (const uri of this.#following.get(connection.key)?.uris ?? []) void connection.follow(uri);
  }

  /** Opens the connections that are needed, after they were closed. */
  reopen(): void {
    for (const [key, { caller }] of this.#following) {
      void (async () => this.#connections.get(key, caller))().catch((error: unknown) => this.#report(error));
    }
  }

  #callersOf(wanted: string): readonly (ConnectionCaller | undefined)[] {
    return [...this.#following.values()].filter(({ uris }) => uris.has(wanted)).map(({ caller }) => caller);
  }

  #report(error: unknown): void {
    this.#logger?.debug('resources of an upstream cannot be followed', { error });
  }
}
