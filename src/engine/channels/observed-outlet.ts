// An outlet that shows observers what is sent.

import type { Outlet, Peer } from '../../protocol/exchange.ts';
import type { Observers } from '../observers.ts';
import type { SessionInfo } from '../ports.ts';

export class ObservedOutlet implements Outlet {
  readonly #outlet: Outlet;
  readonly #peer: Peer;
  /** Its session may be opened by the message that is answered here. */
  readonly #channel: { readonly session: SessionInfo | undefined };
  readonly #observers: Observers['sent'];

  constructor(
    outlet: Outlet,
    peer: Peer,
    channel: { readonly session: SessionInfo | undefined },
    observers: Observers['sent'],
  ) {
    this.#outlet = outlet;
    this.#peer = peer;
    this.#channel = channel;
    this.#observers = observers;
  }

  get duplex(): boolean {
    return this.#outlet.duplex;
  }

  get connected(): boolean {
    return this.#outlet.connected !== false;
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
    for (const notify of this.#observers) notify(text, this.#peer, this.#channel.session);
  }
}
