// A server we start ourselves: one message per line on its stdin and stdout.

import { findProgram } from '../../transports/find-program.ts';
import { LineReader } from '../../transports/line-reader.ts';
import { LineWriter } from '../../transports/line-writer.ts';
import { clientErrors } from '../errors.ts';
import type { ConnectOptions } from '../options.ts';
import { ChildServer } from './child-process.ts';
import { childEnvironment } from './environment.ts';
import type { Outgoing, Transport, TransportListener } from './transport.ts';

const defaultGraceMs = 2_000;
/** Unread requests at which further ones fail: a server that does not read would have us fill our memory for it. */
const maxBacklogBytes = 64 * 1024 * 1024;

/** A server in a child process. */
export class StdioTransport implements Transport {
  readonly kind = 'stdio';
  readonly address: string;
  readonly #argv: readonly [string, ...string[]];
  readonly #options: ConnectOptions;
  readonly #maxMessageBytes: number;
  #listener: TransportListener | undefined;
  #child: ChildServer | undefined;
  #writer: LineWriter | undefined;
  #reader: LineReader | undefined;
  #closing: Promise<void> | undefined;

  constructor(address: string, argv: readonly [string, ...string[]], options: ConnectOptions, maxMessageBytes: number) {
    this.address = address;
    this.#argv = argv;
    this.#options = options;
    this.#maxMessageBytes = maxMessageBytes;
  }

  get stderr(): string {
    return this.#child?.stderr ?? '';
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async open(listener: TransportListener): Promise<void> {
    const { env: given, inheritEnv, closeGraceMs, onStderr, cwd = process.cwd() } = this.#options;
    const [program, ...args] = this.#argv;
    const env = childEnvironment(given, inheritEnv);
    const found = findProgram(program, env, cwd);
    if ('why' in found) throw clientErrors.spawnFailed(this.address, found.why);
    const child = await ChildServer.start({
      address: this.address,
      path: found.path,
      args,
      env,
      cwd,
      graceMs: closeGraceMs ?? defaultGraceMs,
      onStderr,
    });
    this.#listener = listener;
    this.#child = child;
    if (this.#closing === undefined) this.#connect(child, listener);
    else await child.end(0);
  }

  send({ text, id, droppable = false }: Outgoing): void {
    const writer = this.#writer;
    if (writer === undefined || writer.closed) return;
    const isFull = writer.backlog > maxBacklogBytes;
    if (isFull && droppable) return;
    if (isFull && id !== undefined) {
      const why = `it does not read its input; ${maxBacklogBytes} bytes are waiting`;
      queueMicrotask(() => this.#listener?.fail(id, clientErrors.lost(this.address, why, this.stderr)));
      return;
    }
    writer.write(text);
  }

  close(graceMs?: number): Promise<void> {
    if (this.#closing === undefined) this.#closing = this.#close(graceMs);
    else if (graceMs !== undefined) void this.#child?.end(graceMs);
    return this.#closing;
  }

  #connect(child: ChildServer, listener: TransportListener): void {
    const { stdin, stdout } = child;
    const reader = new LineReader(
      {
        parse: (line) => listener.parse?.(line),
        onLine: (line, parsed) => listener.receive(line, undefined, parsed),
        onRejected: (reason, { id, isResponse }) => {
          if (reason === 'too-large' && isResponse && typeof id === 'number') {
            listener.fail(id, clientErrors.tooLarge('The answer', this.#maxMessageBytes));
          } else
            listener.reportUnexpected(
              reason === 'too-large'
                ? `a line of more than ${this.#maxMessageBytes} bytes`
                : 'a line that is not UTF-8',
              'message',
            );
        },
      },
      this.#maxMessageBytes,
    );
    this.#reader = reader;
    // A pipe that breaks is the first sign of an end; how it ended is known when the process is gone.
    this.#writer = new LineWriter(stdin, { onFull() {}, onReady() {}, onClosed() {} });
    stdout.on('data', (chunk: Uint8Array) => reader.push(chunk));
    stdout.on('end', () => reader.end());
    stdout.on('error', () => reader.end());
    void child.ended.then((how) => {
      if (this.#closing === undefined) listener.lost(clientErrors.exited(this.address, how, child.stderr));
    });
    // A server that closes its stdout and keeps running will never respond again.
    stdout.once('end', () => this.#expectExit(child, listener));
  }

  #expectExit(child: ChildServer, listener: TransportListener): void {
    const timer = setTimeout(() => {
      if (this.#closing === undefined)
        listener.lost(clientErrors.exited(this.address, 'closed its stdout', child.stderr));
    }, 1_000);
    void child.ended.then(() => clearTimeout(timer));
  }

  async #close(graceMs: number | undefined): Promise<void> {
    // What was sent in this turn, the notice of a cancelled call for example, still leaves.
    this.#writer?.flush();
    this.#writer?.close();
    this.#reader?.close();
    await this.#child?.end(graceMs);
  }
}
