// Prints tasks, and shows the status of one as a progress bar.

import { lineForTerminal } from '../../app/untrusted-text.ts';
import type { TaskHandle, TaskInfo } from '../../client/index.ts';
import type { Output } from '../ui/output.ts';
import type { ProgressBar, ProgressReport } from '../ui/progress.ts';
import { type Column, table } from '../ui/table.ts';

/** Prints the state of a task, one line per field. */
export function showTask(info: TaskInfo, out: Output): void {
  const { style, width } = out;
  const asked = Object.values(info.inputRequests ?? {}).map(({ method, params }) => {
    const { message } = params;
    return typeof message === 'string' ? message : method;
  });
  const rows = [
    ['task', info.taskId],
    ['status', info.status],
    ['message', info.statusMessage],
    ['created', info.createdAt],
    ['updated', info.lastUpdatedAt],
    ['expires', expiryOf(info)],
    ...asked.map((message) => ['asks', message]),
  ].filter((row): row is [string, string] => row[1] !== undefined);
  const columns: Column<[string, string]>[] = [
    { title: '', text: ([name]) => name, paint: (text) => style.faint(text) },
    { title: '', text: ([, value]) => lineForTerminal(value, 1_000) },
  ];
  out.write(table(rows, columns, { style, width, bare: true }));
}

/** Prints a list of tasks. */
export function showTasks(
  tasks: readonly Pick<TaskInfo, 'taskId' | 'status' | 'statusMessage' | 'createdAt'>[],
  out: Output,
): void {
  const { style, width } = out;
  const columns: Column<(typeof tasks)[number]>[] = [
    { title: 'task', text: ({ taskId }) => lineForTerminal(taskId), paint: (text) => style.name(text) },
    { title: 'status', text: ({ status }) => status },
    { title: 'created', text: ({ createdAt }) => lineForTerminal(createdAt) },
    { title: 'message', text: ({ statusMessage = '' }) => lineForTerminal(statusMessage) },
  ];
  out.write(table(tasks, columns, { style, width }));
}

/** Shows the status messages of a task in a bar. */
export function showStatusIn(bar: () => ProgressBar, task: TaskHandle): void {
  const show = ({ info }: TaskHandle): void => {
    if (info?.statusMessage !== undefined) bar().report(toProgress(info.statusMessage));
  };
  show(task);
  task.onChange(show);
}

/** Status messages often say how far a task is: "3/8", "3 of 8 pages", "40 %". */
export function toProgress(message: string): ProgressReport {
  const share = /\b(\d+(?:\.\d+)?) ?(?:\/|of) ?(\d+(?:\.\d+)?)\b/.exec(message);
  const percent = /\b(\d+(?:\.\d+)?) ?%/.exec(message);
  if (share !== null && Number(share[2]) > 0) return { progress: Number(share[1]), total: Number(share[2]), message };
  return percent === null ? { message } : { progress: Number(percent[1]), total: 100, message };
}

function expiryOf({ createdAt, ttlMs }: TaskInfo): string | undefined {
  if (ttlMs === null) return undefined;
  const at = new Date(Date.parse(createdAt) + ttlMs);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
