// Which lists of upstreams a request needs, and how long it waits for those that are not known yet.

import { waitAtMost } from '../../common/wait.ts';
import type { Context } from '../../engine/context.ts';
import type { RequestInfo } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import { methods } from '../../protocol/methods.ts';
import { compileFilter, exposedName, splitExposedName } from '../names/index.ts';
import { signInRequired, toWireError } from '../relays/failures.ts';
import type { CallerKeys } from '../upstreams/contract.ts';
import { callerKeys, isolationKey, keepsApart } from '../upstreams/isolation.ts';
import { cannotBeUsed } from '../upstreams/start-error.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { RequestCaller } from './request-caller.ts';
import { signInName } from './sign-in-entry.ts';
import type { ViewSource } from './view-source.ts';

const listMethods: ReadonlySet<string> = new Set([
  methods.listTools.name,
  methods.listPrompts.name,
  methods.listResources.name,
  methods.listResourceTemplates.name,
  methods.listSkills.name,
]);

const needingLists: ReadonlySet<string> = new Set([
  ...listMethods,
  methods.readResource.name,
  methods.getSkill.name,
  methods.readDirectory.name,
  methods.complete.name,
  methods.subscribe.name,
]);

/** Callers of one upstream that have waited without a result; stops those that come and go from filling the memory. */
const maxWaited = 10_000;

export class ListWaits {
  readonly #server: Server;
  readonly #firstListMs: number;
  /** The server has nothing of its own. */
  readonly #isWholeServer: boolean;
  #source: ViewSource;
  /** The lists of all upstreams are known, and the same for all callers. */
  #isKnown = false;
  /** Upstreams need to know who requests lists: theirs may expire, or have callers of their own, or there is one client only. */
  #isTold = false;
  #hasPrivate = false;
  /**
   * Upstreams that a request has waited for without a result, by isolation key, with the reason if reading failed; later requests of the same
   * callers do not wait.
   */
  readonly #waited = new WeakMap<Upstream, Map<string, unknown>>();

  constructor(server: Server, source: ViewSource, firstListMs: number, isWholeServer: boolean) {
    this.#server = server;
    this.#source = source;
    this.#firstListMs = firstListMs;
    this.#isWholeServer = isWholeServer;
  }

  update(source: ViewSource): void {
    this.#source = source;
    this.#isKnown = false;
    const all = [...source.upstreams.values()];
    this.#hasPrivate = all.some(({ isPrivate }) => isPrivate);
    this.#isTold = all.some(
      (upstream) => upstream.hasSingleClient || upstream.isPrivate || upstream.lists?.shown.cache !== undefined,
    );
  }

  /** Before a request runs. */
  check(request: RequestInfo): void | Promise<void> {
    if (this.#isTold && listMethods.has(request.method)) {
      for (const upstream of this.#source.upstreams.values()) {
        upstream.listsRequested(this.#callerOf(request.ctx, upstream));
      }
    }
    if (this.#isKnown) return undefined;
    const unknown = this.#unknownTo(callerKeys(request.ctx));
    this.#isKnown = unknown.length === 0 && !this.#hasPrivate;
    if (unknown.length === 0) return undefined;
    const needed = this.#neededFor(request, unknown);
    if (needed.length === 0) return undefined;
    return this.#wait(needed, request.ctx).then(() => this.#rejectUnlisted(request));
  }

  /** A name of a server without lists may exist: why the server cannot be used is the better error. */
  #rejectUnlisted({ method, name = '', ctx }: RequestInfo): void {
    const kind = method === methods.callTool.name ? 'tools' : method === methods.getPrompt.name ? 'prompts' : undefined;
    const { isSingle, upstreams, view } = this.#source;
    const named = isSingle ? upstreams.values().next().value : this.#serverOf(name);
    if (kind === undefined || named === undefined || named.config.disabled) return;
    const catalog = this.#server.catalogOf(ctx);
    const keys = callerKeys(ctx);
    const lists = named.listsOf(keys);
    if (catalog[kind].has(name) || (lists !== undefined && lists.shown.mustSignIn !== true)) return;
    // What a caller may not see looks like what does not exist.
    if (view !== undefined && !compileFilter(view[kind])(name)) return;
    const ownName = isSingle ? name : (splitExposedName(name)?.name ?? '');
    if (!compileFilter(named.config[kind])(ownName)) return;
    if (!catalog.allows(kind, name, ctx.principal)) return;
    // Later calls may find them.
    void named.known(this.#callerOf(ctx, named));
    const why =
      lists === undefined
        ? `it has not listed its ${kind} yet; try again later`
        : `sign in first, with the tool ${exposedName(named.slug, signInName)}`;
    const unlisted = cannotBeUsed(named.slug, why);
    const signIn = named.signInOf(keys);
    if (signIn !== undefined) throw signInRequired(named.slug, signIn);
    throw toWireError(this.#failureOf(named, keys) ?? unlisted, named.config, ctx);
  }

  /** The server whose prefix a name has. */
  #serverOf(name: string): Upstream | undefined {
    return this.#source.isSingle ? undefined : this.#source.upstreams.get(splitExposedName(name)?.slug ?? '');
  }

  /** Why the lists of a server are not known to a caller. What a server responds to one caller does not concern others. */
  #failureOf(upstream: Upstream, keys: CallerKeys): unknown {
    const failure = upstream.startFailureOf(keys);
    return keepsApart(upstream.config)
      ? (this.#waited.get(upstream)?.get(isolationKey(upstream.config, keys)) ?? failure)
      : (failure ?? upstream.failure);
  }

  /** Waits for all lists that are not known yet; without a request, for those that all callers see. */
  async all(ctx: Context | undefined): Promise<void> {
    if (ctx !== undefined) return this.#wait(this.#unknownTo(callerKeys(ctx)), ctx);
    const known = [...this.#source.upstreams.values()].map((upstream) => upstream.known());
    await waitAtMost(this.#firstListMs, Promise.all(known));
  }

  #unknownTo(caller: CallerKeys): readonly Upstream[] {
    return [...this.#source.upstreams.values()].filter((upstream) => {
      const lists = upstream.listsOf(caller);
      return lists === undefined || lists.shown.mustSignIn === true;
    });
  }

  #callerOf(ctx: Context, { config }: Upstream): RequestCaller {
    return new RequestCaller(ctx, config, this.#source.isSingle);
  }

  /** The upstreams whose lists decide what the request does. */
  #neededFor({ method, name = '', ctx }: RequestInfo, unknown: readonly Upstream[]): readonly Upstream[] {
    const isTool = method === methods.callTool.name;
    if (!isTool && method !== methods.getPrompt.name) return needingLists.has(method) ? unknown : [];
    const { tools, prompts } = this.#server.catalogOf(ctx);
    if ((isTool ? tools : prompts).has(name)) {
      // A server before it, without prefix, may have the name for this caller.
      return unknown.filter(({ isPrivate, config }) => isPrivate && !config.prefix);
    }
    const named = this.#serverOf(name);
    // Others cannot have the name: without prefix, a name never looks like that of another server.
    return named === undefined ? unknown : unknown.filter((each) => each === named);
  }

  /** Resolves when these lists are known, or have taken too long. Rejects if there is one server only and it failed. */
  async #wait(unknown: readonly Upstream[], ctx: Context): Promise<void> {
    const keys = callerKeys(ctx);
    const read = async (upstream: Upstream): Promise<void> => {
      const failure = await upstream.known(this.#callerOf(ctx, upstream));
      if (upstream.listsOf(keys) !== undefined) this.#waited.get(upstream)?.delete(isolationKey(upstream.config, keys));
      else if (failure !== undefined) this.#inVain(upstream, keys, failure);
    };
    const hasWaited = (upstream: Upstream): boolean =>
      this.#waited.get(upstream)?.has(isolationKey(upstream.config, keys)) === true;
    const awaited = unknown.filter((upstream) => !hasWaited(upstream));
    // Nothing else reads the lists of one caller.
    for (const upstream of unknown) if (!awaited.includes(upstream) && keepsApart(upstream.config)) void read(upstream);
    // The others are not held up by one that is tried again, perhaps in vain: if it starts later, its items are announced.
    const outcome = (upstream: Upstream): Promise<void> =>
      this.#isOne ? read(upstream) : Promise.race([read(upstream), upstream.untilStartFails(keys)]);
    if (awaited.length > 0) await waitAtMost(this.#firstListMs, Promise.all(awaited.map(outcome)));
    for (const upstream of awaited) {
      if (upstream.listsOf(keys) === undefined) this.#inVain(upstream, keys, undefined);
    }
    const [only] = unknown;
    if (only === undefined || only.listsOf(keys) !== undefined || !this.#isOne) return;
    // An empty list would look like a server without tools.
    const failure = this.#failureOf(only, keys);
    if (failure !== undefined) throw toWireError(failure, only.config, ctx);
  }

  #inVain(upstream: Upstream, caller: CallerKeys, failure: unknown): void {
    upstream.listsMissed(caller);
    let waited = this.#waited.get(upstream);
    if (waited === undefined) this.#waited.set(upstream, (waited = new Map()));
    const key = isolationKey(upstream.config, caller);
    const known = waited.get(key);
    waited.delete(key);
    waited.set(key, failure ?? known);
    const [oldest] = waited.keys();
    if (waited.size > maxWaited && oldest !== undefined) waited.delete(oldest);
  }

  /** All items are those of one upstream. */
  get #isOne(): boolean {
    return this.#isWholeServer && this.#source.upstreams.size === 1;
  }
}
