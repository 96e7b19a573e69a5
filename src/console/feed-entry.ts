// A message as the console shows it, and its peer. Types only, for the server and the page.

/** Who sent or received a message. */
export interface PeerInfo {
  /** Identifies it in this feed; entries have it as `peer`. */
  readonly number: number;
  /** Such as `stdio` or `http`. */
  readonly transport: string;
  /** The protocol revision; absent before it is negotiated. */
  readonly revision?: string;
  /** Name and version that the client reports. Unverified. */
  readonly client?: string;
  /** The id of an authenticated caller. */
  readonly principal?: string;
  /** The first characters of the session key. */
  readonly session?: string;
  /** Where it connects from. */
  readonly address?: string;
}

/** One message. */
export interface FeedEntry {
  /** Its place in the feed, counted from 1. */
  readonly number: number;
  /** When it was sent or received: ISO 8601. */
  readonly at: string;
  /** Seen from the server: `in` was received, `out` was sent. */
  readonly direction: 'in' | 'out';
  /** `client`: between a client and this server. `upstream`: between this process and a server behind it. */
  readonly side: 'client' | 'upstream';
  /** `number` of a `PeerInfo`. */
  readonly peer: number;
  /** `invalid`: not a JSON-RPC message. */
  readonly kind: 'request' | 'response' | 'notification' | 'invalid';
  /** The JSON-RPC id, of requests and responses. */
  readonly id?: string | number;
  /** Responses have that of their request. */
  readonly method?: string;
  /** The tool, prompt, resource or task that it is about. */
  readonly name?: string;
  /** The length of the message. */
  readonly bytes: number;
  /**
   * The JSON text, redacted; cut after 64 KiB, then `cut` is true. The feed leaves out texts beyond 16 KiB: `entries/N` has
   * them.
   */
  readonly text?: string;
  /** `text` is only the beginning. */
  readonly cut?: boolean;
  /** The entry of the request that this responds to. */
  readonly requestEntry?: number;
  /** The group of entries that belong together: retries with input responses, progress, polls of a task. Every request has one. */
  readonly group?: string;
  /** How the request ended, in the entry of its response or cancellation. */
  readonly outcome?: string;
  /** The JSON-RPC code of an error. */
  readonly code?: number;
  /** From the request to this response. */
  readonly durationMs?: number;
  /** Why a message was rejected. */
  readonly reason?: string;
}
