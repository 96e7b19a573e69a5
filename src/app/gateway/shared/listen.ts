// The socket of a shared gateway: who listens on it, and connections to it.

import { lstatSync, rmSync } from 'node:fs';
import { connect, type Server, type Socket } from 'node:net';
import { withLockFile } from '../../../transports/lock-file.ts';
import { UsageError } from '../../usage-error.ts';
import { checkSocketPath, restrictSocket } from '../control-socket.ts';

/** Another gateway needs a moment to listen; the lock of one that cannot is removed after 15 seconds. */
const lockMs = 20_000;
/** ECONNRESET: of a process that ends in this very moment. */
const nothingListens: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET']);

/** A connection; undefined if nothing listens. */
export function openSocket(path: string): Promise<Socket | undefined> {
  return new Promise((resolved, rejected) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once('connect', () => {
      socket.off('error', onError);
      // Who reads it later learns from its end that it has failed.
      socket.on('error', () => socket.destroy());
      resolved(socket);
    });
    const onError = (error: NodeJS.ErrnoException): void => {
      if (nothingListens.has(error.code ?? '')) resolved(undefined);
      else rejected(new Error(`The shared gateway cannot be reached: ${error.message}`));
    };
    socket.once('error', onError);
  });
}

/**
 * Listens on a socket on which no other process listens. Of several gateways that are started for it, one does, even if the
 * client that started the first one was killed meanwhile. The socket of a gateway that was killed is replaced.
 */
export async function listenAlone(listener: Server, path: string): Promise<void> {
  // The system gives a named pipe of Windows to one process only.
  if (process.platform === 'win32') return listen(listener, path);
  checkSocketPath(path);
  const busy = (lock: string, holder: string): Error =>
    new Error(`${path} is used by ${holder}. Remove ${lock} if that process is gone`);
  await withLockFile(`${path}.lock`, { timeoutMs: lockMs, busy }, async () => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSocket() === false) throw new UsageError(`--socket: ${path} exists, and is not a socket`);
    const running = await openSocket(path);
    if (running !== undefined) {
      running.destroy();
      throw new UsageError(`Another process listens on ${path}. Connect to it, or choose another path with --socket`);
    }
    rmSync(path, { force: true });
    await listen(listener, path);
    restrictSocket(path);
  });
}

function listen(listener: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(path, () => {
      listener.off('error', reject);
      resolve();
    });
  });
}
