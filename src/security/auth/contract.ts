// What authentication takes and gives. The shapes are those of the transports, which this room does not import: any
// function of this type can be given to `serveHttp` as it is.

import type { Principal } from '../../protocol/principal.ts';

export type { Principal } from '../../protocol/principal.ts';

/** What an authenticator may look at. */
export interface AuthRequest {
  readonly method: string;
  readonly path: string;
  /** For logs and limits, never for trust. */
  readonly address: string | undefined;
  /** A header by its lower-case name. */
  get(name: string): string | undefined;
}

/** Why a request was not let in. */
export interface Denied {
  /** 401: say who you are. 403: you may not. */
  readonly status: 401 | 403;
  /** The value of `WWW-Authenticate`. */
  readonly challenge?: string;
  readonly message?: string;
}

/** A principal, a refusal, or undefined: "this is not for me to decide", which alone is the same as a refusal. */
export type Verdict = Principal | Denied | undefined;

/** Finds out for whom a request acts. */
export type Authenticate = (request: AuthRequest) => Verdict | Promise<Verdict>;

/** Whether a verdict lets nobody in. */
export const isDenied = (verdict: Verdict): verdict is Denied => verdict !== undefined && 'status' in verdict;
