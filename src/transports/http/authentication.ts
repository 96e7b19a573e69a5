// What `authenticate` returned: a caller, a denial, or a mistake of its author.

import type { Principal } from '../../protocol/exchange.ts';
import type { Denied } from './options.ts';

const expected = 'return { id } for a caller, and undefined or { status: 401 } to reject the request';

/**
 * The caller; a denial if there is none. Throws for anything else: callers without an id would share one identity, and with it
 * each other's sessions and tasks.
 */
export function authenticated(result: unknown): Principal | Denied {
  if (result === undefined || result === null || result === false) return { status: 401 };
  // Not the value: it could be a token.
  if (typeof result !== 'object') throw new TypeError(`authenticate returned a ${typeof result}; ${expected}`);
  if ('status' in result) {
    if (isErrorStatus(result.status)) return result as Denied;
    throw new TypeError(
      `authenticate returned an object whose status is ${JSON.stringify(result.status)}, ` +
        `which must be 401 or 403 for a denial, and absent for a caller; ${expected}`,
    );
  }
  if ('id' in result && typeof result.id === 'string' && result.id !== '') return result as Principal;
  const given = 'id' in result ? `whose id is ${JSON.stringify(result.id)}` : 'without an id';
  throw new TypeError(`authenticate returned an object ${given}, which must be a non-empty string; ${expected}`);
}

function isErrorStatus(status: unknown): boolean {
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600;
}
