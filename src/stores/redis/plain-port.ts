// Finds out that a port does not use TLS. Redis waits for the rest of what it takes for a command, so a connection with TLS would
// only time out, which has many reasons.

import { connect } from 'node:net';
import type { RedisHost } from './address.ts';

/** A port with TLS is connected by then. Others are not asked: they would log an error. */
const waitMs = 1_000;

export interface PlainPort {
  /** Resolves if Redis responds at one of the hosts without TLS. Otherwise it stays pending. */
  readonly found: Promise<void>;
  stop(): void;
}

export function findPlainPort(hosts: readonly RedisHost[]): PlainPort {
  const stopping = new AbortController();
  const found = new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      for (const host of hosts) {
        const socket = connect({ ...host, signal: stopping.signal });
        // The connection with TLS fails for the same reason, and reports it.
        socket.on('error', () => {});
        socket.once('data', (data) => {
          // A reply, or an error such as that a password is required.
          if (/^[+-]/.test(data.toString('latin1'))) resolve();
          socket.destroy();
        });
        socket.write('PING\r\n');
      }
    }, waitMs);
    stopping.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  return { found, stop: () => stopping.abort() };
}
