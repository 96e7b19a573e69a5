// The beginnings of lines about calls: what is the same for call after call of one tool by one caller.

import type { RequestInfo } from '../../engine/ports.ts';
import type { Peer } from '../../protocol/exchange.ts';

export interface Head extends Pick<Peer, 'principal' | 'transport' | 'address'> {
  readonly method: string;
  /** Of the tool, prompt or resource; empty where there is none. */
  readonly name: string;
  /** Whether a name of a session follows. */
  readonly inSession: boolean;
  /** As it is written, after a time; whoever writes it first leaves it here. */
  bytes?: Uint8Array;
  /** The time that stands there. */
  atMs?: number;
}

/** Heads that are kept; stops made-up names from filling memory. */
const maxHeads = 500;
const maxKeptName = 256;

export class Heads {
  readonly #inSession: boolean;
  readonly #known = new Map<string, Head>();
  #last: Head | undefined;

  constructor(inSession: boolean) {
    this.#inSession = inSession;
  }

  of(request: RequestInfo): Head {
    const { name = '' } = request;
    const last = this.#last;
    if (last !== undefined && last.name === name && isAlike(last, request)) return last;
    const known = this.#known.get(name);
    const head = known !== undefined && isAlike(known, request) ? known : this.#make(request, name);
    this.#last = head;
    return head;
  }

  #make({ method, peer }: RequestInfo, name: string): Head {
    const { principal, transport, address } = peer;
    const head = { method, name, inSession: this.#inSession, principal, transport, address };
    if (this.#known.size >= maxHeads) this.#known.clear();
    if (name.length <= maxKeptName) this.#known.set(name, head);
    return head;
  }
}

const isAlike = (one: Head, { method, peer }: RequestInfo): boolean =>
  one.principal === peer.principal &&
  one.address === peer.address &&
  one.method === method &&
  one.transport === peer.transport;
