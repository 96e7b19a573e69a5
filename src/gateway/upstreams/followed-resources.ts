// The resources of one upstream connection whose changes clients follow. On revisions with subscriptions for each resource,
// each has its own; on revisions with one stream for all, a new stream replaces the old one when the set changes.

import type { Client, Subscription } from '../../client/index.ts';
import type { Logger } from '../../common/logger.ts';

export class FollowedResources {
  readonly #client: Client;
  readonly #logger: Logger | undefined;
  readonly #updated: (uri: string) => void;
  /** By URI, where each has its own subscription. */
  readonly #single = new Map<string, Promise<Subscription>>();
  /** The URIs of the stream that all resources share. */
  readonly #shared = new Set<string>();
  #stream: Promise<Subscription> | undefined;

  constructor(client: Client, updated: (uri: string) => void, logger: Logger | undefined) {
    this.#client = client;
    this.#updated = updated;
    this.#logger = logger;
  }

  get size(): number {
    return this.#single.size + this.#shared.size;
  }

  /** Resolves to whether the server notifies us of changes. */
  async follow(uri: string): Promise<boolean> {
    try {
      if (this.#client.mustListen) await this.#changeStream(() => this.#shared.add(uri));
      else await this.#subscribe(uri);
      return true;
    } catch (error) {
      this.#logger?.debug('a resource cannot be followed', { uri, error });
      this.#single.delete(uri);
      this.#shared.delete(uri);
      return false;
    }
  }

  async unfollow(uri: string): Promise<void> {
    const single = this.#single.get(uri);
    this.#single.delete(uri);
    try {
      await (await single)?.close();
      if (this.#shared.has(uri)) await this.#changeStream(() => this.#shared.delete(uri));
    } catch (error) {
      this.#logger?.debug('a subscription could not be ended', { uri, error });
    }
  }

  async #subscribe(uri: string): Promise<void> {
    let subscription = this.#single.get(uri);
    if (subscription === undefined) {
      subscription = this.#client.subscribe(uri);
      this.#single.set(uri, subscription);
      subscription.then(
        (opened) => this.#forward(opened, () => this.#single.delete(uri)),
        () => {},
      );
    }
    await subscription;
  }

  /** The new stream is open before the old one is closed, so that no change is missed. */
  async #changeStream(change: () => void): Promise<void> {
    const before = this.#stream;
    const size = this.#shared.size;
    change();
    if (this.#shared.size === size) {
      await before;
      return;
    }
    const uris = [...this.#shared];
    const opened = uris.length === 0 ? undefined : this.#client.watch({ uris });
    this.#stream = opened;
    const stream = await opened;
    if (stream !== undefined) {
      void this.#forward(stream, () => {
        if (this.#stream === opened) this.#shared.clear();
      });
    }
    await (await before?.catch(() => undefined))?.close();
  }

  /** `failed`: forgets what is not followed any more, so that it can be followed again. */
  async #forward(subscription: Subscription, failed: () => void): Promise<void> {
    try {
      for await (const { uri } of subscription) if (uri !== undefined) this.#updated(uri);
    } catch (error) {
      failed();
      this.#logger?.debug('changes of resources are not reported any more', { error });
    }
  }
}
