// What tools/call needs besides the call itself: the encoder of its result, its time limit, and how a failure is reported.
// Loaded at start: middleware may answer a call, and its time limit may pass, before call-tool.ts is loaded.

import { UserError } from '../../common/user-error.ts';
import { WireError } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { ToolResult } from '../../protocol/model.ts';
import type { ToolFailure } from '../../protocol/rules.ts';
import { CallTimeout } from '../calls/call-timeout.ts';
import { logFailure } from '../calls/log-failure.ts';
import { RelayedResult } from '../calls/relayed-result.ts';
import type { ToolEntry } from '../catalog/catalog-entry.ts';
import type { Call, Feature } from '../contract.ts';
import { InputRequestError } from '../input-requests/input-request-error.ts';

/** The feature `tools/call` without its `run`. */
export const toolOutcome = {
  duration: 'handler',
  encode: (result, call) =>
    (result instanceof RelayedResult ? result.textFor(call.codec) : undefined) ??
    call.codec.toolResult(result, (call.target as ToolEntry | undefined)?.output?.json),
  recover: (error, call) => toFailureResult(call, error),
  // Whether the caller may see the tool does not matter here.
  timeoutMs: (call) => call.catalog.tools.get(call.params['name'] as string)?.definition.timeoutMs,
  failed: (result) => result.isError === true,
} as const satisfies Omit<Feature<ToolResult>, 'run'>;

/** The result for what a tool threw. A wire error is thrown on. */
export function toFailureResult(call: Call, error: unknown): ToolResult {
  if (error instanceof WireError) throw error;
  const name = call.params['name'] as string;
  if (error instanceof InputRequestError && call.codec.inputRequests === 'retry') {
    const missing = error.toWireError(call.capabilities);
    if (missing !== undefined) throw missing;
  }
  const mapped = call.codec.rules.handlerError?.(error, name);
  if (mapped !== undefined) throw mapped;
  if (error instanceof CallTimeout) return toolFailure(call, error.message, 'timeout');
  const isStopped = call.settled && (call.task?.id === undefined || call.signal.aborted);
  const isExpected = error instanceof UserError || error instanceof InputRequestError || isStopped;
  if (!isExpected) logFailure(call, `tool ${name} failed`, error);
  return toolFailure(call, isExpected || !call.server.masksErrors ? messageOf(error) : maskedText, 'handler');
}

const maskedText = 'The tool failed. The reason is in the log of the server.';

/** A failure as a result of the tool. */
export function toolFailure(call: Call, message: string, reason: ToolFailure): ToolResult {
  const text = call.codec.rules.toolText?.(message, reason) ?? message;
  return { content: [{ type: 'text', text }], isError: true };
}

/** Only the message: stacks and causes are for the log. */
function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message === '' ? error.name : error.message;
  if (isObject(error) && typeof error['message'] === 'string') return error['message'];
  if (typeof error === 'object' && error !== null) return 'The tool threw an object without a message';
  return error === undefined || error === '' ? 'The tool threw nothing that says why' : String(error);
}
