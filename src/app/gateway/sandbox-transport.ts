// A server that is started in the sandbox: it sees only the folders of its entry, and no network unless the entry says so.

import { ClientError, type Outgoing, type Transport, type TransportListener } from '../../client/index.ts';
import { lastLines } from '../../common/last-lines.ts';
import type { UpstreamConfig, UpstreamSandbox } from '../../gateway/config/gateway-config.ts';
import type { Sandbox, SandboxProcess } from '../../security/sandbox/index.ts';
import { findProgram } from '../../transports/find-program.ts';
import { LineReader } from '../../transports/line-reader.ts';
import { LineWriter } from '../../transports/line-writer.ts';
import { forTerminal } from '../untrusted-text.ts';

/** Wraps the sandbox, so that starts of programs are recorded. */
export type RecordSandbox = (sandbox: Sandbox) => Sandbox;

/** The transport of a server with a sandbox; undefined for one without. */
export function sandboxedTarget(config: UpstreamConfig, record: RecordSandbox): (() => Transport) | undefined {
  const { sandbox } = config;
  return sandbox === undefined ? undefined : () => new SandboxTransport(config, sandbox, record);
}

class SandboxTransport implements Transport {
  readonly kind = 'stdio';
  readonly address: string;
  readonly #config: UpstreamConfig;
  readonly #policy: UpstreamSandbox;
  readonly #record: RecordSandbox;
  #sandbox: Sandbox | undefined;
  #process: SandboxProcess | undefined;
  #writer: LineWriter | undefined;
  #reader: LineReader | undefined;
  #isClosed = false;

  constructor(config: UpstreamConfig, policy: UpstreamSandbox, record: RecordSandbox) {
    this.#config = config;
    this.#policy = policy;
    this.#record = record;
    // Part of messages, and the command line may contain secrets.
    this.address = config.slug;
  }

  get stderr(): string {
    return this.#process?.stderrTail().toString('utf8') ?? '';
  }

  async open(listener: TransportListener): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      const { message: reason, remedy } = error as Error & { readonly remedy?: string };
      const what = `Could not start ${JSON.stringify(this.address)} in its sandbox: ${reason}`;
      const message = remedy === undefined ? what : `${what}. ${remedy}`;
      throw new ClientError('spawn-failed', message, { cause: error });
    }
    const process = this.#process as SandboxProcess;
    if (this.#isClosed) {
      await this.#end();
      return;
    }
    const { maxResultBytes } = this.#config;
    const reader = new LineReader(
      {
        parse: (line) => listener.parse?.(line),
        onLine: (line, parsed) => listener.receive(line, undefined, parsed),
        onRejected: (reason) => listener.reportUnexpected(`a line that is ${reason}`),
      },
      maxResultBytes + 64 * 1024,
    );
    this.#reader = reader;
    this.#writer = new LineWriter(process.stdin, { onFull() {}, onReady() {}, onClosed() {} });
    process.stdout.on('data', (chunk: Uint8Array) => reader.push(chunk));
    process.stdout.on('end', () => reader.end());
    process.stdout.on('error', () => reader.end());
    void process.exited.then(({ exitCode, stopped }) => {
      if (this.#isClosed) return;
      const how = stopped === null ? `exited with code ${exitCode}` : `was ended by the sandbox: ${stopped}`;
      const { stderr } = this;
      const message = `The server ${JSON.stringify(this.address)} ${how}${wrote(stderr)}`;
      listener.lost(new ClientError('server-exited', message, { stderr }));
    });
  }

  send({ text }: Outgoing): void {
    if (this.#writer?.closed === false) this.#writer.write(text);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#writer?.flush();
    this.#writer?.close();
    this.#reader?.close();
    await this.#end();
  }

  async #end(): Promise<void> {
    await this.#process?.kill();
    await this.#sandbox?.close();
  }

  async #start(): Promise<void> {
    const { entry, inheritEnv } = this.#config;
    const { command = '', args = [], cwd } = entry;
    const env = { ...inherited(inheritEnv), ...entry.env };
    const found = findProgram(command, { PATH: process.env['PATH'], ...env }, cwd ?? process.cwd());
    if ('why' in found) throw new Error(found.why);
    const { readOnly, writable, network } = this.#policy;
    // Loaded with the first server that has a sandbox.
    const { createSandbox, workerLimits } = await import('../../security/sandbox/index.ts');
    this.#sandbox = this.#record(
      await createSandbox({
        programs: [{ name: 'server', path: found.path }],
        readOnly,
        writable,
        network,
        environment: { set: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', ...env } },
        limits: workerLimits,
      }),
    );
    this.#process = await this.#sandbox.spawn({ program: 'server', args, ...(cwd === undefined ? {} : { cwd }) });
  }
}

/** Variables of our own environment, of which a sandbox inherits nothing. */
function inherited(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      // A value that begins so is a function for some shells: code, not data.
      return value === undefined || value.startsWith('()') ? [] : [[name, value]];
    }),
  );
}

/** The end of what it wrote to stderr, as the end of a message. */
function wrote(stderr: string): string {
  const lines = lastLines(stderr, 10).map((line) => `  ${forTerminal(line)}`);
  return lines.length === 0 ? '' : `. Last lines of its stderr:\n${lines.join('\n')}`;
}
