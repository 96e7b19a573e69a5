// Consoles for servers that are not in this process: a client of theirs, a relay between them and a client, a recording.

import { readFileSync, statSync } from 'node:fs';
import type { ConnectOptions, Target } from '../../client/index.ts';
import { version } from '../../common/version.ts';
import type { AuthStep } from '../api.ts';
import { type Console, type ConsoleAccessOptions, consoleOf, consolesOf } from '../console.ts';
import type { ConsoleSource } from '../contract.ts';
import { maxRecordingBytes, parseRecording, restoreRecording } from '../feed/recording.ts';
import { InspectSource } from './inspect-source.ts';
import { type RunningProxy, startProxy } from './proxy.ts';
import { recordToFile } from './record-file.ts';
import { RelaySource } from './relay-source.ts';
import { type CommandEnd, wrapCommand } from './wrap.ts';

export type { Console } from '../console.ts';
export { type AuthRecorder, recordAuthSteps } from './auth-steps.ts';
export type { RunningProxy } from './proxy.ts';
export { type CommandEnd, endLike } from './wrap.ts';

/** Options of all these consoles. */
export interface InspectConsoleOptions extends Pick<ConsoleAccessOptions, 'readOnly' | 'folder'> {
  /** Shows secrets. */
  readonly raw?: boolean;
  /** Writes every message to this file, which must not exist yet. */
  readonly recordFile?: string | undefined;
}

export interface InspectServerOptions extends InspectConsoleOptions {
  readonly label: string;
  readonly connect: ConnectOptions;
  readonly auth?: () => readonly AuthStep[];
  /** It could not connect, and why; once for each reason. `retries`: it tries again. */
  readonly onFailed?: (error: unknown, retries: boolean) => void;
}

/** The console of a server that our client connects to. */
export function inspectServer(target: Target, options: InspectServerOptions): Console {
  const { raw = false } = options;
  return withRecording(new InspectSource({ ...options, target, raw, version }), options);
}

/** One of several servers. */
export interface InspectedServer extends Pick<InspectServerOptions, 'label' | 'connect' | 'auth' | 'onFailed'> {
  readonly target: Target;
}

/** The consoles of several servers on one port. */
export function inspectServers(servers: readonly InspectedServer[], options: InspectConsoleOptions): Console {
  const { raw = false } = options;
  const sources = servers.map((server) => new InspectSource({ ...server, raw, version }));
  return consolesOf(sources, options, raw);
}

/** A command that is run in the client's place, and the console that shows its messages. */
export interface WrappedCommand {
  readonly console: Console;
  readonly ended: Promise<CommandEnd>;
}

/** Runs a server's command on our stdin, stdout and stderr. */
export function inspectCommand(command: readonly string[], options: InspectConsoleOptions): WrappedCommand {
  const source = new RelaySource('relay', command.join(' '), options.raw === true);
  // The recording comes first: if its file cannot be written, the command must not start.
  const console = withRecording(source, options);
  return { console, ended: wrapCommand(command, source.feed) };
}

/** A proxy on a loopback port, and the console that shows its messages. */
export async function inspectProxy(
  target: URL,
  options: InspectConsoleOptions & { readonly port?: number },
): Promise<{ readonly console: Console; readonly proxy: RunningProxy }> {
  const source = new RelaySource('relay', target.href, options.raw === true);
  const console = withRecording(source, options);
  return { console, proxy: await startProxy(target, source.feed, options.port) };
}

/** The console of a recording. Throws if the file cannot be read or is not a recording. */
export function openRecording(path: string, options: InspectConsoleOptions): Console {
  const { size } = statSync(path);
  if (size > maxRecordingBytes) throw new Error(`${path} is larger than ${maxRecordingBytes} bytes`);
  const recording = parseRecording(readFileSync(path, 'utf8'));
  const source = new RelaySource('recording', path, options.raw === true);
  source.server = recording.server;
  restoreRecording(source.feed, recording);
  return consoleOf(source, options, options.raw === true);
}

function withRecording(source: ConsoleSource, options: InspectConsoleOptions): Console {
  const { recordFile, raw = false } = options;
  const stop = recordFile === undefined ? undefined : recordToFile(source, recordFile);
  const console = consoleOf(source, options, raw);
  if (stop === undefined) return console;
  return {
    ...console,
    async close() {
      await console.close();
      stop();
    },
  };
}
