// The encoded response to the last poll of each task, reused while nothing changes. (bench tasks, "tasks/get".)

import type { Codec } from '../../../protocol/revisions/index.ts';
import { encodeTask, type TaskView } from '../../../protocol/revisions/tasks.ts';
import type { TaskRecord } from '../store/task-store.ts';

interface PolledText {
  readonly codec: Codec;
  readonly pollMs: number | undefined;
  readonly text: string;
}

export class PolledTexts {
  /** A record is replaced when its task changes. */
  readonly #texts = new WeakMap<TaskRecord, PolledText>();

  /** The text, if it is known for this revision and interval. */
  get(record: TaskRecord, codec: Codec, pollMs: number): string | undefined {
    const last = this.#texts.get(record);
    return last?.codec === codec && last.pollMs === pollMs ? last.text : undefined;
  }

  add(record: TaskRecord, codec: Codec, view: TaskView): string {
    const text = encodeTask(view, codec);
    this.#texts.set(record, { codec, pollMs: view.pollIntervalMs, text });
    return text;
  }
}
