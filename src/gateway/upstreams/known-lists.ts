// What is known of the lists that all callers of one upstream see. The last lists stay until others are read, and are stored
// for the next start.

import { Moment } from '../../common/clock.ts';
import type { Tool } from '../../protocol/model.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import { noLists, type UpstreamFacts, type UpstreamLists } from '../contract.ts';
import { CheckedLists, type ListSettings } from './checked-lists.ts';
import { isOfOneCaller } from './isolation.ts';

export class KnownLists {
  readonly #config: UpstreamConfig;
  readonly #settings: ListSettings;
  /** When they were read, or stored lists were loaded, and how old they were then. */
  #since: Moment | undefined;
  #ageBeforeMs = 0;
  /** They were read by this process, not stored by one before. */
  #isRead = false;
  /** Undefined until they have been read. */
  checked: CheckedLists | undefined;
  /** What was stored about a server whose lists differ between callers. */
  readonly storedFacts: UpstreamFacts | undefined;

  constructor(config: UpstreamConfig, settings: ListSettings) {
    this.#config = config;
    this.#settings = settings;
    const cached = settings.cache?.read(config.digest);
    if (cached === undefined) return;
    // A version before this one may have stored the lists of one caller.
    if (isOfOneCaller(config, cached.lists)) {
      this.storedFacts = factsOf(cached.lists);
      return;
    }
    const ageMs = Date.now() - cached.atMs;
    this.#since = new Moment();
    // Stored in the future: the clock was set back, so their age is unknown.
    this.#ageBeforeMs = ageMs < 0 ? Number.POSITIVE_INFINITY : ageMs;
    const stored = this.#isStorable ? cached.prepared : undefined;
    this.checked = new CheckedLists(config, settings, cached.lists, { stored });
  }

  /** How long ago they were read from the server. */
  get ageMs(): number {
    return this.#ageBeforeMs + (this.#since?.ageMs ?? Number.POSITIVE_INFINITY);
  }

  /** They were read in this time, since the gateway was started. 0: at any time. */
  wereReadWithin(ms: number): boolean {
    return this.#isRead && (ms === 0 || this.ageMs < ms);
  }

  /** A call must not be sent to a server before its tools were compared with those that were accepted. */
  get mustBeCompared(): boolean {
    return this.#config.pin === 'block' && this.#settings.pins !== undefined;
  }

  /** Takes over what was read from the server. */
  update(lists: UpstreamLists): CheckedLists {
    this.#since = new Moment();
    this.#ageBeforeMs = 0;
    this.#isRead = true;
    this.checked = new CheckedLists(this.#config, this.#settings, lists);
    const prepared = this.#isStorable ? this.checked.prepared : undefined;
    this.#settings.cache?.write(this.#config.digest, lists, prepared);
    return this.checked;
  }

  /** Takes over the tools of another connection, without the other lists. */
  updateTools(tools: readonly Tool[]): void {
    const { received } = this.checked as CheckedLists;
    this.checked = new CheckedLists(this.#config, this.#settings, { ...received, tools });
  }

  /** There are none any more that all callers see. Of those that one caller sees, only what is no list is stored. */
  forget(lists: UpstreamLists): void {
    this.checked = undefined;
    const { capabilities, revision } = lists;
    const cache = { ttlMs: 0, cacheScope: 'private' } as const;
    this.#settings.cache?.write(this.#config.digest, { ...noLists, capabilities, revision, cache });
  }

  /** Compares the last lists with the pins again. Returns false if there are none. */
  recheck(): boolean {
    if (this.checked === undefined) return false;
    const { received, prepared } = this.checked;
    this.checked = new CheckedLists(this.#config, this.#settings, received, { stored: prepared });
    return true;
  }

  /** Whether cleaned lists may be stored: a function of the program may clean differently the next time. */
  get #isStorable(): boolean {
    return this.#settings.cleanLists === undefined;
  }
}

/** What a server says about itself. Its instructions are left out: they may be for one caller, as its lists. */
export function factsOf({ capabilities, revision }: UpstreamLists): UpstreamFacts {
  return { capabilities, revision };
}
