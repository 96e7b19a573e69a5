// The debug log of the clipboard profile: messages, calls and their outcomes, never clipboard text.

import type { Logger } from '../../common/logger.ts';
import type { Observer } from '../../engine/ports.ts';

/** Logs every message and call at level debug. Text that could come from the clipboard is replaced by its length. */
export function traceCalls(logger: Logger): Observer {
  return {
    received: (message) => logger.debug('received', { message: shape(message) }),
    sent: (text) => logger.debug('sent', { message: shape(JSON.parse(text)) }),
    started: ({ method, name }) => logger.debug('started', { method, ...(name === undefined ? {} : { name }) }),
    ended: ({ request, outcome, code, durationMs }) =>
      logger.debug('ended', {
        method: request.method,
        ...(request.name === undefined ? {} : { name: request.name }),
        outcome,
        ...(code === undefined ? {} : { code }),
        durationMs: Math.round(durationMs * 10) / 10,
      }),
  };
}

/** Fields whose text comes from the protocol. All other texts and names may be clipboard text. */
const describeMessage = new Set([
  ...['jsonrpc', 'id', 'method', 'requestId', 'protocolVersion', 'version', 'name', 'type'],
  ...['code', 'message', 'details', 'remedy', 'description', 'required'],
]);
const structure = new Set([
  ...['params', 'result', 'error', 'data', 'clientInfo', 'serverInfo', 'capabilities', 'tools', 'inputSchema'],
  ...['properties', 'content', 'text', 'arguments', '_meta'],
]);
const maxDepth = 8;
const maxItems = 100;

/** The message without its texts: structure, methods, ids and codes stay. */
function shape(value: unknown, shown = false, depth = 0): unknown {
  if (typeof value === 'string') return shown ? value : `[${value.length} characters]`;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, maxItems).map((each) => shape(each, shown, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, maxItems)
      .map(([key, each]) => [
        describeMessage.has(key) || structure.has(key) ? key : `[name of ${key.length} characters]`,
        // Arguments are hidden completely.
        key === 'arguments' ? conceal(each) : shape(each, describeMessage.has(key), depth + 1),
      ]),
  );
}

function conceal(value: unknown): string {
  return `[${JSON.stringify(value)?.length ?? 0} characters]`;
}
