// How long the parts of a request may be that the server looks up, keeps or sends back, in UTF-16 code units. Without
// these limits one text may be as long as the whole message, and is paid for again with each copy.

export interface ParamLimits {
  /** Request ids: kept while the call runs, and repeated in its answer and in each notification of a subscription. */
  readonly maxIdLength: number;
  /** Progress tokens: a tool that reports progress a thousand times sends the token back a thousand times. */
  readonly maxTokenLength: number;
  /** Names of tools, prompts, arguments and log levels: looked up in tables, matched with the rules of a policy, logged. */
  readonly maxNameLength: number;
  /** URIs of resources: kept by subscriptions, and matched in every spelling with the rules of a policy. */
  readonly maxUriLength: number;
  /** Cursors: decoded and decrypted before anything is known about them. */
  readonly maxCursorLength: number;
  /** Resources that one session or subscription may watch. */
  readonly maxWatched: number;
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
  maxWatchedLength: 2 * 1024 * 1024,
};
