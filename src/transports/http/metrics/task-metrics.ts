// Metrics of tasks: what runs in this process, how long tasks took, and how often one was taken over. Empty until there is one.

import type { TaskChanged } from '../../../protocol/exchange.ts';
import { escapeLabel, Histogram } from './histogram.ts';

const bucketsMs = [100, 1_000, 5_000, 30_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000, 86_400_000] as const;

/** Tools are the operator's, but a server may add and remove them without end. */
const maxSeries = 200;

export class TaskMetrics {
  /** The tasks that run in this process, and whether they wait for input. */
  readonly #running = new Map<string, boolean>();
  readonly #durations = new Map<string, Histogram>();
  readonly #recoveries = new Map<string, number>();
  #leasesLost = 0;
  #isUsed = false;

  changed({ type, task }: TaskChanged): void {
    this.#isUsed = true;
    if (type === 'lease-lost') this.#leasesLost++;
    else if (type === 'recovered' && task.attempt > 1) this.#countRecovery('run-again');
    else if (type === 'ended') this.#countEnd(task);
    if (task.phase === 'running' && type !== 'lease-lost') this.#running.set(task.id, task.inputs.some(isOpen));
    else this.#running.delete(task.id);
  }

  #countEnd({ tool, outcome, createdAtMs, endedAtMs = createdAtMs }: TaskChanged['task']): void {
    if (isInterrupted(outcome)) this.#countRecovery('interrupted');
    const ended = outcome?.type === 'result' ? (outcome.isError ? 'failed' : 'ok') : (outcome?.type ?? 'error');
    const labels = `tool="${escapeLabel(tool)}",outcome="${ended}"`;
    const key =
      this.#durations.has(labels) || this.#durations.size < maxSeries ? labels : `tool="other",outcome="${ended}"`;
    let histogram = this.#durations.get(key);
    if (histogram === undefined) this.#durations.set(key, (histogram = new Histogram(bucketsMs)));
    histogram.add(endedAtMs - createdAtMs);
  }

  #countRecovery(how: string): void {
    this.#recoveries.set(how, (this.#recoveries.get(how) ?? 0) + 1);
  }

  lines(): string[] {
    if (!this.#isUsed) return [];
    const waiting = [...this.#running.values()].filter(Boolean).length;
    return [
      ...head('mooring_tasks', 'gauge', 'Tasks that run in this process, by status.'),
      `mooring_tasks{status="working"} ${this.#running.size - waiting}`,
      `mooring_tasks{status="input_required"} ${waiting}`,
      ...head('mooring_task_duration_seconds', 'histogram', 'Time from the creation of a task to its end.'),
      ...[...this.#durations].flatMap(([labels, each]) => each.lines('mooring_task_duration_seconds', labels)),
      ...head('mooring_task_recoveries_total', 'counter', 'Tasks of processes that ended, by what became of them.'),
      ...[...this.#recoveries].map(([how, count]) => `mooring_task_recoveries_total{how="${how}"} ${count}`),
      ...head('mooring_task_leases_lost_total', 'counter', 'Tasks that this process had to stop running.'),
      `mooring_task_leases_lost_total ${this.#leasesLost}`,
    ];
  }
}

const head = (name: string, type: string, help: string): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

const isOpen = (input: TaskChanged['task']['inputs'][number]): boolean =>
  input.answeredAtMs === undefined && input.cancelled === undefined;

/** The process that ran it ended, and its handler must not run twice. */
function isInterrupted(outcome: TaskChanged['task']['outcome']): boolean {
  return outcome?.type === 'error' && (outcome.data as { reason?: unknown } | undefined)?.reason === 'interrupted';
}
