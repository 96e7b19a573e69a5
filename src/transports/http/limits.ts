// The limits of the HTTP transports. Each has a name, a default, and the attack that it stops.

import { resolveLimits } from '../../common/known-options.ts';

/** Limits of an HTTP endpoint. Set some of them with `limits` of `serveHttp`. */
export interface HttpLimits {
  /** Stops an endless body from filling the memory. The rest of a longer one is not read. */
  readonly maxBodyBytes: number;
  /** Stops endless headers and URLs. */
  readonly maxHeaderBytes: number;
  /** Stops many sockets from using up the descriptors of the process. */
  readonly maxConnections: number;
  /** Stops one address from using them all. Trusted proxies are exempt: their connections are those of many clients. */
  readonly maxConnectionsPerAddress: number;
  /** Requests of all clients in flight; stops slow calls from accumulating without end. */
  readonly maxInFlight: number;
  /** The share of one caller; stops a client that starts calls and disconnects from blocking all others. */
  readonly maxInFlightPerCaller: number;
  /** How many more `ping`, `initialize` and `server/discover` may be in flight: a busy server must not look dead. */
  readonly inFlightReserve: number;
  /** How long a call of a session continues without a connection; stops calls whose client never reconnects. */
  readonly abandonedCallMs: number;
  /** Open event streams and WebSockets; stops clients from using up connections and memory. */
  readonly maxStreams: number;
  /** The share of one caller; stops one from using them all. */
  readonly maxStreamsPerCaller: number;
  /** What may be queued for a client that does not read; beyond it its stream is closed. */
  readonly maxQueuedBytes: number;
  /**
   * Bytes in memory because of clients: responses that are not read, bodies that are not complete, requests that wait
   * for earlier ones on their connection. Stops clients that request much and read nothing from filling the memory.
   */
  readonly maxBufferedBytes: number;
  /** The share of one caller; stops one from using it up for all. */
  readonly maxBufferedBytesPerCaller: number;
  /** The share of one connection, where it carries several requests or responses at a time. */
  readonly maxBufferedBytesPerConnection: number;
  /** How long a request waits for space in these buffers before it is rejected. */
  readonly bufferWaitMs: number;
  /** Stops sockets that send their headers byte by byte. */
  readonly headersTimeoutMs: number;
  /** The same for headers and body together. */
  readonly requestTimeoutMs: number;
  /** Stops clients that read nothing of a response; one that reads slowly is served to the end. */
  readonly stallTimeoutMs: number;
  /** How long an idle connection is kept open. */
  readonly keepAliveTimeoutMs: number;
  /** How often an idle stream sends a comment, so that proxies keep it open and a lost client is noticed. */
  readonly heartbeatMs: number;
  /** How long a session id is valid. It cannot be extended: the client initializes again. */
  readonly sessionTtlMs: number;
  /**
   * Sessions that were ended before they expired: their ids are stored until then. An ended session must not become valid
   * again because many others were ended, so beyond this limit `initialize` gets 503.
   */
  readonly maxRevokedSessions: number;
  /** The share of one caller; stops one from using it up for all. */
  readonly maxRevokedSessionsPerCaller: number;
  /**
   * How long a session that was looked up before is served while its store cannot be asked; stops an ended session from being
   * served for long where a network is cut. 503 after that. 0: at once; `Infinity`: never. One with subscriptions must be in use.
   */
  readonly maxStaleMs: number;
  /** Proxies limit headers to 4 to 8 KiB: the facts of a longer session id are stored instead. */
  readonly maxSessionIdLength: number;
  /** Sessions in memory that hold something (subscriptions, values of handlers); the least recently used are removed. */
  readonly maxHeldSessions: number;
  /** How long such a session stays in memory unused. Its subscriptions stay in the store. */
  readonly heldSessionMs: number;
  /** Changes buffered for a session whose stream is not connected; one per resource. */
  readonly maxMissedChanges: number;
}

export const defaultHttpLimits: HttpLimits = {
  maxBodyBytes: 10 * 1024 * 1024,
  maxHeaderBytes: 16 * 1024,
  maxConnections: 20_000,
  maxConnectionsPerAddress: 5_000,
  maxInFlight: 10_000,
  maxInFlightPerCaller: 2_500,
  inFlightReserve: 256,
  abandonedCallMs: 5 * 60_000,
  maxStreams: 10_000,
  maxStreamsPerCaller: 2_500,
  maxQueuedBytes: 1024 * 1024,
  maxBufferedBytes: 128 * 1024 * 1024,
  maxBufferedBytesPerCaller: 32 * 1024 * 1024,
  maxBufferedBytesPerConnection: 16 * 1024 * 1024,
  bufferWaitMs: 2_000,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 30_000,
  stallTimeoutMs: 30_000,
  keepAliveTimeoutMs: 60_000,
  heartbeatMs: 15_000,
  sessionTtlMs: 7 * 24 * 60 * 60_000,
  maxRevokedSessions: 1_000_000,
  maxRevokedSessionsPerCaller: 250_000,
  maxStaleMs: 5_000,
  maxSessionIdLength: 2048,
  maxHeldSessions: 10_000,
  heldSessionMs: 30 * 60_000,
  maxMissedChanges: 256,
};

export const resolveHttpLimits = (given: Partial<HttpLimits> = {}): HttpLimits =>
  resolveLimits(defaultHttpLimits, given, ['maxStaleMs']);
