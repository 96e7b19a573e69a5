// An outlet that lets observers see what leaves.

import type { Outlet, Peer } from '../protocol/exchange.ts';
import type { Watchers } from './watchers.ts';

export class ObservedOutlet implements Outlet {
  readonly #outlet: Outlet;
  readonly #peer: Peer;
  readonly #watchers: Watchers['sent'];

  constructor(outlet: Outlet, peer: Peer, watchers: Watchers['sent']) {
    this.#outlet = outlet;
    this.#peer = peer;
    this.#watchers = watchers;
  }

  get duplex(): boolean {
    return this.#outlet.duplex;
  }

  get full(): boolean {
    return this.#outlet.full === true;
  }

  push(text: string): boolean {
    const sent = this.#outlet.push(text);
    if (sent) this.#tell(text);
    return sent;
  }

  end(text: string | undefined, status?: number, headers?: readonly string[]): void {
    this.#outlet.end(text, status, headers);
    if (text !== undefined) this.#tell(text);
  }

  hangUp(retryMs: number): boolean {
    return this.#outlet.hangUp?.(retryMs) ?? false;
  }

  #tell(text: string): void {
    for (const watch of this.#watchers) watch(text, this.#peer);
  }
}
