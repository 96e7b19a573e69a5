// What MCP_LOG_LEVEL=DEBUG shows of a clipboard server: messages, calls and their ends, never the text they carry.

import type { Observer } from '../../engine/ports.ts';
import type { Logger } from '../../protocol/log.ts';

/** Follows every message and call at level debug. Whatever could be clipboard text is replaced by its length. */
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

/** Names under which a text is the protocol's own. Any other text, and any other name, may be the clipboard's. */
const words = new Set([
  ...['jsonrpc', 'id', 'method', 'requestId', 'protocolVersion', 'version', 'name', 'type'],
  ...['code', 'message', 'details', 'remedy', 'description', 'required'],
]);
const structure = new Set([
  ...['params', 'result', 'error', 'data', 'clientInfo', 'serverInfo', 'capabilities', 'tools', 'inputSchema'],
  ...['properties', 'content', 'text', 'arguments', '_meta'],
]);
const maxDepth = 8;
const maxItems = 100;

/** The message without the texts in it: structure, methods, ids and codes stay. */
function shape(value: unknown, shown = false, depth = 0): unknown {
  if (typeof value === 'string') return shown ? value : `[${value.length} characters]`;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, maxItems).map((each) => shape(each, shown, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, maxItems)
      .map(([key, each]) => [
        words.has(key) || structure.has(key) ? key : `[name of ${key.length} characters]`,
        // Inside of arguments nothing is ours.
        key === 'arguments' ? conceal(each) : shape(each, words.has(key), depth + 1),
      ]),
  );
}

function conceal(value: unknown): string {
  return `[${JSON.stringify(value)?.length ?? 0} characters]`;
}
