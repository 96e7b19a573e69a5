// What the connections of an upstream report to it. Only types.

import type { SignInLink } from '../../client/index.ts';
import type { UpstreamConnection } from './connection.ts';
import type { ConnectionCaller } from './contract.ts';

export interface ConnectionsEvents {
  starting(): void;
  /** A connection is open. `client` is its first. */
  opened(connection: UpstreamConnection): void;
  /** `isOfCaller`: it says nothing about other callers. */
  startFailed(error: unknown, isDown: boolean, isOfCaller: boolean): void;
  /** The caller of the connection has to sign in first. */
  signInNeeded(connection: UpstreamConnection, caller: ConnectionCaller, signIn: SignInLink): void;
  /** A connection has ended that was not closed here. */
  lost(connection: UpstreamConnection, error: Error | undefined): void;
  /** The client lost a connection and opens it again when it is needed, or has done so. */
  interrupted(connection: UpstreamConnection): void;
  restored(connection: UpstreamConnection): void;
  /** The last connection was closed because it was not needed any more. */
  idle(): void;
  unresponsive(connection: UpstreamConnection): void;
  listChanged(connection: UpstreamConnection): void;
  resourceUpdated(uri: string, connection: UpstreamConnection): void;
  /** Something that is not a valid message. */
  unexpected(what: string, kind: 'text' | 'message'): void;
  ambiguous(): void;
  answered(durationMs: number): void;
}
