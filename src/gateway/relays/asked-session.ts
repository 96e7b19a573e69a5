// The session of a client as a connection to an upstream asks it, while no call is in progress.

import { InputFailure } from '../../client/index.ts';
import type { SessionClient } from '../../engine/context.ts';
import type { UpstreamSession } from '../upstreams/contract.ts';
import { withServerName } from './input-request.ts';

/** `serverName`: shown before the text for the user, so that no server can pose as another; undefined if there is only one. */
export function askedSession(
  client: SessionClient,
  serverName: string | undefined,
  passesExtensions: boolean,
): UpstreamSession {
  return {
    client,
    passesExtensions,
    async ask(request, signal) {
      try {
        return await client.requestInput(withServerName(request, serverName), signal);
      } catch (error) {
        throw new InputFailure('failed', error instanceof Error ? error.message : String(error), error);
      }
    },
  };
}
