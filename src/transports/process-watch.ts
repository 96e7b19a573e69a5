// What can befall a process that serves a pipe: signals, the death of its parent, an error nobody caught. Says so;
// what to do about it is stdio.ts.

export type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP';

export interface ProcessListener {
  /** `count` is 1 for the first signal of any kind. */
  onSignal(signal: StopSignal, count: number): void;
  /** SIGHUP, for a process that does something else about it than stop: true says that it did, and it does not count. */
  onHangup?(): boolean;
  /** Whoever started us is gone, though the pipe is still open: another process holds its other end. */
  onOrphaned(): void;
  /** An exception or a rejection outside every handler. */
  onFatal(kind: 'uncaught exception' | 'unhandled rejection', error: unknown): void;
}

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const satisfies StopSignal[];

/** The exit code a shell expects of a process that a signal ended. */
export const signalExitCodes: Record<StopSignal, number> = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 };

/** Watches signals and errors until the process ends. */
export function watchProcess(listener: Omit<ProcessListener, 'onOrphaned'>): void {
  let count = 0;
  for (const signal of signals) {
    process.on(signal, () => {
      if (signal !== 'SIGHUP' || listener.onHangup?.() !== true) listener.onSignal(signal, ++count);
    });
  }
  process.on('uncaughtException', (error) => listener.onFatal('uncaught exception', error));
  process.on('unhandledRejection', (error) => listener.onFatal('unhandled rejection', error));
}

/** A line for a stderr that the client has closed, from whatever code, is lost; it does not end the process. */
export function watchStderr(): void {
  process.stderr.on('error', () => {});
}

/**
 * Watches the process that was our parent when we began; a `pollMs` of 0 leaves it unwatched. Polling is the portable
 * way (no system calls us back), and one look costs less than a microsecond.
 */
export function watchParent(listener: Pick<ProcessListener, 'onOrphaned'>, parent: number, pollMs: number): void {
  if (pollMs === 0) return;
  const timer = setInterval(() => {
    if (process.ppid === parent && (process.platform !== 'win32' || exists(parent))) return;
    clearInterval(timer);
    listener.onOrphaned();
  }, pollMs);
  timer.unref();
}

/** On Windows an orphan keeps the number of its dead parent. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
