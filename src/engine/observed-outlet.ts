// An outlet that shows observers what is sent.

import type { Outlet, Peer } from '../protocol/exchange.ts';
import type { Observers } from './observers.ts';

export class ObservedOutlet implements Outlet {
  readonly #outlet: Outlet;
  readonly #peer: Peer;
  readonly #observers: Observers['sent'];

  constructor(outlet: Outlet, peer: Peer, observers: Observers['sent']) {
    this.#outlet = outlet;
    this.#peer = peer;
    this.#observers = observers;
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
    for (const notify of this.#observers) notify(text, this.#peer);
  }
}
