// Notifies observers, and programs that listen, of the changes of tasks, and logs the important ones.

import type { Logger } from '../../common/logger.ts';
import { type LogLevel, logLevels } from '../../protocol/model.ts';
import type { TaskEvent } from '../ports.ts';
import type { TaskChange, TaskRecord } from './store/task-store.ts';

export const eventTypes = {
  'request-input': 'input-requested',
  'answer-input': 'input-answered',
  'cancel-inputs': 'input-cancelled',
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
    logEvent(event, this.#server.logger);
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

/** A log message of the handler of a task: the connection of its client is gone, so operators get it too. */
export function logMessage(logger: Logger | undefined, task: TaskRecord, level: LogLevel, data: unknown): void {
  const isError = logLevels.indexOf(level) >= logLevels.indexOf('error');
  logger?.[isError ? 'error' : 'info']('a task logged a message', { task: task.id, tool: task.tool, level, data });
}

/** The log level and message of each event. Contents are not logged. */
const logged: Partial<Record<TaskEvent['type'], readonly ['debug' | 'info' | 'warn', string]>> = {
  created: ['info', 'task created'],
  'input-requested': ['debug', 'task requests input'],
  'input-answered': ['debug', 'task got input'],
  'cancel-requested': ['info', 'task is to be cancelled'],
  recovered: ['info', 'task runs again'],
  'lease-lost': ['warn', 'task stopped here: another process may run it'],
  ended: ['info', 'task ended'],
};

function logEvent({ type, task, key }: TaskEvent, logger: Logger | undefined): void {
  const line = logged[type];
  if (line === undefined || logger === undefined) return;
  const [level, text] = line;
  const { id, tool, attempt, outcome, createdAtMs, endedAtMs } = task;
  const isError = outcome?.type === 'error' || (outcome?.type === 'result' && outcome.isError);
  logger[level](text, {
    task: id,
    tool,
    ...(key === undefined ? {} : { key }),
    ...(attempt > 1 ? { attempt } : {}),
    ...(outcome === undefined
      ? {}
      : { outcome: isError ? 'failed' : outcome.type, ms: (endedAtMs ?? 0) - createdAtMs }),
  });
}
