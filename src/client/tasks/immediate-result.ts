// The handle of a call for which the server created no task.

import type { ToolResult } from '../../protocol/model.ts';
import type { TaskStatus } from '../../protocol/task.ts';
import type { TaskHandle } from '../task-handle.ts';

export class ImmediateResult implements TaskHandle {
  readonly id = undefined;
  readonly info = undefined;
  readonly status = 'completed';
  readonly #result: ToolResult;

  constructor(result: ToolResult) {
    this.#result = result;
  }

  async wait(): Promise<ToolResult> {
    return this.#result;
  }

  async poll(): Promise<TaskStatus> {
    return this.status;
  }

  async answerInput(): Promise<TaskStatus> {
    return this.status;
  }

  /** There is nothing left to cancel. */
  async cancel(): Promise<void> {}

  onChange(): () => void {
    return () => {};
  }
}
