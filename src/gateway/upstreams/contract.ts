// The interfaces between upstreams and what uses them: calls that are passed on, and what an upstream reports.

import type { LogMessage } from '../../client/index.ts';
import type { AudienceTest } from '../../engine/changes/audience.ts';
import type { SessionClient } from '../../engine/context.ts';
import type { InputRequest } from '../../engine/input-requests/input-request.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { CheckedLists } from './checked-lists.ts';

/** A call of a client that an upstream works on. It is also the options of its request to the upstream. */
export interface UpstreamCall {
  /**
   * Identifies the caller: equal for two calls only if they certainly have the same caller. Input requests and log
   * messages of an upstream reach only the caller whose call caused them.
   */
  readonly caller: unknown;
  /** It has neither a session nor a principal, so the next call of the same client has another `caller`. */
  readonly isAnonymous: boolean;
  /** Which callers share a connection, by isolation. */
  readonly principalKey: string;
  /** The key of the session; the key of the principal where there are no sessions. */
  readonly sessionKey: string;
  /** What the caller's client can be asked for: capabilities to declare for a connection of its own. */
  readonly asks: Asks;
  /** The headers of its request that are passed on. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Its index among the calls of its connection, and its sequence number. The connection sets them. */
  slot: number;
  order: number;
  /** When its request was sent, on the clock of `performance.now()`. */
  readonly sentAtMs: number;
  /** It waited for input of a user, so its duration says nothing about the upstream. */
  readonly hasAsked: boolean;
  /** Passes an input request of the upstream on. Rejects with an `InputFailure`. */
  ask(request: InputRequest, signal: AbortSignal): Promise<unknown>;
  /** The upstream wanted this input, and the caller cannot be asked for it. */
  notAsked(request: InputRequest): void;
  log(message: LogMessage): void;
  /** The user has finished at the URL of an input request with this id. */
  elicitationCompleted(id: string): void;
  /** A notification of an extension. */
  notify(method: string, params: JsonObject): void;
  /** Its client knows the extensions of the upstream: it is connected to that server only. */
  readonly passesExtensions: boolean;
  /** Its session, if requests can be sent to it outside of calls. */
  readonly sessionClient: SessionClient | undefined;
  /** This session, as a connection asks it. */
  asSession(client: SessionClient): UpstreamSession;
}

/** Which connection a caller uses, by isolation. */
export type CallerKeys = Pick<UpstreamCall, 'principalKey' | 'sessionKey'>;

/** A caller whose session may be asked while no call is in progress. */
export type SessionCaller = Partial<Pick<UpstreamCall, 'sessionClient' | 'asSession'>>;

/** What decides which connection a caller uses, what is declared when it is opened, and what lists are read with. */
export type ConnectionCaller = Pick<UpstreamCall, 'principalKey' | 'sessionKey' | 'asks' | 'headers'> & SessionCaller;

/** A session of a client that uses a connection: it may be asked while no call is in progress. */
export interface UpstreamSession {
  readonly client: SessionClient;
  readonly passesExtensions: boolean;
  ask(request: InputRequest, signal: AbortSignal): Promise<unknown>;
}

/** What a client supports: the input requests that can be passed on to it, and whether it shows apps. */
export interface Asks {
  readonly form: boolean;
  readonly url: boolean;
  readonly sampling: boolean;
  readonly samplingTools: boolean;
  readonly roots: boolean;
  /** It shows the pages of MCP Apps. */
  readonly apps: boolean;
}

/** What a server behind a gateway does now. */
export type UpstreamStateName =
  | 'disabled'
  /** It is not connected; the next call starts it. */
  | 'idle'
  | 'starting'
  | 'ready'
  /**
   * Connected, but it does not respond, sends invalid messages, or its lists could not be read again; or one of its connections
   * could not be opened while others are.
   */
  | 'degraded'
  | 'needs-login'
  /** It cannot be connected to. */
  | 'down';

/** The state of an upstream, for operators and monitoring. */
export interface UpstreamStatus {
  /** The name of its entry. */
  readonly name: string;
  /** The text before `__` in names of its tools. */
  readonly slug: string;
  /** What it does now. */
  readonly state: UpstreamStateName;
  /** When it entered this state: ISO 8601. */
  readonly since: string;
  /** What led to the state, where there is something to say. */
  readonly reason?: string;
  /** The protocol revision of its connection. */
  readonly revision?: string;
  /** How often a connection was opened again after it had ended, not responded or been restarted. */
  readonly restarts: number;
  /** Calls that are not answered yet, those in `queued` included. */
  readonly inFlight: number;
  /** Calls that wait for a connection. */
  readonly queued: number;
  /** Half of its last 512 calls, and 99 of 100, took at most this time; absent before the first. */
  readonly p50Ms?: number;
  /** 99 of 100 of its last 512 calls took at most this time. */
  readonly p99Ms?: number;
  /** The process of a command; absent while it does not run. */
  readonly pid?: number;
  /** How many connections are open. */
  readonly connections: number;
  /** How many callers have lists of their own; absent if all callers see the same. */
  readonly callerLists?: number;
  /** How many of its tools may not be used until they are accepted; absent if all may. */
  readonly withheldTools?: number;
  /** Output of the process that is not a message. */
  readonly noise?: string;
  /** How many of its messages were not valid; absent if all were. */
  readonly invalidMessages?: number;
  /** It sent input requests that could belong to several callers: a connection for each session would help. */
  readonly ambiguousInput?: boolean;
  /** The end of what its process wrote to stderr. */
  readonly stderr?: string;
}

/** Is notified of what happens to an upstream. */
export interface UpstreamListener {
  /** What all callers see has changed, or whether they all see the same. */
  listsChanged(): void;
  /** What the callers with this isolation key see may have changed. */
  callerListsChanged(key: string, before: CheckedLists | undefined, after: CheckedLists): void;
  /** A resource that is followed has changed. `audience`: only these clients are notified; undefined: all. */
  resourceUpdated(uri: string, audience: AudienceTest | undefined): void;
  stateChanged(status: UpstreamStatus): void;
}
