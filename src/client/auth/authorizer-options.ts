// Everything an application may say about how to authorize with one MCP server. What it means is create-authorizer.ts.

import type { MachineGrant } from './grants/machine-grants.ts';
import type { Redirector } from './grants/redirect.ts';
import type { RegistrationOptions } from './grants/registration.ts';
import type { AuthHttpOptions } from './http.ts';
import type { CredentialStore } from './storage/credential-store.ts';

/** Options of `createAuthorizer`; only `server` must be given. */
export interface AuthorizerOptions extends RegistrationOptions, AuthHttpOptions {
  /** The MCP endpoint. Credentials go to its origin and to no other. */
  readonly server: string | URL;
  /** A grant for machines. Absent: a user signs in. */
  readonly grant?: MachineGrant;
  /** Scopes to ask for besides those a challenge names; with the grant `token-exchange`, instead of those. */
  readonly scopes?: readonly string[];
  /**
   * The resource that tokens are requested for (RFC 8707). Default: what the server publishes, otherwise its URL. Needed where
   * an authorization server knows the server under another name.
   */
  readonly resource?: string;
  /** More parameters of the authorization request; of the token request where no user signs in. */
  readonly extraParams?: Readonly<Record<string, string>>;
  /**
   * Where tokens and registrations are stored, one token for each server: share it only between authorizers of the same user.
   * Default: memory, which is the only possibility with the grant `token-exchange`.
   */
  readonly store?: CredentialStore;
  /** How a user signs in; `false` where no user can. Default: a browser and a listener on loopback. */
  readonly redirector?: Redirector | false;
  /** Whether tokens are bound to a key of ours. Default `auto`: where the server demands it. */
  readonly dpop?: 'auto' | 'always' | 'never';
  /** Whether to ask for refresh tokens where that takes a scope of its own. Default true. */
  readonly offlineAccess?: boolean;
  /** Picks one of several authorization servers. */
  readonly chooseServer?: (issuers: readonly string[]) => string | Promise<string>;
  /** Sent to the MCP server during discovery. */
  readonly protocolVersion?: string | (() => string | undefined);
  /** How long a user may take. Default 5 minutes. */
  readonly signInTimeoutMs?: number;
  /** Rejections of one request before it fails; stops a server that rejects every token. Default 4. */
  readonly maxAttempts?: number;
}
