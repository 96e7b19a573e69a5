// `mooring inspect`: the console of a server elsewhere, of a relay, or of a recording. Each runs until it is stopped.

import type { ConnectOptions } from '../../client/index.ts';
import { reasonText } from '../../common/errno-text.ts';
import {
  type AuthRecorder,
  type Console,
  endLike,
  inspectCommand,
  inspectProxy,
  inspectServer,
  inspectServers,
  openRecording,
} from '../../console/inspect/index.ts';
import { stopSignal } from '../../transports/process-watch.ts';
import type { NamedTarget } from '../targets.ts';
import { UsageError } from '../usage-error.ts';
import { openBrowser } from './open-browser.ts';
import { tryAnnounceRunning } from './running-consoles.ts';

export { recordAuthSteps } from '../../console/inspect/index.ts';

/** Options of all kinds. */
export interface InspectSettings {
  readonly port: number;
  readonly open: boolean;
  readonly readOnly: boolean;
  readonly raw: boolean;
  readonly recordFile: string | undefined;
}

/** A server to inspect. */
export interface InspectedTarget extends NamedTarget {
  readonly connect: ConnectOptions;
  readonly auth: AuthRecorder | undefined;
  /** It could not connect, and why; once for each reason. `retries`: it tries again. */
  readonly onFailed: (error: unknown, retries: boolean) => void;
}

/** Connects to a server as a client. Resolves when it was stopped. */
export function inspectTarget(inspected: InspectedTarget, settings: InspectSettings): Promise<number> {
  const { readOnly, raw, recordFile } = settings;
  const { target, ...server } = serverOf(inspected);
  const console = creating(recordFile, () => inspectServer(target, { ...server, readOnly, raw, recordFile }));
  return untilStopped(console, settings);
}

const serverOf = ({ label, target, connect, auth, onFailed }: InspectedTarget) => ({
  label,
  target: target as string,
  connect,
  onFailed,
  ...(auth === undefined ? {} : { auth: () => auth.steps() }),
});

/** Connects to several servers, each with a console of its own on the same page. */
export function inspectTargets(targets: readonly InspectedTarget[], settings: InspectSettings): Promise<number> {
  const { readOnly, raw, recordFile } = settings;
  if (recordFile !== undefined) throw new UsageError('--record works with one server, not with several');
  return untilStopped(inspectServers(targets.map(serverOf), { readOnly, raw }), settings);
}

/** Shows a recording. */
export function inspectRecording(file: string, settings: InspectSettings): Promise<number> {
  let console: Console;
  try {
    console = openRecording(file, { readOnly: settings.readOnly, raw: settings.raw });
  } catch (error) {
    throw new UsageError(`${file} cannot be opened: ${reasonText(error, 'file')}`);
  }
  return untilStopped(console, settings);
}

/** Runs a server's command in the client's place. The exit code, or the signal, is that of the command. */
export async function inspectWrapped(command: readonly string[], settings: InspectSettings): Promise<number> {
  const { readOnly, raw, recordFile } = settings;
  const { console, ended } = creating(recordFile, () => inspectCommand(command, { readOnly, raw, recordFile }));
  // The command runs already: the client must not wait for the console, nor fail because of it.
  console.listen({ port: settings.port }).then(
    ({ link }) => {
      process.stderr.write(`console on ${link}\n`);
      tryAnnounceRunning(command.join(' '), link);
    },
    (error: Error) => process.stderr.write(`mooring: the console cannot be opened: ${error.message}\n`),
  );
  try {
    const end = await ended;
    await console.close();
    endLike(end);
    return end.code ?? 1;
  } catch (error) {
    await console.close();
    throw new UsageError(`${command[0]} cannot be started: ${(error as Error).message}`);
  }
}

/** Runs a proxy for a server on HTTP. */
export async function inspectThroughProxy(
  target: string,
  proxyPort: number,
  settings: InspectSettings,
): Promise<number> {
  if (!URL.canParse(target) || !/^https?:$/.test(new URL(target).protocol)) {
    throw new UsageError(`--proxy needs the http or https URL of a server, not ${JSON.stringify(target)}`);
  }
  const { readOnly, raw, recordFile } = settings;
  const { console, proxy } = await inspectProxy(new URL(target), { readOnly, raw, recordFile, port: proxyPort }).catch(
    (error: Error) => {
      throw new UsageError(error.message);
    },
  );
  process.stderr.write(`proxy on ${proxy.url}\n`);
  const code = await untilStopped(console, settings);
  await proxy.close();
  return code;
}

/** A file for the recording that cannot be created is an error of the user. */
function creating<T>(recordFile: string | undefined, create: () => T): T {
  try {
    return create();
  } catch (error) {
    if (recordFile === undefined) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const exists = code === 'EEXIST' ? 'it already exists. Choose another name, or remove it' : undefined;
    throw new UsageError(`--record: ${recordFile} cannot be created: ${exists ?? reasonText(error, 'folder')}`);
  }
}

/** Serves the console until SIGINT, SIGTERM or SIGHUP. */
async function untilStopped(console: Console, { port, open }: InspectSettings): Promise<number> {
  const { link, oneTimeLink } = await console.listen({ port }).catch(async (error: NodeJS.ErrnoException) => {
    await console.close();
    if (error.code !== 'EADDRINUSE') throw error;
    throw new Error(`Port ${port} is already in use. Choose another with --port N`, { cause: error });
  });
  process.stderr.write(`console on ${link}\n`);
  tryAnnounceRunning('mooring inspect', link);
  if (open) openBrowser(oneTimeLink());
  const stopped = stopSignal();
  // The port does not keep the process alive by itself.
  const alive = setInterval(() => {}, 60_000);
  await stopped;
  clearInterval(alive);
  await console.close();
  return 0;
}
