// The servers behind a gateway: their messages in the feed, each under the call that caused it, and what operators do.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestInfo } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { OperateRequest, UpstreamRow } from '../api.ts';
import type { ConsoleGateway } from '../contract.ts';
import { ConsoleError } from '../http/console-error.ts';
import type { Feed } from './feed.ts';
import type { FeedPeer } from './peers.ts';

export class GatewayHops {
  readonly #gateway: ConsoleGateway;
  readonly #feed: Feed;
  /** The group of the call that is running: what it sends to a server belongs to it. */
  readonly #group = new AsyncLocalStorage<string>();
  readonly #peers = new WeakMap<object, FeedPeer>();
  readonly #groupOf: (request: RequestInfo) => string | undefined;
  #stop: (() => void) | undefined;

  /** `groupOf`: the group of a request of a client, while messages are recorded. */
  constructor(
    gateway: ConsoleGateway,
    server: Server,
    feed: Feed,
    groupOf: (request: RequestInfo) => string | undefined,
  ) {
    this.#gateway = gateway;
    this.#feed = feed;
    this.#groupOf = groupOf;
    this.add(server);
  }

  /** A server of the gateway: what its calls send to the servers behind it belongs to them. */
  add(server: Server): void {
    server.around((request, next) => {
      const group = this.#stop === undefined ? undefined : this.#groupOf(request);
      return group === undefined ? next() : this.#group.run(group, next);
    });
  }

  /** Records the messages between the gateway and its servers, or ends that. */
  record(isOn: boolean): void {
    if (!isOn) {
      this.#stop?.();
      this.#stop = undefined;
      return;
    }
    this.#stop ??= this.#gateway.observe((slug, connection, direction, text) => {
      const group = direction === 'out' ? this.#group.getStore() : undefined;
      const peer = this.#peerOf(slug, connection);
      this.#feed.record({ direction, side: 'upstream', peer, text, group });
    });
  }

  rows(): readonly UpstreamRow[] {
    const { capture } = this.#feed;
    return this.#gateway.upstreams().map((row) => ({
      ...row,
      ...(row.reason === undefined ? {} : { reason: capture.text(row.reason).text }),
      ...(row.noise === undefined ? {} : { noise: capture.text(row.noise).text }),
      ...(row.stderr === undefined ? {} : { stderr: capture.text(row.stderr).text }),
    }));
  }

  async restart({ id }: OperateRequest): Promise<void> {
    this.#require(id);
    await this.#gateway.restart(id);
  }

  /** `value`: one tool; without it, everything that was seen of the server. */
  accept({ id, value }: OperateRequest): void {
    this.#require(id);
    this.#gateway.accept(id, typeof value === 'string' ? value : undefined);
  }

  #require(slug: string): void {
    if (this.#gateway.upstreams().some((row) => row.slug === slug)) return;
    throw new ConsoleError(404, 'upstream', `There is no server ${JSON.stringify(slug)}`);
  }

  #peerOf(slug: string, connection: object): FeedPeer {
    let peer = this.#peers.get(connection);
    if (peer === undefined) {
      peer = this.#feed.peers.add({ transport: 'upstream', client: slug });
      // Not one of the sessions that clients have here.
      peer.open = false;
      this.#peers.set(connection, peer);
    }
    return peer;
  }
}
