// The peers of the feed: a number for each connection, HTTP session or stateless client, and its details.

import type { SessionInfo } from '../../engine/ports.ts';
import type { Peer } from '../../protocol/exchange.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { PeerInfo } from '../api.ts';
import { firstChars } from './first-chars.ts';
import { OpenRequests } from './open-requests.ts';

/** Stops clients that connect again and again from filling the memory. */
const maxPeers = 1_000;
/** Stops a client with a long name from filling the page. */
const maxNameChars = 200;

/** A peer in the feed. */
export class FeedPeer {
  readonly number: number;
  info: PeerInfo;
  /** Increases with every change, so that readers get only what is new. */
  version = 0;
  lastSeenMs = 0;
  open = true;
  session: SessionInfo | undefined;
  /** The connection, for those that have one. */
  connection: Peer | undefined;
  /** Requests to the peer that have no response yet. */
  readonly requestsOut = new OpenRequests();
  /** Requests of the peer that have no response yet. */
  readonly requestsIn = new OpenRequests();

  constructor(number: number, info: Omit<PeerInfo, 'number'>) {
    this.number = number;
    this.info = { number, ...info };
  }
}

export class Peers {
  readonly #peers = new Map<number, FeedPeer>();
  #last = 0;
  #version = 0;

  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#peers.size;
  }

  all(): IterableIterator<FeedPeer> {
    return this.#peers.values();
  }

  get(number: number): FeedPeer | undefined {
    return this.#peers.get(number);
  }

  add(info: Omit<PeerInfo, 'number'>, number = this.#last + 1): FeedPeer {
    this.#last = Math.max(this.#last, number);
    const peer = new FeedPeer(number, info);
    peer.version = ++this.#version;
    peer.lastSeenMs = Date.now();
    this.#peers.set(number, peer);
    if (this.#peers.size > maxPeers) this.#forgetOldest();
    return peer;
  }

  /** Adds details that became known. */
  update(peer: FeedPeer, known: Partial<PeerInfo>): void {
    const { info } = peer;
    for (const key in known) {
      const value = known[key as keyof PeerInfo];
      // Mostly, nothing is new: stateless clients describe themselves with every request.
      if (value === undefined || value === info[key as keyof PeerInfo]) continue;
      peer.info = { ...info, ...withoutUndefined(known) };
      peer.version = ++this.#version;
      return;
    }
  }

  changedSince(version: number): PeerInfo[] {
    const changed: PeerInfo[] = [];
    for (const peer of this.#peers.values()) if (peer.version > version) changed.push(peer.info);
    return changed;
  }

  clear(): void {
    this.#peers.clear();
  }

  #forgetOldest(): void {
    let oldest: FeedPeer | undefined;
    for (const peer of this.#peers.values()) {
      if (oldest === undefined || peer.lastSeenMs < oldest.lastSeenMs) oldest = peer;
    }
    if (oldest !== undefined) this.#peers.delete(oldest.number);
  }
}

/** `claude 1.2`: name and version as a client reports them. */
export function clientLabel(implementation: unknown): string | undefined {
  if (!isObject(implementation)) return undefined;
  const { name, version } = implementation;
  if (typeof name !== 'string') return undefined;
  return firstChars(`${name}${typeof version === 'string' ? ` ${version}` : ''}`, maxNameChars);
}

function withoutUndefined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Partial<T>;
}
