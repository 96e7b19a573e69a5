// What may grow or take long over HTTP, and how far. Every limit has a name, a default, and the attack it stops.

export interface HttpLimits {
  /** Stops a body without end from filling the memory. The rest of a longer one is not read. */
  readonly maxBodyBytes: number;
  /** Stops endless headers and URLs. */
  readonly maxHeaderBytes: number;
  /** Stops an army of sockets from taking every descriptor of the process. */
  readonly maxConnections: number;
  /** Stops one address from taking them all. Behind a proxy every client has the proxy's address. */
  readonly maxConnectionsPerAddress: number;
  /** Requests of all clients that wait for an answer; stops slow calls from piling up without end. */
  readonly maxInFlight: number;
  /** The share of one caller; stops one that starts calls and goes away from keeping all others out. */
  readonly maxInFlightPerCaller: number;
  /** How many more `ping`, `initialize` and `server/discover` may wait: a crowd must not look like a dead server. */
  readonly inFlightReserve: number;
  /** How long a call of a session goes on without a connection to answer on; stops calls that nobody comes back for. */
  readonly abandonedCallMs: number;
  /** Event streams and WebSockets open at a time; each holds a connection and some memory. */
  readonly maxStreams: number;
  /** The share of one caller; stops one from taking them all. */
  readonly maxStreamsPerCaller: number;
  /** What may wait for a client that does not read; beyond it the stream is dropped, the others are not hurt. */
  readonly maxQueuedBytes: number;
  /**
   * Bytes in memory because of clients: answers that are not read, bodies that are not complete, requests that wait
   * behind others on their connection. Stops clients that ask for much and read nothing from filling the memory.
   */
  readonly maxBufferedBytes: number;
  /** The share of one caller; stops one from using it up for all. */
  readonly maxBufferedBytesPerCaller: number;
  /** The share of one connection, where it carries several requests or answers at a time. */
  readonly maxBufferedBytesPerConnection: number;
  /** How long a request waits for room in these before it is rejected. */
  readonly bufferWaitMs: number;
  /** Stops sockets that send their headers byte by byte. */
  readonly headersTimeoutMs: number;
  /** The same for headers and body together. */
  readonly requestTimeoutMs: number;
  /** Stops clients that take nothing of an answer; one that reads slowly, but reads, is served to the end. */
  readonly stallTimeoutMs: number;
  /** How long an unused connection is kept for the next request. */
  readonly keepAliveTimeoutMs: number;
  /** How often an idle stream carries a comment, so that proxies keep it and a dead peer is noticed. */
  readonly heartbeatMs: number;
  /** How long a session id is good; it can not be renewed, the client initializes again. */
  readonly sessionTtlMs: number;
  /**
   * Sessions that were ended and would not have expired yet: their ids are remembered until then. An ended session must
   * not come back because many others were ended, so beyond this `initialize` gets 503 instead.
   */
  readonly maxRevokedSessions: number;
  /** How many of them one caller may have; stops one caller from taking the room of all. */
  readonly maxRevokedSessionsPerCaller: number;
  /** Proxies cut headers at 4 to 8 KiB: what makes an id longer than this goes to the store instead. */
  readonly maxSessionIdLength: number;
  /** Sessions kept in memory for what they hold (subscriptions, values of handlers); the longest unused give way. */
  readonly maxHeldSessions: number;
  /** How long such a session is kept unused. Its subscriptions stay in the store. */
  readonly heldSessionMs: number;
  /** Changes kept for a session whose stream is down; one per resource. */
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
  maxSessionIdLength: 2048,
  maxHeldSessions: 10_000,
  heldSessionMs: 30 * 60_000,
  maxMissedChanges: 256,
};

/** Fills in the defaults. What is absent must not lift a limit, and what is no number can not be one. */
export function resolveHttpLimits(given: Partial<HttpLimits> = {}): HttpLimits {
  const limits: Record<string, number> = { ...defaultHttpLimits };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(defaultHttpLimits, name)) throw new TypeError(`There is no limit called ${name}`);
    if (typeof value !== 'number' || !(value > 0)) throw new TypeError(`The limit ${name} must be a number above 0`);
    limits[name] = value;
  }
  return limits as unknown as HttpLimits;
}
