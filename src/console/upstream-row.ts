// A server behind a gateway as the console shows it. Types only, for the server and the page.

/** A server behind a gateway. */
export interface UpstreamRow {
  readonly slug: string;
  readonly name: string;
  /** `ready`, `idle`, `down` and others; the gateway decides. */
  readonly state: string;
  readonly since: string;
  readonly reason?: string;
  readonly revision?: string;
  readonly restarts: number;
  readonly inFlight: number;
  readonly connections: number;
  /** Calls that wait for a connection. */
  readonly queued?: number;
  /** How long its latest calls took: half of them at most the first, 99 of 100 at most the second. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly pid?: number;
  readonly noise?: string;
  /** How many of its messages were not valid; absent if all were. */
  readonly invalidMessages?: number;
  /** It sent input requests that could belong to several callers, so none of them was asked. */
  readonly ambiguousInput?: boolean;
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
