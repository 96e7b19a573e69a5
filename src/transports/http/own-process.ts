// Serving as the purpose of the whole process: signals drain, and the process ends with the server.

import type { SessionHost } from '../../protocol/exchange.ts';
import type { Logger } from '../../protocol/log.ts';
import { signalExitCodes, watchProcess } from '../process-watch.ts';

/** The first SIGTERM or SIGINT drains and exits with 0; a second one exits at once. */
export function ownProcess(
  host: SessionHost,
  close: () => Promise<void>,
  logger: Logger & { flush?(): Promise<void> },
): void {
  const exit = async (code: number): Promise<void> => {
    try {
      await close();
      await host.close();
    } catch (error) {
      logger.error('closing failed', { error });
    }
    await logger.flush?.();
    process.exit(code);
  };
  // The parent is not watched: a server in the background outlives whoever started it.
  watchProcess({
    onSignal(signal, count) {
      if (count > 1) process.exit(signalExitCodes[signal]);
      logger.info(`${signal}: draining`);
      void exit(0);
    },
    onFatal(kind, error) {
      logger.error(kind, { error });
      void exit(1);
    },
  });
}
