// Tasks of the gateway that outlive its process: the task of the upstream is recorded as a step, and the process that resumes
// the task of the gateway continues with it. The upstream is never called twice.

import type { Client, TaskHandle } from '../../client/index.ts';
import type { CancelSignal } from '../../common/cancellation.ts';
import type { Context } from '../../engine/context.ts';
import type { InputRequest } from '../../engine/input-requests/input-request.ts';
import { InputRequestError } from '../../engine/input-requests/input-request-error.ts';
import type { TaskRecord } from '../../engine/tasks/store/task-store.ts';
import type { ToolResult } from '../../protocol/model.ts';
import { sha256 } from '../sha256.ts';
import { encodeRequest } from './held-call-messages.ts';

const taskStep = 'gateway-task';
const sentStep = (phase: number): string => `gateway-sent-${phase}`;
const answeredStep = (key: string): string => `answered ${key}`;

/** Why a run ends although its task continues, in another process or later. See `StopReason` of the engine. */
const handedOver: readonly unknown[] = ['shutdown', 'lease-lost', 'suspended'];

export function isHandedOver(reason: unknown): boolean {
  return reason instanceof DOMException && handedOver.includes(reason.message);
}

/** `phase`: how often the upstream has asked for input before. */
export async function recordSent(ctx: Context, phase: number): Promise<void> {
  await ctx.step(sentStep(phase), () => true);
}

/** The request was about to be sent by an earlier process: it may have run, and must not be sent again. */
export function wasSent(ctx: Context, phase: number): boolean {
  return ctx.stepResult(sentStep(phase)) !== undefined;
}

/** `id`: of the task of the upstream. */
export async function recordTask(ctx: Context, id: string): Promise<void> {
  await ctx.step(taskStep, () => id);
}

export function recordedTask(ctx: Context): string | undefined {
  const id = ctx.stepResult(taskStep);
  return typeof id === 'string' ? id : undefined;
}

/** The task of the upstream that a task of the gateway stands for. */
export function taskOf({ steps }: Pick<TaskRecord, 'steps'>): string | undefined {
  const id = steps.find(({ key }) => key === taskStep)?.value;
  return typeof id === 'string' ? id : undefined;
}

/** Waits for the result of a task that the upstream works on. Aborting cancels it. `changed`: it has another status. */
export async function finishTask(
  client: Client,
  id: string,
  signal: CancelSignal,
  changed: (task: TaskHandle) => void,
): Promise<ToolResult> {
  const task = await client.tasks.attach(id);
  changed(task);
  task.onChange(changed);
  const waiting = new AbortController();
  const cancel = (): void => {
    waiting.abort(signal.reason);
    task.cancel().catch(() => {
      // The task has ended, or the upstream cannot be reached.
    });
  };
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await task.wait({ signal: waiting.signal });
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/**
 * Asks the client of a task. After a restart, an upstream repeats its open input requests: the same request has the same key,
 * unless it was answered or cancelled. `open`: the keys in use.
 */
export async function askInTask(
  ctx: Context,
  request: InputRequest,
  open: Set<string>,
  signal: AbortSignal,
): Promise<unknown> {
  const digest = sha256(JSON.stringify(encodeRequest(request)), 'base64url').slice(0, 16);
  let n = 1;
  const isUsed = (key: string): boolean => open.has(key) || ctx.stepResult(answeredStep(key)) !== undefined;
  while (isUsed(`${digest}-${n}`)) n++;
  const key = `${digest}-${n}`;
  open.add(key);
  try {
    const response = await ctx.requestInput(key, request, { signal });
    // Recorded before the upstream gets the response: any later input request is a new one.
    await ctx.step(answeredStep(key), () => true);
    return response;
  } catch (error) {
    if (error instanceof InputRequestError && error.code === 'cancelled') await ctx.step(answeredStep(key), () => true);
    throw error;
  } finally {
    open.delete(key);
  }
}
