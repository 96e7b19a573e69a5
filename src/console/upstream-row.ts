// A server behind a gateway as the console shows it. Types only, for the server and the page.

/** A server behind a gateway. */
export interface UpstreamRow {
  /** The text before `__` in names of its tools. */
  readonly slug: string;
  /** The name of its entry. */
  readonly name: string;
  /** `ready`, `idle`, `down` and others; the gateway decides. */
  readonly state: string;
  /** When it entered this state: ISO 8601. */
  readonly since: string;
  /** What led to the state, where there is something to say. */
  readonly reason?: string;
  /** The protocol revision of its connection. */
  readonly revision?: string;
  /** How often a connection was opened again after it had ended. */
  readonly restarts: number;
  /** Calls that are not answered yet. */
  readonly inFlight: number;
  /** How many connections are open. */
  readonly connections: number;
  /** Calls that wait for a connection. */
  readonly queued?: number;
  /** How long its latest calls took: half of them at most the first, 99 of 100 at most the second. */
  readonly p50Ms?: number;
  /** 99 of 100 calls took at most this time. */
  readonly p99Ms?: number;
  /** The process of a command; absent while it does not run. */
  readonly pid?: number;
  /** Output of the process that is not a message. */
  readonly noise?: string;
  /** How many of its messages were not valid; absent if all were. */
  readonly invalidMessages?: number;
  /** It sent input requests that could belong to several callers, so none of them was asked. */
  readonly ambiguousInput?: boolean;
  /** The end of what its process wrote to stderr. */
  readonly stderr?: string;
  /** Its tools, and their names for clients; without one a tool is hidden, or withheld until it is accepted. */
  readonly tools: readonly { readonly original: string; readonly exposed?: string; readonly withheld?: true }[];
  /** Tools that are not as they were accepted. */
  readonly pins: readonly {
    readonly tool: string;
    readonly kind: 'new' | 'changed' | 'renamed';
    readonly differences: readonly { readonly path: string; readonly before?: string; readonly after?: string }[];
  }[];
}
