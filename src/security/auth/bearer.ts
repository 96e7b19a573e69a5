// Bearer tokens on the wire: parses the header and creates challenges that say what was wrong (RFC 6750). Does not
// validate tokens.

import type { AuthRequest, Denied } from './contract.ts';

/** The maximum length of a header; a longer one cannot be a token. */
const maxTokenChars = 8192;

/**
 * The token of a request. `absent`: no header, or one of another scheme. `malformed`: a header without a valid token, which is 401
 * and not 400 (RFC 6750, section 3.1, `invalid_token`): clients sign in after 401, and take 400 for a server of another revision
 * or transport (2026-07-28, Streamable HTTP, "Backward Compatibility").
 */
export type Bearer = { readonly token: string } | 'absent' | 'malformed';

/** Reads the token from its only valid location: the header, never the query. */
export function readBearer(request: AuthRequest): Bearer {
  const header = request.get('authorization');
  // A challenge for another scheme says nothing about a token (RFC 6750, section 3.1).
  if (header === undefined || !/^bearer(?![A-Za-z0-9._~+/=-])/i.test(header)) return 'absent';
  // A repeated header is joined by a comma, which no token contains.
  const found = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header.slice(0, maxTokenChars + 8));
  return found === null || header.length > maxTokenChars + 7 ? 'malformed' : { token: found[1] as string };
}

/** What a challenge says. */
export interface ChallengeParts {
  readonly error?: 'invalid_token' | 'insufficient_scope';
  readonly description?: string;
  readonly scopes?: readonly string[];
  /** The address of this resource's metadata (RFC 9728). */
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

/** The request has no token. */
export const missingToken = (parts: ChallengeParts = {}): Denied => ({
  status: 401,
  challenge: challengeOf(parts),
  message: 'Unauthorized: a bearer token is required',
});

/** The token is not valid here. */
export const invalidToken = (why: string, parts: ChallengeParts = {}): Denied => ({
  status: 401,
  challenge: challengeOf({ ...parts, error: 'invalid_token', description: why }),
  message: `Unauthorized: ${why}`,
});

/** A valid token that lacks scopes. `scopes` are all that are needed, including those it has. */
export const insufficientScope = (scopes: readonly string[], parts: ChallengeParts = {}): Denied => ({
  status: 403,
  challenge: challengeOf({ ...parts, error: 'insufficient_scope', scopes, description: 'more scopes are needed' }),
  message: `Forbidden: the token needs the scopes ${scopes.join(' ')}`,
});
