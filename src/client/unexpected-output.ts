// Reports output of a server that is not a protocol message. Such output is ignored, so that a server which logs to
// stdout still works, and reported once, unless all of it is wanted, so that its author learns about it.

import type { Logger } from '../common/logger.ts';
import type { ConnectOptions } from './options.ts';
import type { Transport } from './transports/transport.ts';

/** A function that reports the first unexpected output to the handler, the logger or the process. */
export function reportUnexpectedOutput(
  { onUnexpectedOutput, reportsAllOutput = false, logger }: ConnectOptions,
  fallback: Logger,
): (transport: Transport, what: string, kind: 'text' | 'message') => void {
  let reported = false;
  return ({ kind: transport, address }, what, kind) => {
    if (reported && !(reportsAllOutput && onUnexpectedOutput !== undefined)) return;
    reported = true;
    if (onUnexpectedOutput !== undefined) {
      try {
        onUnexpectedOutput(what, kind);
      } catch (error) {
        fallback.error('onUnexpectedOutput failed', { error });
      }
    } else if (logger !== undefined) {
      logger.warn('the server sent something that is not a protocol message', { server: address, what });
    } else if (transport === 'stdio') {
      process.emitWarning(
        `The server ${JSON.stringify(address)} writes to stdout what is not a protocol message: ${what}. It was ignored; servers log to stderr.`,
        { type: 'McpServerWarning', code: 'MCP_STDOUT' },
      );
    }
  };
}
