// What one session is told of: changes of lists, and of the resources it has subscribed to.

import { callerKey } from '../protocol/caller-budget.ts';
import { type Announcement, type ChangeListener, listKinds } from './changes.ts';
import type { EngineChannel } from './channel.ts';
import type { Session } from './session.ts';

export class SessionChanges implements ChangeListener {
  readonly caller: string;
  readonly #channel: EngineChannel;
  readonly #session: Session;
  #open = true;

  constructor(channel: EngineChannel, session: Session) {
    const { core, peer } = channel;
    this.#channel = channel;
    this.#session = session;
    this.caller = callerKey(peer);
    const { subscriptions } = session;
    // A session from the store brings what it had subscribed to when there was room for it.
    const room = subscriptions.size === 0 || !core.kept.isFull(this.caller);
    if (!room) core.logger?.warn('a session was resumed without its subscriptions: maxKeptBytes is reached');
    core.changes.add(this, listKinds, room ? subscriptions : []);
  }

  watch(uri: string): void {
    this.#channel.core.changes.add(this, [], [uri]);
  }

  unwatch(uri: string): void {
    this.#channel.core.changes.remove(this, [], [uri]);
  }

  notify(announcement: Announcement): void {
    const { core, peer } = this.#channel;
    const session = this.#session;
    if (!this.#open || !session.initialized) return;
    const { kind } = announcement.change;
    const wanted =
      kind === 'resource' ? core.mayHear(announcement, peer.principal) : core.offers(`${kind}.listChanged`);
    if (wanted) this.#channel.pushUnasked(announcement.text(session.revision));
  }

  close(): void {
    this.#open = false;
    this.#channel.core.changes.remove(this, listKinds, this.#session.subscriptions);
  }
}
