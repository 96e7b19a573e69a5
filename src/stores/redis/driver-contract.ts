// A connection to Redis, as the rest of this folder sees it.

/** A reply of Redis, as version 2 of its protocol encodes it. */
export type Reply = string | number | null | readonly Reply[];

/** A connection that reconnects when it is lost. */
export interface RedisDriver {
  /**
   * Sends a command; those of one turn of the event loop are sent together. Rejects immediately while there is no connection, and
   * when it is lost before the reply. `key`: any key of the command, by which a cluster finds the node.
   */
  send(args: readonly string[], key: string): Promise<Reply>;
  close(): void;
}

/** A client of the library that is not connected yet. */
export interface UnconnectedDriver extends RedisDriver {
  connect(): Promise<unknown>;
}
