// Where changes are announced: sessions and subscriptions listen here. Changes of one turn are told once.

import type { Principal } from '../protocol/exchange.ts';
import type { RequestId } from '../protocol/model.ts';
import type { Change, Revision } from '../protocol/revisions/index.ts';

/** Who may hear of a change. */
export type Audience = (principal: Principal | undefined) => boolean;

/** Spells a change once per revision, however many sessions hear of it. */
export class Announcement {
  readonly change: Change;
  /** Who may hear of it; undefined: everybody who asked. */
  readonly audience: Audience | undefined;
  readonly #texts = new Map<Revision, string>();

  constructor(change: Change, audience?: Audience) {
    this.change = change;
    this.audience = audience;
  }

  text(revision: Revision, subscription?: RequestId): string {
    if (subscription !== undefined) return revision.change(this.change, subscription);
    let text = this.#texts.get(revision);
    if (text === undefined) this.#texts.set(revision, (text = revision.change(this.change)));
    return text;
  }
}

export interface Listener {
  hear(announcement: Announcement): void;
}

export class Hub {
  readonly #listeners = new Set<Listener>();
  #waiting: Map<string, Announcement> | undefined;
  readonly #failed: (error: unknown) => void;

  /** `failed` hears of listeners that threw; they hear nothing of that change, the others do. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Tells everybody at the end of this turn; the same change twice in a turn is told once. */
  announce(change: Change, audience?: Audience): void {
    if (this.#listeners.size === 0) return;
    if (this.#waiting === undefined) {
      this.#waiting = new Map();
      queueMicrotask(() => this.#flush());
    }
    const key = `${change.kind} ${change.uri ?? ''}`;
    const earlier = this.#waiting.get(key);
    this.#waiting.set(
      key,
      new Announcement(change, earlier === undefined ? audience : either(earlier.audience, audience)),
    );
  }

  #flush(): void {
    const announcements = this.#waiting;
    this.#waiting = undefined;
    for (const announcement of announcements?.values() ?? []) {
      for (const listener of this.#listeners) {
        try {
          listener.hear(announcement);
        } catch (error) {
          this.#failed(error);
        }
      }
    }
  }
}

const either = (one: Audience | undefined, other: Audience | undefined): Audience | undefined =>
  one && other && ((principal) => one(principal) || other(principal));

/** True when a subscription to `subscribed` covers `uri`: the same resource, or one below it. */
export function covers(subscribed: string, uri: string): boolean {
  if (subscribed === uri) return true;
  return uri.startsWith(subscribed.endsWith('/') ? subscribed : `${subscribed}/`);
}
