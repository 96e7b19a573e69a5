// Reports output of a server that is not a protocol message. Such output is ignored, so that a server which logs to
// stdout still works, and reported once, so that its author learns about it.

import type { Logger } from '../protocol/logger.ts';
import type { ConnectOptions } from './options.ts';
import type { Transport } from './transports/transport.ts';

/** A function that reports the first unexpected output to the handler, the logger or the process. */
export function reportUnexpectedOutput(
  { onUnexpectedOutput, logger }: ConnectOptions,
  fallback: Logger,
): (transport: Transport, what: string) => void {
  let reported = false;
  return ({ kind, address }, what) => {
    if (reported) return;
    reported = true;
    if (onUnexpectedOutput !== undefined) {
      try {
        onUnexpectedOutput(what);
      } catch (error) {
        fallback.error('onUnexpectedOutput failed', { error });
      }
    } else if (logger !== undefined) {
      logger.warn('the server sent something that is not a protocol message', { server: address, what });
    } else if (kind === 'stdio') {
      process.emitWarning(
        `The server ${JSON.stringify(address)} writes to stdout what is not a protocol message: ${what}. It was ignored; servers log to stderr.`,
        { type: 'McpServerWarning', code: 'MCP_STDOUT' },
      );
    }
  };
}
