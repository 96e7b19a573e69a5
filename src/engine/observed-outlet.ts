// An outlet that lets observers see what leaves.

import type { Outlet, Peer } from '../protocol/exchange.ts';
import type { Observers } from './observers.ts';

export class ObservedOutlet implements Outlet {
  readonly #outlet: Outlet;
  readonly #peer: Peer;
  readonly #watchers: Observers['sent'];

  constructor(outlet: Outlet, peer: Peer, watchers: Observers['sent']) {
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
    if (sent) this.#notifySent(text);
    return sent;
  }

  end(text: string | undefined, status?: number, headers?: readonly string[]): void {
    this.#outlet.end(text, status, headers);
    if (text !== undefined) this.#notifySent(text);
  }

  closeEarly(retryMs: number): boolean {
    return this.#outlet.closeEarly?.(retryMs) ?? false;
  }

  #notifySent(text: string): void {
    for (const watch of this.#watchers) watch(text, this.#peer);
  }
}
