// What lists show of a task: whether it succeeded, and a message. Results may have megabytes, so lists do not read them.

import type { Json, ToolResult } from '../../../protocol/model.ts';
import type { TaskOutcome, TaskRecord } from './task-store.ts';

/** Characters of a status message: it is part of every poll and notification. */
const maxMessageLength = 500;

export function clipMessage(text: string): string {
  return text.length > maxMessageLength ? `${text.slice(0, maxMessageLength - 1)}…` : text;
}

/** The outcome without its contents. Clients see the same status and message. */
export function summaryOf(outcome: TaskOutcome): TaskOutcome {
  if (outcome.type === 'cancelled') return outcome;
  if (outcome.type === 'error') return { type: 'error', code: outcome.code, message: clipMessage(outcome.message) };
  const { isError, result } = outcome;
  const text = isError ? firstText(result as unknown as ToolResult) : undefined;
  const content = text === undefined ? [] : [{ type: 'text', text: clipMessage(text) }];
  return { type: 'result', isError, result: { content } as Json };
}

export const firstText = ({ content }: ToolResult): string | undefined =>
  content.find((each) => each.type === 'text')?.text;

/** The record as lists show it, without what may be large. One that ended before there were summaries has its outcome. */
export function outlineOf(record: TaskRecord): TaskRecord {
  const { phase, inputs, context, outcome, summary = outcome } = record;
  return {
    ...record,
    arguments: null,
    context: { capabilities: {}, revision: context?.revision ?? '' },
    inputs: phase === 'ended' ? [] : inputs,
    steps: [],
    ...(summary === undefined ? {} : { outcome: summary }),
  };
}
