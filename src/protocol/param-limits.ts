// Length limits for the parts of a request that the server looks up, stores or sends back, in UTF-16 code units. Without
// them one text could be as long as the whole message, and would cost its length again with each copy.

export interface ParamLimits {
  /** Request ids: stored while the call runs, and repeated in its response and in each notification of a subscription. */
  readonly maxIdLength: number;
  /** Progress tokens: a tool that reports progress a thousand times sends the token back a thousand times. */
  readonly maxTokenLength: number;
  /** Names of tools, prompts, arguments and log levels: looked up in tables, matched with policy rules, logged. */
  readonly maxNameLength: number;
  /** URIs of resources: stored by subscriptions, and matched in every variant with policy rules. */
  readonly maxUriLength: number;
  /** Cursors: decoded and decrypted before anything is known about them. */
  readonly maxCursorLength: number;
  /** Resources that one session or subscription may watch. */
  readonly maxWatched: number;
  /** Tasks that one subscription may watch: each is looked up in the store before the subscription is acknowledged. */
  readonly maxWatchedTasks: number;
  /** Characters of all their URIs together; stops a subscription from being as large as a message may be. */
  readonly maxWatchedLength: number;
}

export const defaultParamLimits: ParamLimits = {
  maxIdLength: 1_024,
  maxTokenLength: 1_024,
  maxNameLength: 1_024,
  maxUriLength: 8_192,
  maxCursorLength: 65_536,
  maxWatched: 10_000,
  maxWatchedTasks: 1_000,
  maxWatchedLength: 2 * 1024 * 1024,
};
