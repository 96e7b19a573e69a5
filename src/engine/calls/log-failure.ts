// The log line of a handler that failed.

import type { Call } from '../contract.ts';

/** Logs a bug of the server's author, with what is known of the client. */
export function logFailure(call: Call, message: string, error: unknown): void {
  const { clientInfo, peer } = call;
  call.server.logger?.error(message, {
    ...(clientInfo === undefined ? {} : { client: `${clientInfo.name} ${clientInfo.version}` }),
    ...(peer.principal === undefined ? {} : { principal: peer.principal.id }),
    error,
  });
}
