// The interfaces between the parts of the gateway: the lists of a server, where they are kept, and how they are checked
// before they are shown. Only types.

import type { CacheHint, JsonObject, Prompt, Resource, ResourceTemplate, Tool } from '../protocol/model.ts';
import type { Skill } from '../protocol/skills.ts';
import type { UpstreamConfig } from './config/gateway-config.ts';

/** Everything that a server lists, all pages. */
export interface UpstreamLists {
  /** As the server lists them. */
  readonly tools: readonly Tool[];
  /** As the server lists them. */
  readonly prompts: readonly Prompt[];
  /** As the server lists them. */
  readonly resources: readonly Resource[];
  /** As the server lists them. */
  readonly resourceTemplates: readonly ResourceTemplate[];
  /** Absent if it does not have the extension. */
  readonly skills?: readonly Skill[] | undefined;
  /** What was left out of them, and why; to be logged once. */
  readonly warnings?: readonly string[] | undefined;
  /** From the response to `initialize` or `server/discover`. */
  readonly instructions?: string | undefined;
  /** Its capabilities: what can be declared to clients. */
  readonly capabilities?: JsonObject | undefined;
  /** How long all of them may be cached, where the revision has that. */
  readonly cache?: CacheHint | undefined;
  /** The protocol revision that was used. */
  readonly revision?: string | undefined;
  /** Nothing could be read: the caller whose lists these are has to sign in first. */
  readonly mustSignIn?: boolean | undefined;
}

export const noLists: UpstreamLists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };

/** What is known of a server besides its lists. */
export type UpstreamFacts = Pick<UpstreamLists, 'capabilities' | 'revision'>;

/** The last known lists of servers, by the digest of their entry. */
export interface CatalogCache {
  /** Undefined if there are none, or they cannot be read. */
  read(digest: string): CachedLists | undefined;
  /** Failures are logged, never thrown: a gateway works without the cache. */
  write(digest: string, lists: UpstreamLists, prepared?: PreparedLists): void;
}

/** Lists from an earlier start. */
export interface CachedLists {
  /** As the server had them. */
  readonly lists: UpstreamLists;
  /** When they were read from the server. */
  readonly atMs: number;
  /** What was stored with them; absent if it has to be computed again. */
  readonly prepared?: PreparedLists | undefined;
}

/** What a gateway computes from lists before it shows them. It is stored with them, so that a start need not repeat it. */
export interface PreparedLists {
  /** Without hidden characters, and with texts of limited length. */
  readonly cleaned: UpstreamLists;
  /** The fingerprints of the tools, in the order of the server; undefined if they are not compared. */
  readonly fingerprints?: readonly string[] | undefined;
}

/** Compares the tools of servers with those that were accepted. */
export interface PinChecker {
  /**
   * Compares, records tools seen for the first time, and returns which may be shown. Call it with every list that was read
   * from the server, and before the first call after a reconnect. `fingerprints`: those of an earlier report on these tools.
   * `isPrivate`: it is the list of some callers. What is not in it was not removed, and other callers may have another tool of
   * the same name, so that a name can have several accepted definitions.
   */
  check(
    server: UpstreamConfig,
    tools: readonly Tool[],
    fingerprints?: readonly string[],
    isPrivate?: boolean,
  ): PinReport;
}

/** What a comparison found. */
export interface PinReport {
  /** The tools that may be shown and called, in the order of the server. */
  readonly shown: readonly Tool[];
  /** Tools that may not be called, by the server's own name, each with the error message for callers. */
  readonly withheld: ReadonlyMap<string, string>;
  /** The differences from what was accepted. */
  readonly changes: readonly PinChange[];
  /** The fingerprints of the tools that were compared, in the order of the server. */
  readonly fingerprints?: readonly string[] | undefined;
}

/** A tool that is not as it was accepted. */
export interface PinChange {
  /** The server's own name for it. */
  readonly tool: string;
  /** `removed`: it is not listed any more. */
  readonly kind: 'new' | 'changed' | 'renamed' | 'removed';
  /** The former name of a renamed tool. */
  readonly formerName?: string | undefined;
  /** Whether the tool is withheld because of it. */
  readonly withheld: boolean;
}
