// What is known of the lists of one upstream: as its server sent them, and what may be shown of them. The last lists stay until
// others are read, and are stored for the next start.

import type { Tool } from '../../protocol/model.ts';
import { cleanLists } from '../clean-lists.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { CatalogCache, PinChecker, PreparedLists, UpstreamLists } from '../contract.ts';

export interface ListSettings {
  readonly cache?: CatalogCache | undefined;
  readonly pins?: PinChecker | undefined;
  /** Changes what a server lists before it is shown. Default: removes hidden characters, limits lengths. */
  readonly cleanLists?: ((lists: UpstreamLists) => UpstreamLists) | undefined;
}

export class KnownLists {
  readonly #config: UpstreamConfig;
  readonly #settings: ListSettings;
  /** As the server sent them, and what was computed from them. */
  #received: UpstreamLists | undefined;
  #prepared: PreparedLists | undefined;
  /** When they were read, on the clock of `Date.now()`. */
  #readAtMs = 0;
  /** They were read by this process, not stored by one before. */
  #isRead = false;
  /** What may be shown; undefined until they have been read. */
  shown: UpstreamLists | undefined;
  /** Tools that may not be called, with the reason. */
  withheld: ReadonlyMap<string, string> = new Map();
  withheldTools: readonly Tool[] = [];

  constructor(config: UpstreamConfig, settings: ListSettings) {
    this.#config = config;
    this.#settings = settings;
    const cached = settings.cache?.read(config.digest);
    if (cached === undefined) return;
    this.#readAtMs = cached.atMs;
    this.#take(cached.lists, this.#isStorable ? cached.prepared : undefined);
  }

  /** As the server sent them. */
  get received(): UpstreamLists | undefined {
    return this.#received;
  }

  /** How long ago they were read from the server. */
  get ageMs(): number {
    return Date.now() - this.#readAtMs;
  }

  /** They were read in this time, since the gateway was started. 0: at any time. */
  wereReadWithin(ms: number): boolean {
    return this.#isRead && (ms === 0 || this.ageMs < ms);
  }

  /** A call must not be sent to a server before its tools were compared with those that were accepted. */
  get mustBeCompared(): boolean {
    return this.#config.pin === 'block' && this.#settings.pins !== undefined;
  }

  /** Takes over what was read from the server, and returns what may be shown of it. */
  update(lists: UpstreamLists): UpstreamLists {
    this.#readAtMs = Date.now();
    this.#isRead = true;
    const shown = this.#take(lists);
    this.#settings.cache?.write(this.#config.digest, lists, this.#isStorable ? this.#prepared : undefined);
    return shown;
  }

  /** Takes over the tools of another connection, without the other lists. */
  updateTools(tools: readonly Tool[]): UpstreamLists {
    return this.#take({ ...(this.#received as UpstreamLists), tools });
  }

  /** Compares the last lists with the pins again. */
  recheck(): UpstreamLists | undefined {
    return this.#received === undefined ? undefined : this.#take(this.#received, this.#prepared);
  }

  /** Whether cleaned lists may be stored: a function of the program may clean differently the next time. */
  get #isStorable(): boolean {
    return this.#settings.cleanLists === undefined;
  }

  /** `stored`: what was computed from these lists before. */
  #take(lists: UpstreamLists, stored?: PreparedLists): UpstreamLists {
    const cleaned = stored?.cleaned ?? (this.#settings.cleanLists ?? cleanLists)(lists);
    // Compared as the server sent them, so that hidden characters count as a change.
    const report = this.#settings.pins?.check(this.#config, lists.tools, stored?.fingerprints);
    const withheld = report?.withheld ?? new Map<string, string>();
    this.#received = lists;
    this.#prepared = { cleaned, fingerprints: report?.fingerprints };
    this.withheld = withheld;
    this.withheldTools = withheld.size === 0 ? [] : cleaned.tools.filter(({ name }) => withheld.has(name));
    const tools = withheld.size === 0 ? cleaned.tools : cleaned.tools.filter(({ name }) => !withheld.has(name));
    return (this.shown = { ...cleaned, tools });
  }
}
