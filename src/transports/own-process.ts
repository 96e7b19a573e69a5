// A process whose only purpose is to serve: signals drain the server, and the process exits with it.

import { isatty } from 'node:tty';
import type { Logger } from '../common/logger.ts';
import type { SessionHost } from '../protocol/exchange.ts';
import { signalExitCodes, watchProcess } from './process-watch.ts';

/**
 * The first SIGTERM, SIGINT or SIGHUP drains and exits with 0; a second SIGTERM or SIGINT exits immediately. With `reload`, SIGHUP
 * calls that instead, unless it was sent because the terminal was closed. Returns a function that drains and exits with a code.
 */
export function ownProcess(
  host: Pick<SessionHost, 'close'>,
  close: () => Promise<void>,
  logger: Logger & { flush?(): Promise<void> },
  reload?: () => void,
): (code: number) => Promise<void> {
  const terminal = [0, 2].find((fd) => isatty(fd));
  const isTerminalClosed = (): boolean => process.platform === 'win32' || (terminal !== undefined && !isatty(terminal));
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
  // The parent process is not watched: a server in the background continues after it.
  watchProcess({
    onSignal(signal, count) {
      if (count > 1) process.exit(signalExitCodes[signal]);
      logger.info(`${signal}: draining`);
      void exit(0);
    },
    onHangup() {
      if (reload === undefined || isTerminalClosed()) return false;
      reload();
      return true;
    },
    onFatal(kind, error) {
      logger.error(kind, { error });
      void exit(1);
    },
  });
  return exit;
}
