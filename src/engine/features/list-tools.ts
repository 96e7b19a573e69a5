// What a server knows of its tools before one is called: tools/list, how long a call may take, and how it is said that
// one failed. Calls themselves are call-tool.ts, which is loaded with the first of them.

import { WireError } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { ToolResult } from '../../protocol/model.ts';
import type { ToolFailure } from '../../protocol/rules.ts';
import type { Call } from '../call.ts';
import type { ToolEntry } from '../catalog.ts';
import { CallTimeout, type Feature } from '../feature.ts';
import { InputRequestError } from '../input-requests/index.ts';

export const listTools: Feature<string> = {
  run: (call) => call.server.lists.page('tools', call),
  encode: (page, { server }) => server.lists.encode(page),
};

/** All of tools/call but the call: middleware may answer one, and its time may be up, before the rest is there. */
export const toolFailureHandling = {
  duration: 'handler',
  encode: (result, call) => call.codec.toolResult(result, (call.target as ToolEntry | undefined)?.output?.json),
  recover: (error, call) => toFailureResult(call, error),
  // The tool's own limit; whether the caller may see the tool is not asked here.
  timeoutMs: (call) => call.server.catalog.tools.get(call.params['name'] as string)?.definition.timeoutMs,
  failed: (result) => result.isError === true,
} as const satisfies Omit<Feature<ToolResult>, 'run'>;

/** What a tool threw: a wire error stays one, anything else is a result that says so. */
export function toFailureResult(call: Call, error: unknown): ToolResult {
  if (error instanceof WireError) throw error;
  const name = call.params['name'] as string;
  if (error instanceof InputRequestError && call.codec.inputRequests === 'retry') {
    const missing = error.toWireError();
    if (missing !== undefined) throw missing;
  }
  const mapped = call.codec.rules.handlerError?.(error, name);
  if (mapped !== undefined) throw mapped;
  call.server.logger?.debug(`tool ${name} failed`, { error });
  return toolFailure(call, messageOf(error), error instanceof CallTimeout ? 'timeout' : 'handler');
}

/** A failure as the outcome of a tool. */
export function toolFailure(call: Call, message: string, reason: ToolFailure): ToolResult {
  const text = call.codec.rules.toolText?.(message, reason) ?? message;
  return { content: [{ type: 'text', text }], isError: true };
}

/** The message alone: stacks and causes are for the log. */
function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message === '' ? error.name : error.message;
  if (isObject(error) && typeof error['message'] === 'string') return error['message'];
  return String(error);
}
