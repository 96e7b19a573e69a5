// Spans of tasks: each run of a task's handler is the root of a trace of its own, linked to the call that created the task
// or to the run before it. A task may take hours and outlive its client, so it is not a child of the call.

import type { TaskEvent } from '../engine/ports.ts';
import { names, toolError } from './names.ts';
import { endSpan, type Span, type SpanContext, spanContextOf, startLinkedSpan } from './open-telemetry.ts';
import type { Attributes } from './request-attributes.ts';

/** Runs that later ones can be linked to. Stops tasks that never run again from filling the memory. */
const maxFormer = 1_000;

const startsRun = new Set<TaskEvent['type']>(['created', 'recovered']);
/** The handler no longer runs in this process. */
const endsRun = new Set<TaskEvent['type']>(['suspended', 'released', 'handed-over', 'lease-lost', 'ended']);

export class TaskSpans {
  readonly #running = new Map<string, Span>();
  readonly #former = new Map<string, SpanContext>();

  /** The span of a task that runs here. */
  spanOf(id: string | undefined): Span | undefined {
    return id === undefined ? undefined : this.#running.get(id);
  }

  /** `creator`: the span of the request that created the task, if there is one. */
  changed({ type, task }: TaskEvent, creator?: SpanContext): void {
    const { id, tool, attempt, context } = task;
    if (startsRun.has(type)) {
      this.#end(id, {});
      const cause = type === 'created' ? creator : this.#runBefore(task);
      const attributes = {
        [names.tool]: tool,
        [names.operation]: 'execute_tool',
        [names.revision]: context.revision,
        [names.task]: id,
        [names.attempt]: attempt,
      };
      this.#running.set(id, startLinkedSpan(`task ${tool}`, attributes, cause));
    } else if (endsRun.has(type)) this.#end(id, endAttributes(type, task));
    else if (type !== 'message') this.#running.get(id)?.addEvent(type);
  }

  /** The run before; if that was in another process, the request that created the task. */
  #runBefore({ id, context: { traceparent } }: TaskEvent['task']): SpanContext | undefined {
    return this.#former.get(id) ?? (traceparent === undefined ? undefined : spanContextOf(traceparent));
  }

  #end(id: string, attributes: Attributes): void {
    const span = this.#running.get(id);
    if (span === undefined) return;
    this.#running.delete(id);
    this.#former.set(id, span.spanContext());
    if (this.#former.size > maxFormer) this.#former.delete(this.#former.keys().next().value as string);
    const error = attributes[names.errorType];
    endSpan(span, attributes, error === undefined ? undefined : String(error));
  }
}

function endAttributes(type: TaskEvent['type'], { outcome }: TaskEvent['task']): Attributes {
  if (type !== 'ended' || outcome === undefined) return { [names.outcome]: type };
  if (outcome.type === 'cancelled') return { [names.outcome]: 'cancelled' };
  if (outcome.type === 'error') {
    return { [names.errorType]: String(outcome.code), [names.statusCode]: String(outcome.code) };
  }
  return outcome.isError ? { [names.errorType]: toolError } : {};
}
