// Sends a message over a transport that an application may have written.

import type { Outgoing, Transport } from './transport.ts';

/** Calls `onFailed` if the transport throws, or returns a promise that is rejected. Those of this package do neither. */
export function sendMessage(
  transport: Transport,
  message: Outgoing,
  onFailed: (message: Outgoing, error: unknown) => void,
): void {
  try {
    const sent: unknown = transport.send(message);
    if (sent instanceof Promise) sent.catch((error: unknown) => onFailed(message, error));
  } catch (error) {
    onFailed(message, error);
  }
}
