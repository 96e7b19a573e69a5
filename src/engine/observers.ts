// The observers of a server, sorted by what they watch, so that what nobody watches costs nothing. They can not disturb
// it either: whatever one throws ends in the log.

import type { Logger } from '../protocol/logger.ts';
import type { Observer } from './ports.ts';

type Event = keyof Observer;
type ObserverMethod<E extends Event> = Required<Observer>[E];

export class Observers {
  readonly received: ObserverMethod<'received'>[] = [];
  readonly sent: ObserverMethod<'sent'>[] = [];
  readonly started: ObserverMethod<'started'>[] = [];
  readonly ended: ObserverMethod<'ended'>[] = [];
  readonly rejected: ObserverMethod<'rejected'>[] = [];
  readonly connected: ObserverMethod<'connected'>[] = [];
  readonly disconnected: ObserverMethod<'disconnected'>[] = [];
  readonly #logger: Logger | undefined;

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  /** Returns how to stop. */
  add(observer: Observer): () => void {
    const stops: (() => void)[] = [];
    for (const event of ['received', 'sent', 'started', 'ended', 'rejected', 'connected', 'disconnected'] as const) {
      // Bound rather than called by `call`: the code of a bound function can be put where it is called from.
      const own = observer[event]?.bind(observer) as ((first: unknown, second: unknown) => void) | undefined;
      if (own === undefined) continue;
      const list = this[event] as unknown[];
      const watch = (first: unknown, second: unknown): void => {
        try {
          own(first, second);
        } catch (error) {
          this.#logger?.error('an observer failed', { observer: event, error });
        }
      };
      list.push(watch);
      stops.push(() => {
        if (list.includes(watch)) list.splice(list.indexOf(watch), 1);
      });
    }
    return () => {
      for (const stop of stops) stop();
    };
  }
}
