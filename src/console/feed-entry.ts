// A message as the console shows it, and its peer. Types only, for the server and the page.

/** Who sent or received a message. */
export interface PeerInfo {
  readonly number: number;
  readonly transport: string;
  readonly revision?: string;
  readonly client?: string;
  readonly principal?: string;
  /** The first characters of the session key. */
  readonly session?: string;
  readonly address?: string;
}

/** One message. */
export interface FeedEntry {
  readonly number: number;
  readonly at: string;
  /** Seen from the server: `in` was received, `out` was sent. */
  readonly direction: 'in' | 'out';
  /** `client`: between a client and this server. `upstream`: between this process and a server behind it. */
  readonly side: 'client' | 'upstream';
  readonly peer: number;
  readonly kind: 'request' | 'response' | 'notification' | 'invalid';
  readonly id?: string | number;
  readonly method?: string;
  /** The tool, prompt, resource or task that it is about. */
  readonly name?: string;
  readonly bytes: number;
  /**
   * The JSON text, redacted; cut after 64 KiB, then `cut` is true. The feed leaves out texts beyond 16 KiB: `entries/N` has
   * them.
   */
  readonly text?: string;
  readonly cut?: boolean;
  /** The entry of the request that this responds to. */
  readonly requestEntry?: number;
  /** The group of entries that belong together: retries with input responses, progress, polls of a task. Every request has one. */
  readonly group?: string;
  readonly outcome?: string;
  readonly code?: number;
  readonly durationMs?: number;
  /** Why a message was rejected. */
  readonly reason?: string;
}
