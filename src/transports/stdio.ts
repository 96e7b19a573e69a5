// A server as a child process: MCP on stdin and stdout, logs on stderr. What belongs to the process lives here
// (signals, exit codes, stray prints); the connection itself is stream.ts, which sockets use as well.

import type { Readable, Writable } from 'node:stream';
import { createLogger } from '../logging/logger.ts';
import type { Host, Principal } from '../protocol/exchange.ts';
import type { Logger } from '../protocol/logger.ts';
import { type ProcessListener, signalExitCodes, watchParent, watchProcess, watchStderr } from './process-watch.ts';
import { guardStdout } from './stdout-guard.ts';
import { type StreamEnd, type StreamOptions, type StreamServer, serveStream } from './stream.ts';

export interface StdioOptions extends Omit<StreamOptions, 'logger'> {
  /** Default: `process.stdin`. */
  readonly stdin?: Readable;
  /** Default: `process.stdout`. */
  readonly stdout?: Writable;
  /** Who is at the other end, found out by the caller: a pipe has no headers, its credentials are in the environment. */
  readonly principal?: Principal;
  /** Default: `createLogger()`, on stderr. */
  readonly logger?: Logger & { flush?(): Promise<void> };
  /**
   * Act for the whole process: heed signals, guard stdout, watch the parent, exit at the end. Default: true unless
   * `stdin` or `stdout` is given. When false the connection is all there is; see `closed`.
   */
  readonly ownProcess?: boolean;
  /** How often to look whether the parent still lives, in ms; 0 = never. Default 3 s. */
  readonly parentPollMs?: number;
}

/** A server on stdio. */
export interface StdioServer {
  /** Resolves when the connection is over. In a process of its own the exit follows. */
  readonly closed: Promise<StreamEnd>;
  /** Lets open calls finish within the grace period, then ends as an end of input would. */
  close(): Promise<void>;
}

const defaultParentPollMs = 3_000;
/** Official clients close our stdin, send SIGTERM two seconds later and kill after two more: be gone by then. */
const hurryMs = 1_000;
/** What is read before calls can be run. With the chunk that exceeds it: fewer calls than may be in flight. */
const maxEarlyBytes = 4 * 1024;
/** How long packs may take to let go of what they hold, and the log to be read, before we exit anyway. */
const closeHostMs = 2_000;
const flushLogMs = 200;

/**
 * Serves MCP on stdin and stdout until the client closes them.
 *
 * In a process of its own (the default) it also sees to the end of it. End of input, SIGTERM, SIGINT, SIGHUP and the
 * death of the parent let open calls finish (`graceMs`), write their answers and exit with 0; so does a closed stdout, at once.
 * A signal that comes while the end of input is being handled leaves it one more second. A second signal exits
 * immediately with 143 (SIGTERM), 130 (SIGINT) or 129 (SIGHUP). An error outside every handler (an uncaught exception, an unhandled
 * rejection) is logged and exits with 1. Until then whatever other code prints to stdout is logged instead.
 */
export async function serveStdio(host: Host, options: StdioOptions = {}): Promise<StdioServer> {
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
    const listener = ownTheProcess(host, connection, stdout, logger);
    watchProcess(listener);
    const prepare = prepareFor(host, stdin);
    // What already waits on stdin comes first, and is there in the second turn.
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
 * How to load what calls need. When much comes in before that has been asked for or is done, it is done first: calls
 * that wait for it would all be in flight at once, and be refused for their number.
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
    // A call that needs what can not be loaded will say so.
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

function ownTheProcess(
  host: Host,
  connection: StreamServer,
  stdout: Writable,
  logger: Logger & { flush?(): Promise<void> },
): ProcessListener {
  let ending = false;
  const unguard = guardStdout((line) => logger.info(line, { printedTo: 'stdout' }), stdout);

  const exit = async (code: number): Promise<void> => {
    if (ending) return;
    ending = true;
    try {
      await within(closeHostMs, host.close());
    } catch (error) {
      logger.error('closing failed', { error });
    }
    unguard();
    await within(flushLogMs, logger.flush?.());
    process.exit(code);
  };

  void connection.closed.then((end) => {
    logger.debug('connection over', { end });
    return exit(0);
  });
  return {
    onSignal(signal, count) {
      if (count > 1) process.exit(signalExitCodes[signal]);
      logger.info(`${signal}: stopping`);
      connection.shortenGrace(hurryMs);
      void connection.stop();
    },
    onOrphaned() {
      logger.info('the parent process is gone: stopping');
      void connection.stop();
    },
    onFatal(kind, error) {
      logger.error(kind, { error });
      connection.close();
      void exit(1);
    },
  };
}

/** Waits for `work`, but not longer; without keeping the process alive for it. */
async function within(ms: number, work: Promise<void> | undefined): Promise<void> {
  if (work === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
