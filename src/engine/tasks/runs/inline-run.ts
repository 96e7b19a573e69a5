// A call of a tool that could run as a task, for a client that waits for the result.

import type { ToolResult } from '../../../protocol/model.ts';
import type { Call, CallTask } from '../../contract.ts';
import { CallProgress } from './task-progress.ts';

/** Sends progress while the call runs, so that clients with a time limit keep waiting. */
export class InlineRun implements CallTask {
  readonly id = undefined;
  readonly isInline = true;
  readonly attempt = 1;
  readonly #progress: CallProgress;

  constructor(call: Call) {
    this.#progress = new CallProgress(call);
  }

  async run(handler: () => ToolResult | Promise<ToolResult>): Promise<ToolResult> {
    this.#progress.keepAlive();
    try {
      return await handler();
    } finally {
      this.#progress.stop();
    }
  }
  detach(): Promise<void> {
    return Promise.resolve();
  }
  progress(progress: number, total: number | undefined, message: string | undefined): void {
    this.#progress.send(progress, total, message);
  }
  log(): void {}
  ended(): void {}
  failed(): void {}
}
