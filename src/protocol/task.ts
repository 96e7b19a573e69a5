// A task as clients and servers exchange it, independent of revisions. The record that a server stores is in
// engine/tasks/.

/** What a client can know about the progress of a task. The last three never change again. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** The state of a task at one moment. */
export interface TaskState {
  /** Identifies the task at its server. */
  readonly taskId: string;
  /** How far it is. */
  readonly status: TaskStatus;
  /** What the server says about the status, for users and models. */
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastUpdatedAt: string;
  /** How long after its creation the server may delete the task; null: never. It may change. */
  readonly ttlMs: number | null;
  /** How often to poll. It may change. */
  readonly pollIntervalMs?: number;
}

/** Whether a task with this status has ended. */
export function hasEnded(status: TaskStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
