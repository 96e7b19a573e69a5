// Where changes are announced: sessions and subscriptions listen here. Changes of one turn are told once.

import type { RequestId } from '../protocol/model.ts';
import type { Change, Revision } from '../protocol/revisions/index.ts';

/** Spells a change once per revision, however many sessions hear of it. */
export class Announcement {
  readonly change: Change;
  readonly #texts = new Map<Revision, string>();

  constructor(change: Change) {
    this.change = change;
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
  #waiting: Map<string, Change> | undefined;

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Tells everybody at the end of this turn; the same change twice in a turn is told once. */
  announce(change: Change): void {
    if (this.#listeners.size === 0) return;
    if (this.#waiting === undefined) {
      this.#waiting = new Map();
      queueMicrotask(() => this.#flush());
    }
    this.#waiting.set(`${change.kind} ${change.uri ?? ''}`, change);
  }

  #flush(): void {
    const changes = this.#waiting;
    this.#waiting = undefined;
    for (const change of changes?.values() ?? []) {
      const announcement = new Announcement(change);
      for (const listener of this.#listeners) listener.hear(announcement);
    }
  }
}

/** True when a subscription to `subscribed` covers `uri`: the same resource, or one below it. */
export function covers(subscribed: string, uri: string): boolean {
  if (subscribed === uri) return true;
  return uri.startsWith(subscribed.endsWith('/') ? subscribed : `${subscribed}/`);
}
