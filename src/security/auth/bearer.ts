// Bearer tokens on the wire: reading the header and saying in one what was wrong (RFC 6750). Nothing here knows whether
// a token is good.

import type { AuthRequest, Denied } from './contract.ts';

/** A header holds at most this; a longer one is no token of anybody. */
const maxTokenChars = 8192;

/** The token of a request. `malformed`: there is a header, but no token in it. */
export type Bearer = { readonly token: string } | 'absent' | 'malformed';

/** Reads the one place where a token may be: the header, never the query. */
export function readBearer(request: AuthRequest): Bearer {
  const header = request.get('authorization');
  if (header === undefined) return 'absent';
  // A header that came twice is joined by a comma, which no token has.
  const found = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header.slice(0, maxTokenChars + 8));
  return found === null || header.length > maxTokenChars + 7 ? 'malformed' : { token: found[1] as string };
}

/** What a challenge says. */
export interface ChallengeParts {
  readonly error?: 'invalid_token' | 'insufficient_scope';
  readonly description?: string;
  readonly scopes?: readonly string[];
  /** Where the metadata of this resource is (RFC 9728). */
  readonly resourceMetadata?: string;
}

/** The value of `WWW-Authenticate`. */
export function challengeOf({ error, description, scopes, resourceMetadata }: ChallengeParts): string {
  const parts: string[] = [];
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') parts.push(`${name}="${value.replace(/[^\x20-\x7e]|["\\]/g, '')}"`);
  };
  add('error', error);
  add('error_description', description);
  add('scope', scopes?.join(' '));
  add('resource_metadata', resourceMetadata);
  return parts.length === 0 ? 'Bearer' : `Bearer ${parts.join(', ')}`;
}

/** Nobody in particular asks: say who you are. */
export const unknownCaller = (parts: ChallengeParts = {}): Denied => ({
  status: 401,
  challenge: challengeOf(parts),
  message: 'Unauthorized: a bearer token is required',
});

/** A token that is not good here. */
export const badToken = (why: string, parts: ChallengeParts = {}): Denied => ({
  status: 401,
  challenge: challengeOf({ ...parts, error: 'invalid_token', description: why }),
  message: `Unauthorized: ${why}`,
});

/** A good token that does not reach far enough. `scopes` are all that are needed, those it has included. */
export const shortToken = (scopes: readonly string[], parts: ChallengeParts = {}): Denied => ({
  status: 403,
  challenge: challengeOf({ ...parts, error: 'insufficient_scope', scopes, description: 'more scopes are needed' }),
  message: `Forbidden: the token needs the scopes ${scopes.join(' ')}`,
});
