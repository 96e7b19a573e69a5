// Serves a file that is being written: see dev-server.ts.

import { silentLogger } from '../../protocol/logger.ts';
import { serveStdio } from '../../transports/stdio.ts';
import { type DevListener, DevServer } from './dev-server.ts';

export type { DevListener } from './dev-server.ts';

/** Serves a server file on stdin and stdout until the client closes them, then ends the process. */
export async function serveDev(file: string, listener: DevListener): Promise<void> {
  const { relay } = new DevServer(file, listener);
  await (await serveStdio(relay, { logger: silentLogger })).closed;
}
