// Notifies one session of changes: of lists, and of the resources it has subscribed to.

import type { Ability } from '../../protocol/abilities.ts';
import { callerKey } from '../../protocol/callers/caller-budget.ts';
import type { Peer, Principal } from '../../protocol/exchange.ts';
import { supports } from '../channels/client-support.ts';
import type { Session } from '../channels/session.ts';
import type { CallServer } from '../contract.ts';
import { type AnnouncedChange, type ChangeListener, listKinds } from './changes.ts';

/** The channel of the session, as far as changes need it. */
interface NotifiedChannel {
  readonly server: CallServer;
  readonly peer: Peer;
  /** Its client has been told of all changes that the bus has reported up to this position. */
  readonly notifiedUntil: number;
  pushUnrelated(text: string): boolean;
}

export class SessionChanges implements ChangeListener {
  readonly caller: string;
  readonly #channel: NotifiedChannel;
  readonly #session: Session;
  #open = true;

  constructor(channel: NotifiedChannel, session: Session) {
    const { server, peer } = channel;
    this.#channel = channel;
    this.#session = session;
    this.caller = callerKey(peer);
    const { subscriptions } = session;
    // A resumed session brings its subscriptions, which the budget may have no space for now.
    const hasRoom = subscriptions.size === 0 || !server.subscriptionBudget.isFull(this.caller);
    if (!hasRoom) server.logger?.warn('a session was resumed without its subscriptions: maxKeptBytes is reached');
    server.changes.add(this, listKinds, hasRoom ? subscriptions : []);
  }

  get principal(): Principal | undefined {
    return this.#channel.peer.principal;
  }

  get session(): Session {
    return this.#session;
  }

  can(ability: Ability | 'ui'): boolean {
    return supports(this.#session, ability);
  }

  add(uri: string): void {
    this.#channel.server.changes.add(this, [], [uri]);
  }

  remove(uri: string): void {
    this.#channel.server.changes.remove(this, [], [uri]);
  }

  notify(announcement: AnnouncedChange): void {
    const { server, notifiedUntil } = this.#channel;
    const session = this.#session;
    if (!this.#open || !session.initialized) return;
    if (announcement.position !== undefined && announcement.position <= notifiedUntil) return;
    const { kind } = announcement.change;
    const wanted =
      kind === 'resource'
        ? server.maySee(announcement, this)
        : announcement.isFor(this) && server.offers(`${kind}.listChanged`);
    if (wanted) this.#channel.pushUnrelated(announcement.text(session.codec));
  }

  close(): void {
    this.#open = false;
    this.#channel.server.changes.remove(this, listKinds, this.#session.subscriptions);
  }
}
