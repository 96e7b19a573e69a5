// Tasks as clients see them, with the interval at which they may poll.

import type { Codec } from '../../../protocol/revisions/index.ts';
import type { TaskView } from '../../../protocol/revisions/tasks.ts';
import type { ToolEntry } from '../../catalog/catalog-entry.ts';
import type { TaskRecord } from '../store/task-store.ts';
import { PollIntervals, type PollLimits } from './poll-intervals.ts';
import { PolledTexts } from './polled-texts.ts';
import { viewOf } from './task-view.ts';

export class TaskViews {
  readonly #toolOf: (record: TaskRecord) => ToolEntry | undefined;
  readonly #intervals = new PollIntervals();
  readonly #texts = new PolledTexts();

  /** `toolOf`: the current definition of its tool, if it still exists. */
  constructor(toolOf: (record: TaskRecord) => ToolEntry | undefined) {
    this.#toolOf = toolOf;
  }

  view(record: TaskRecord): TaskView {
    const tool = this.#toolOf(record);
    return viewOf(record, tool, this.#intervals.current(record, pollLimits(record, tool)));
  }

  /** The same for a client that polls, encoded: the interval grows while nothing changes. */
  polled(record: TaskRecord, codec: Codec): string {
    const pollMs = this.#intervals.count(record, pollLimits(record, this.#toolOf(record)));
    return this.#texts.get(record, codec, pollMs) ?? this.#texts.add(record, codec, this.view(record));
  }
}

function pollLimits({ pollMs }: TaskRecord, tool: ToolEntry | undefined): PollLimits | undefined {
  return pollMs === undefined ? tool?.task?.pollMs : [pollMs, pollMs];
}
