// An observer that can not disturb what it watches: whatever it throws ends in the log.

import type { Logger } from '../protocol/log.ts';
import type { Observer } from './ports.ts';

export function guardObserver(observer: Observer, logger: Logger | undefined): Observer {
  const guarded: Record<string, (first: never, second: never) => void> = {};
  for (const key of ['received', 'sent', 'started', 'ended', 'refused', 'connected', 'disconnected'] as const) {
    const watch = observer[key]?.bind(observer) as ((first: never, second: never) => void) | undefined;
    if (watch === undefined) continue;
    guarded[key] = (first, second) => {
      try {
        watch(first, second);
      } catch (error) {
        logger?.error('an observer failed', { observer: key, error });
      }
    };
  }
  return guarded as Observer;
}
