// Combines several authenticators, and authenticates pipes, whose credentials come from the environment.

import type { Authenticate, AuthRequest, Denied, Principal } from './contract.ts';
import { isDenied } from './contract.ts';

/** Accepts what one of these accepts, in order. If all of them deny, the closest denial is returned. */
export function anyOf(...ways: readonly Authenticate[]): Authenticate {
  const wrong = ways.findIndex((way) => typeof way !== 'function');
  if (ways.length === 0 || wrong !== -1) {
    const given = ways.length === 0 ? '' : `; argument ${wrong + 1} is of type ${typeof ways[wrong]}`;
    throw new TypeError(`anyOf needs functions that identify the caller: anyOf(tokens, oauth.authenticate)${given}`);
  }
  return async (request) => {
    let best: Denied | undefined;
    for (const way of ways) {
      const result = await way(request);
      if (result !== undefined && !isDenied(result)) return result;
      if (rank(result) > rank(best)) best = result;
    }
    return best;
  };
}

/** A token that only lacks scopes is closer than an invalid one, and an invalid one is closer than none. */
function rank(denied: Denied | undefined): number {
  if (denied === undefined) return 0;
  if (denied.status === 403) return 3;
  return denied.challenge?.includes('resource_metadata') === true ? 2 : 1;
}

/**
 * The principal at the other end of a pipe: a server started by its client finds the client's token in its environment.
 * Throws if there is none, or it is not valid: then nothing should be served.
 */
export async function authenticateEnvironment(
  authenticate: Authenticate,
  env: Readonly<Record<string, string | undefined>>,
  variable = 'MOORING_TOKEN',
): Promise<Principal> {
  const token = env[variable];
  const request: AuthRequest = {
    method: 'STDIO',
    path: '',
    address: undefined,
    get: (name) => (name === 'authorization' && token !== undefined ? `Bearer ${token}` : undefined),
  };
  const result = await authenticate(request);
  if (result === undefined || isDenied(result)) {
    throw new Error(`${variable} does not contain a valid token: ${result?.message ?? 'it was not accepted'}`);
  }
  return result;
}
