// Tasks as clients see them, with the interval at which they may poll.

import type { Codec } from '../../protocol/revisions/index.ts';
import type { TaskView } from '../../protocol/revisions/tasks.ts';
import type { ToolEntry } from '../catalog-entry.ts';
import { PollIntervals, type PollLimits } from './poll-intervals.ts';
import { PolledTexts } from './polled-texts.ts';
import type { TaskRecord } from './task-store.ts';
import { viewOf } from './task-view.ts';

export class TaskViews {
  readonly #tools: ReadonlyMap<string, ToolEntry>;
  readonly #intervals = new PollIntervals();
  readonly #texts = new PolledTexts();

  constructor(tools: ReadonlyMap<string, ToolEntry>) {
    this.#tools = tools;
  }

  view(record: TaskRecord): TaskView {
    const tool = this.#tools.get(record.tool);
    return viewOf(record, tool, this.#intervals.current(record, pollLimits(record, tool)));
  }

  /** The same for a client that polls, encoded: the interval grows while nothing changes. */
  polled(record: TaskRecord, codec: Codec): string {
    const pollMs = this.#intervals.count(record, pollLimits(record, this.#tools.get(record.tool)));
    return this.#texts.get(record, codec, pollMs) ?? this.#texts.add(record, codec, this.view(record));
  }
}

function pollLimits({ pollMs }: TaskRecord, tool: ToolEntry | undefined): PollLimits | undefined {
  return pollMs === undefined ? tool?.task?.pollMs : [pollMs, pollMs];
}
