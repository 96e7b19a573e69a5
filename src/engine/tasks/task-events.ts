// Notifies observers, and programs that listen, of the changes of tasks.

import type { Logger } from '../../protocol/logger.ts';
import type { TaskEvent } from '../ports.ts';
import type { TaskChange } from './task-store.ts';

export const eventTypes = {
  'request-input': 'input-requested',
  'answer-input': 'input-answered',
  'withdraw-inputs': 'input-withdrawn',
  'start-step': 'step-started',
  'finish-step': 'step-finished',
  'set-message': 'message',
  extend: 'extended',
  suspend: 'suspended',
  release: 'released',
  'hand-over': 'handed-over',
  'request-cancel': 'cancel-requested',
  end: 'ended',
} as const satisfies Record<TaskChange['type'], TaskEvent['type']>;

export interface ObservedServer {
  readonly observers: { readonly taskChanged: readonly ((event: TaskEvent) => void)[] };
  readonly logger: Logger | undefined;
}

export class TaskEvents {
  readonly #server: ObservedServer;
  readonly #listeners = new Set<(event: TaskEvent) => void>();

  constructor(server: ObservedServer) {
    this.#server = server;
  }

  emit(event: TaskEvent): void {
    for (const notify of this.#server.observers.taskChanged) notify(event);
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#server.logger?.error('a listener for tasks failed', { error });
      }
    }
  }

  /** Returns a function that ends it. */
  onChange(listener: (event: TaskEvent) => void): () => void {
    const own = (event: TaskEvent): void => listener(event);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }
}
