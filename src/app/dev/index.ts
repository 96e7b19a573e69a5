// Serves a file that is being written: see server-process.ts.

import { silentLogger } from '../../common/logger.ts';
import { defaultMaxMessageBytes, LineReader, type LineRejection } from '../../transports/line-reader.ts';
import { stopSignal } from '../../transports/process-watch.ts';
import { serveStdio } from '../../transports/stdio.ts';
import { DevRelay } from './relay.ts';
import type { RelayedCall } from './relayed-call.ts';
import { ServerProcess, type ServerProcessListener } from './server-process.ts';

export interface DevListener extends ServerProcessListener {
  /** The file can be run, and messages are read from stdin. */
  onServing(): void;
  onCall(call: RelayedCall): void;
  /** A line of the server on stdout that is not a message, or what is wrong with it. */
  onUnexpectedOutput(line: string): void;
}

const rejections: Readonly<Record<LineRejection, string>> = {
  'too-large': `a line of more than ${defaultMaxMessageBytes} bytes`,
  'not-utf8': 'a line that is not UTF-8',
};

/** Serves a server file on stdin and stdout until the client closes them, then ends the process. */
export async function serveDev(file: string, listener: DevListener): Promise<void> {
  const relay = new DevRelay({
    onCall: (call) => listener.onCall(call),
    onUnexpectedOutput: (line) => listener.onUnexpectedOutput(line),
    onClose: () => server.close(),
  });
  const server = new ServerProcess(
    file,
    {
      args: [],
      stdio: ['pipe', 'pipe', 'inherit', 'pipe', 'ipc'],
      start(child, isCurrent, onServing) {
        const { stdin, stdout } = child;
        // What a server still writes while it is being replaced belongs to requests that have failed already.
        const lines = new LineReader({
          onLine: (line) => isCurrent() && relay.receiveFromServer(line),
          onRejected: (reason, found) => isCurrent() && relay.rejectFromServer(rejections[reason], found),
        });
        stdout?.on('data', (chunk: Buffer) => lines.push(chunk));
        stdout?.on('end', () => lines.end());
        const begin = (): void => {
          child.off('message', receive);
          child.off('disconnect', begin);
          if (!isCurrent()) return;
          onServing();
          relay.start((text) => void stdin?.write(`${text}\n`));
        };
        // The file may send messages of its own.
        const receive = (message: unknown): void => {
          if (message === 'reading') begin();
        };
        child.on('message', receive);
        // The file has closed the channel, so it is not known when the server reads; or the process ends, which its exit reports.
        child.once('disconnect', begin);
      },
      restart: (message) => relay.restart(message),
      fail: (message) => relay.fail(message),
    },
    listener,
  );
  server.start();
  listener.onServing();
  await (await serveStdio(relay, { logger: silentLogger })).closed;
}

/** Serves a server file over HTTP on loopback until the process is stopped. Resolves with the URL when it listens. */
export async function serveDevHttp(file: string, port: number, listener: DevListener): Promise<string> {
  const { HttpFront } = await import('./http-front.ts');
  const front = new HttpFront((call) => listener.onCall(call));
  // It throws if the file cannot be run at all, and then no port may be open.
  const server = new ServerProcess(file, front, listener);
  const url = await front.listen(port);
  server.start();
  void stopSignal()
    .then(() => server.close())
    .then(() => process.exit(0));
  return url;
}
