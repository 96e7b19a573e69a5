// Events of a process that serves MCP: signals, the end of its parent, uncaught errors. What to do about them is decided
// in stdio.ts and own-process.ts.

import { isRunning } from './is-running.ts';

export type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP';

export interface ProcessListener {
  /** `count` is 1 for the first signal of any kind. SIGHUP is reported only as the first. */
  onSignal(signal: StopSignal, count: number): void;
  /** SIGHUP, for a process that does not stop on it. Returns true when it was handled; then it does not count. */
  onHangup?(): boolean;
  /** The parent process has ended, though the pipe is still open: another process holds its other end. */
  onOrphaned(): void;
  /** An exception or a rejection outside every handler. */
  onFatal(kind: 'uncaught exception' | 'unhandled rejection', error: unknown): void;
}

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const satisfies StopSignal[];

/** The exit code that shells use for a process ended by a signal. */
export const signalExitCodes: Record<StopSignal, number> = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 };

/** Watches signals and errors until the process ends. */
export function watchProcess(listener: Omit<ProcessListener, 'onOrphaned'>): void {
  let count = 0;
  for (const signal of signals) {
    process.on(signal, () => {
      // When a terminal is closed, its shell and the system both send it: the second one does not mean that the user cannot wait.
      if (signal === 'SIGHUP' && (count > 0 || listener.onHangup?.() === true)) return;
      listener.onSignal(signal, ++count);
    });
  }
  process.on('uncaughtException', (error) => listener.onFatal('uncaught exception', error));
  process.on('unhandledRejection', (error) => listener.onFatal('unhandled rejection', error));
}

/**
 * Resolves with the first signal, for a process that then ends by itself. A second SIGTERM or SIGINT ends it at once; SIGHUP does
 * not, for the same reason as above.
 */
export function stopSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    const stop = (signal: StopSignal): void => {
      for (const other of ['SIGTERM', 'SIGINT'] as const) process.off(other, stop);
      resolve(signal);
    };
    for (const signal of signals) process.on(signal, stop);
  });
}

/** Keeps the process alive when the client has closed stderr; what is written there is lost. */
export function watchStderr(): void {
  process.stderr.on('error', () => {});
}

/**
 * Watches the parent process; with a `pollMs` of 0 it is not watched. Polling is portable, and one check costs less than a
 * microsecond.
 */
export function watchParent(listener: Pick<ProcessListener, 'onOrphaned'>, parent: number, pollMs: number): void {
  if (pollMs === 0) return;
  const timer = setInterval(() => {
    // On Windows `ppid` does not change when the parent ends.
    if (process.ppid === parent && (process.platform !== 'win32' || isRunning(parent))) return;
    clearInterval(timer);
    listener.onOrphaned();
  }, pollMs);
  timer.unref();
}
