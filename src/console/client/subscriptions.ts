// Resources that users follow from the page. The console subscribes as a client; changes are counted here and shown there.

import type { Subscription } from '../../client/index.ts';
import type { SubscribeRequest, SubscriptionRow } from '../api.ts';
import { ConsoleError } from '../http/console-error.ts';
import type { Clients } from './clients.ts';

/** Stops pages from subscribing without limit. */
const maxSubscriptions = 50;

interface FollowedResource {
  row: SubscriptionRow;
  subscription: Subscription | undefined;
}

export class ResourceSubscriptions {
  readonly #clients: Clients;
  /** By URI: however many pages follow a resource, the server gets one subscription. */
  readonly #followed = new Map<string, FollowedResource>();
  #version = 0;

  constructor(clients: Clients) {
    this.#clients = clients;
  }

  /** Increases with every change. */
  get version(): number {
    return this.#version;
  }

  rows(): readonly SubscriptionRow[] {
    return [...this.#followed.values()].map(({ row }) => row);
  }

  /** Resolves when the server has agreed. */
  async start({ uri, revision }: SubscribeRequest): Promise<SubscriptionRow> {
    if (typeof uri !== 'string' || uri === '') throw new ConsoleError(400, 'uri', '"uri" is missing');
    const known = this.#followed.get(uri);
    if (known !== undefined && known.row.problem === undefined) return known.row;
    if (this.#followed.size >= maxSubscriptions && known === undefined) {
      throw new ConsoleError(429, 'subscriptions', `${maxSubscriptions} resources are followed. Unsubscribe from one`);
    }
    const followed: FollowedResource = {
      row: { uri, changes: 0, since: new Date().toISOString() },
      subscription: undefined,
    };
    this.#followed.set(uri, followed);
    try {
      const { client } = await this.#clients.get(revision);
      followed.subscription = await client.subscribe(uri);
    } catch (error) {
      this.#followed.delete(uri);
      throw error;
    }
    this.#version++;
    void this.#follow(followed, followed.subscription);
    return followed.row;
  }

  async stop(uri: string): Promise<void> {
    const followed = this.#followed.get(uri);
    if (followed === undefined) throw new ConsoleError(404, 'subscription', 'This resource is not followed');
    this.#followed.delete(uri);
    this.#version++;
    await followed.subscription?.close();
  }

  close(): void {
    for (const { subscription } of this.#followed.values()) void subscription?.close().catch(() => {}); // It is gone anyway.
    this.#followed.clear();
  }

  async #follow(followed: FollowedResource, changes: Subscription): Promise<void> {
    try {
      for await (const _change of changes) {
        const { row } = followed;
        followed.row = { ...row, changes: row.changes + 1, changedAt: new Date().toISOString() };
        this.#version++;
      }
      if (this.#followed.get(followed.row.uri) === followed) this.#fail(followed, 'The server ended the subscription');
    } catch (error) {
      this.#fail(followed, (error as Error).message);
    }
  }

  #fail(followed: FollowedResource, problem: string): void {
    followed.row = { ...followed.row, problem };
    this.#version++;
  }
}
