// The observers of a server, grouped by event, so that an event without observers costs nothing. What an observer throws is
// logged and does not affect the server.

import type { Logger } from '../common/logger.ts';
import type { Observer } from './ports.ts';
import { requireObserver } from './server-arguments.ts';

type Event = keyof Observer;
type ObserverMethod<E extends Event> = Required<Observer>[E];

const events = [
  'received',
  'sent',
  'started',
  'ended',
  'rejected',
  'requesting',
  'connected',
  'disconnected',
  'sessionEnded',
  'rootsChanged',
  'taskChanged',
] as const satisfies readonly Event[];

export class Observers {
  readonly received: ObserverMethod<'received'>[] = [];
  readonly sent: ObserverMethod<'sent'>[] = [];
  readonly started: ObserverMethod<'started'>[] = [];
  readonly ended: ObserverMethod<'ended'>[] = [];
  readonly rejected: ObserverMethod<'rejected'>[] = [];
  readonly requesting: ObserverMethod<'requesting'>[] = [];
  readonly connected: ObserverMethod<'connected'>[] = [];
  readonly disconnected: ObserverMethod<'disconnected'>[] = [];
  readonly sessionEnded: ObserverMethod<'sessionEnded'>[] = [];
  readonly rootsChanged: ObserverMethod<'rootsChanged'>[] = [];
  readonly taskChanged: ObserverMethod<'taskChanged'>[] = [];
  readonly #logger: Logger | undefined;

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  /** Returns a function that removes the observer. */
  add(observer: Observer): () => void {
    requireObserver(observer, events);
    const removals: (() => void)[] = [];
    for (const event of events) {
      // Bound, not called with `call`: V8 can inline a bound function.
      const method = observer[event]?.bind(observer) as
        | ((...args: [unknown, unknown, unknown, unknown]) => void)
        | undefined;
      if (method === undefined) continue;
      const list = this[event] as unknown[];
      const notify = (first: unknown, second: unknown, third: unknown, fourth: unknown): void => {
        try {
          method(first, second, third, fourth);
        } catch (error) {
          this.#logger?.error('an observer failed', { observer: event, error });
        }
      };
      list.push(notify);
      removals.push(() => {
        if (list.includes(notify)) list.splice(list.indexOf(notify), 1);
      });
    }
    return () => {
      for (const remove of removals) remove();
    };
  }
}
