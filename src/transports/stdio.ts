// A server as a child process: MCP on stdin and stdout, logs on stderr. What concerns the process is here (signals, exit
// codes, other output on stdout); the connection itself is in stream.ts, which sockets use as well.

import type { Readable, Writable } from 'node:stream';
import { assertKnownOptions } from '../common/known-options.ts';
import type { Logger } from '../common/logger.ts';
import { waitAtMost } from '../common/wait.ts';
import { createLogger } from '../logging/logger.ts';
import type { Host, Principal } from '../protocol/exchange.ts';
import { assertHost } from './assert-host.ts';
import { type ProcessListener, signalExitCodes, watchParent, watchProcess, watchStderr } from './process-watch.ts';
import { guardStdout } from './stdout-guard.ts';
import { type StreamEnd, type StreamOptions, type StreamServer, serveStream } from './stream.ts';

/** How a server is served on stdio. */
export interface StdioOptions extends Omit<StreamOptions, 'logger'> {
  /** Default: `process.stdin`. */
  readonly stdin?: Readable;
  /** Default: `process.stdout`. */
  readonly stdout?: Writable;
  /** The principal, if the caller knows it: a pipe has no headers, its credentials are in the environment. */
  readonly principal?: Principal;
  /** Default: `createLogger()`, on stderr. */
  readonly logger?: Logger & { flush?(): Promise<void> };
  /**
   * Manage the whole process: handle signals, guard stdout, watch the parent, exit at the end. Default: true unless
   * `stdin` or `stdout` is given. When false, only the connection is served; see `closed`.
   */
  readonly ownProcess?: boolean;
  /** How often to check whether the parent process is still alive, in ms; 0 = never. Default 3 s. */
  readonly parentPollMs?: number;
  /** With `ownProcess`: called on SIGHUP instead of stopping, to reload settings. */
  readonly reload?: () => void;
}

/** A server on stdio. */
export interface StdioServer {
  /** Resolves when the connection has ended. With `ownProcess`, the process then exits. */
  readonly closed: Promise<StreamEnd>;
  /** Lets open calls finish within the grace period, then ends as at the end of input. */
  close(): Promise<void>;
}

const knownOptions: Record<keyof StdioOptions, true> = {
  stdin: true,
  stdout: true,
  principal: true,
  logger: true,
  ownProcess: true,
  parentPollMs: true,
  reload: true,
  maxMessageBytes: true,
  pauseBytes: true,
  maxBacklogBytes: true,
  maxUnreadBytes: true,
  graceMs: true,
};

const defaultParentPollMs = 3_000;
/** Official clients close stdin, send SIGTERM two seconds later and SIGKILL after two more: exit before that. */
const signalGraceMs = 1_000;
/** How much is read before calls can be run: fewer calls than may be in flight. */
const maxEarlyBytes = 4 * 1024;
/** How long packs may take to release their resources, and the log to be read, before the process exits anyway. */
const closeHostMs = 2_000;
const flushLogMs = 200;

/**
 * Serves MCP on stdin and stdout until the client closes them.
 *
 * By default it also manages the process (`ownProcess`). At the end of input, on SIGTERM, SIGINT and SIGHUP, and when the
 * parent process ends, open calls can finish (`graceMs`), their responses are written, and the process exits with 0. When
 * stdout is closed it exits with 0 immediately. A signal that arrives after the end of input shortens the grace period to
 * one second. A second signal, if it is not SIGHUP, exits immediately with 143 (SIGTERM) or 130 (SIGINT). An uncaught exception or
 * an unhandled rejection is logged, and the process exits with 1. What other code prints to stdout is logged instead.
 */
export async function serveStdio(host: Host, options: StdioOptions = {}): Promise<StdioServer> {
  assertHost('serveStdio', host);
  assertKnownOptions('serveStdio', options, knownOptions);
  const { stdin = process.stdin, stdout = process.stdout, logger = createLogger(), principal, ...rest } = options;
  const connection = serveStream(
    host,
    stdin,
    stdout,
    { transport: 'stdio', address: `pid ${process.ppid}`, ...(principal === undefined ? {} : { principal }) },
    { ...rest, logger },
  );
  const ownProcess = options.ownProcess ?? (options.stdin === undefined && options.stdout === undefined);
  if (ownProcess) {
    const parent = process.ppid;
    const listener = manageProcess(host, connection, stdout, logger, options.reload);
    watchProcess(listener);
    const prepare = prepareFor(host, stdin);
    // Input that waits on stdin is served first; it arrives in the second turn of the event loop.
    setImmediate(() =>
      setImmediate(() => {
        watchStderr();
        watchParent(listener, parent, options.parentPollMs ?? defaultParentPollMs);
        prepare();
      }),
    );
  }
  return { closed: connection.closed, close: () => connection.stop() };
}

/**
 * Returns a function that loads what calls need. When much input arrives before that is done, reading pauses: calls that
 * wait for it would all be in flight at once and exceed the limit.
 */
function prepareFor(host: Host, stdin: Readable): () => void {
  if (host.prepare === undefined) return () => {};
  let early = 0;
  let preparing = false;
  const done = (): void => {
    stdin.off('data', onData);
    if (early > maxEarlyBytes) stdin.resume();
  };
  const prepare = (): void => {
    if (preparing) return;
    preparing = true;
    // If loading fails, the call that needs it reports the error.
    host.prepare?.().then(done, done);
  };
  const onData = (chunk: Uint8Array): void => {
    early += chunk.length;
    if (early <= maxEarlyBytes) return;
    stdin.pause();
    prepare();
  };
  stdin.on('data', onData);
  return prepare;
}

function manageProcess(
  host: Host,
  connection: StreamServer,
  stdout: Writable,
  logger: Logger & { flush?(): Promise<void> },
  reload: (() => void) | undefined,
): ProcessListener {
  let ending = false;
  const unguard = guardStdout((line) => logger.info(line, { printedTo: 'stdout' }), stdout);

  const exit = async (code: number): Promise<void> => {
    if (ending) return;
    ending = true;
    try {
      await waitAtMost(closeHostMs, host.close());
    } catch (error) {
      logger.error('closing failed', { error });
    }
    unguard();
    await waitAtMost(flushLogMs, logger.flush?.());
    process.exit(code);
  };

  void connection.closed.then((end) => {
    logger.debug('the connection has ended', { end });
    return exit(0);
  });
  return {
    onSignal(signal, count) {
      if (count > 1) process.exit(signalExitCodes[signal]);
      logger.info(`${signal}: stopping`);
      connection.shortenGrace(signalGraceMs);
      void connection.stop();
    },
    onHangup() {
      reload?.();
      return reload !== undefined;
    },
    onOrphaned() {
      logger.info('the parent process has ended: stopping');
      void connection.stop();
    },
    onFatal(kind, error) {
      logger.error(kind, { error });
      connection.close();
      void exit(1);
    },
  };
}
