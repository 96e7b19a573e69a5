// The interfaces of authentication. They match those of the transports, which this folder does not import: any function
// of this type can be passed to `serveHttp`.

import type { Principal } from '../../protocol/callers/principal.ts';

export type { Principal } from '../../protocol/callers/principal.ts';

/** What an authenticator can read of a request. */
export interface AuthRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** For logs and limits, never for trust. */
  readonly address: string | undefined;
  /** The request of the platform: an `IncomingMessage` of `node:http`, or a `Request`. */
  readonly raw?: unknown;
  /** A header by its lower-case name. */
  get(name: string): string | undefined;
}

/** Why a request was denied. */
export interface Denied {
  /** 401: authenticate first. 403: not allowed. */
  readonly status: 401 | 403;
  /** The value of `WWW-Authenticate`. */
  readonly challenge?: string;
  /** What the caller is told. */
  readonly message?: string;
}

/** A principal, a denial, or undefined: "not decided here", which counts as a denial if no other authenticator decides. */
export type AuthenticationResult = Principal | Denied | undefined;

/** Finds the principal of a request. */
export type Authenticate = (request: AuthRequest) => AuthenticationResult | Promise<AuthenticationResult>;

/** Whether a result is a denial. */
export const isDenied = (result: AuthenticationResult): result is Denied => result !== undefined && 'status' in result;
