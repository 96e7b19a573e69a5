// The server of one view: what clients connect to. It shows what the view selects from the upstreams, as it is known now.

import type { AudienceTest, NotifiedClient } from '../../engine/audience.ts';
import type { Context } from '../../engine/context.ts';
import { checkMiddleware } from '../../engine/middleware.ts';
import { type OtherMethods, principalKey, type RequestInfo, type TaskEvent } from '../../engine/ports.ts';
import { createServer, type Server, type ServerOptions } from '../../engine/server.ts';
import { wireErrors } from '../../protocol/errors.ts';
import type { Principal } from '../../protocol/exchange.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import { methods } from '../../protocol/methods.ts';
import type { CacheHint, Capabilities } from '../../protocol/model.ts';
import { waitAtMost } from '../../protocol/wait.ts';
import type { ExposedView, UriRoute } from '../names/index.ts';
import { extensionCapabilities, hasExtensions, viewExtensions } from '../relays/extensions.ts';
import { toWireError } from '../relays/failures.ts';
import { requestOther } from '../relays/features.ts';
import type { HeldCalls } from '../relays/held-calls.ts';
import { type CallTarget, RelayCall } from '../relays/relay-call.ts';
import { taskOf } from '../relays/task-recovery.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { CallNames } from './call-names.ts';
import { joinInstructions } from './instructions.ts';
import { joinCacheHints } from './list-cache.ts';
import { mayUse } from './view-access.ts';
import { viewEntries } from './view-entries.ts';
import type { ViewSource } from './view-source.ts';

const listMethods: ReadonlySet<string> = new Set([
  methods.listTools.name,
  methods.listPrompts.name,
  methods.listResources.name,
  methods.listResourceTemplates.name,
]);

const needingLists: ReadonlySet<string> = new Set([
  ...listMethods,
  methods.readResource.name,
  methods.complete.name,
  methods.subscribe.name,
]);

export class ViewServer {
  readonly server: Server;
  readonly #held: HeldCalls;
  readonly #calls: CallNames;
  /** The longest time that lists may be cached; undefined: as the upstreams say; false: `base` decides. */
  readonly #ownCache: CacheHint | undefined | false;
  #isRestricted = false;
  #source: ViewSource;
  #capabilities: Capabilities | undefined;
  /** The lists of all upstreams are known. */
  #isKnown = false;
  /** An upstream says how long its lists are valid. */
  #canExpire = false;
  /** Which clients follow a resource, and which upstream is asked for its changes; undefined until that is known. */
  readonly #followed = new Map<string, { route: UriRoute | undefined; readonly clients: Set<NotifiedClient> }>();
  /** The server has items of its own. */
  readonly #isAttached: boolean;
  readonly #firstListMs: number;
  /** Upstreams that a request has waited for in vain; later requests do not wait. */
  readonly #waitedFor = new WeakSet<Upstream>();

  /** `base`: a server that gets the items of the view besides its own. */
  constructor(options: ServerOptions, source: ViewSource, held: HeldCalls, firstListMs: number, base?: Server) {
    this.#source = source;
    this.#held = held;
    this.#firstListMs = firstListMs;
    this.#isAttached = base !== undefined;
    this.#ownCache = base === undefined ? options.cache : false;
    this.server =
      base ??
      createServer({
        ...options,
        capabilities: () => (this.#capabilities ??= this.#declare()),
        instructions: () => joinInstructions(this.#source),
      });
    base?.addInstructions(() => joinInstructions(this.#source));
    this.#calls = new CallNames(this.server, source);
    const whenKnown = checkMiddleware((request) => {
      if (this.#canExpire && listMethods.has(request.method)) {
        for (const upstream of this.#source.upstreams.values()) upstream.listsRequested();
      }
      if (this.#isKnown) return undefined;
      const unknown = this.#unknown;
      this.#isKnown = unknown.length === 0;
      if (this.#isKnown || !this.#needsLists(request)) return undefined;
      return this.#whenKnown(unknown);
    });
    this.server.around(source.isSingle ? whenKnown : Object.assign(whenKnown, { redirect: this.#calls.redirect }));
    this.server.observe({
      rootsChanged: (_peer, session) => {
        for (const upstream of this.#source.upstreams.values()) upstream.rootsChanged(session.key);
      },
      sessionEnded: ({ key }) => this.#sessionEnded(key),
      disconnected: (_peer, session) => {
        if (session !== undefined) this.#sessionEnded(session.key);
      },
      taskChanged: (event) => this.#taskChanged(event),
    });
    if (source.isSingle) this.server.setOtherMethods(this.#otherMethods);
    this.server.followResources({
      prepare: (uri, ctx) => this.#prepare(uri, ctx),
      followed: (uri, client) => {
        this.#follow(uri, client).catch((error: unknown) => {
          this.server.logger?.debug('a resource of an upstream cannot be followed', { uri, error });
        });
      },
      unfollowed: (uri, client) => this.#unfollow(uri, client),
    });
    this.update(source);
  }

  #sessionEnded(key: string): void {
    for (const upstream of this.#source.upstreams.values()) upstream.sessionEnded(key);
  }

  update(source: ViewSource): void {
    const before = this.#source.upstreams;
    this.#source = source;
    for (const { route, clients } of this.#followed.values()) {
      if (route === undefined) continue;
      const [was, is] = [before.get(route.slug), source.upstreams.get(route.slug)];
      if (was === is) continue;
      for (const client of clients) {
        is?.followers.follow(route.uri, client);
        was?.followers.unfollow(route.uri, client);
      }
    }
    this.#capabilities = undefined;
    this.#isKnown = false;
    const listed = this.#calls.update(source);
    // Only if needed: lists of a restricted server are made for each caller.
    if (source.view?.allow !== undefined && !this.#isRestricted) {
      this.#isRestricted = true;
      this.server.restrict((_kind, _key, principal) => mayUse(this.#source.view?.allow, principal));
    }
    const lists = [...source.upstreams.values()].map((upstream) => upstream.lists);
    this.#canExpire = lists.some((each) => each?.cache !== undefined);
    if (this.#ownCache !== false) {
      this.server.setListCache(joinCacheHints(lists, this.#ownCache));
    }
    const rejected = this.server.replaceEntries(
      this,
      viewEntries(source.exposed, { ...source, ...listed, held: this.#held }),
    );
    if (rejected.length === 0) return;
    this.server.logger?.warn('items of upstreams are not shown because their names are in use', { names: rejected });
  }

  /** What it shows now. */
  get exposed(): ExposedView {
    return this.#source.exposed;
  }

  /** A resource of an upstream has changed. `audience`: whom the connection belongs to that reported it. */
  resourceUpdated(slug: string, uri: string, audience: AudienceTest | undefined): void {
    if (!this.#source.upstreams.has(slug)) return;
    this.server.resourceUpdated(this.#source.exposed.uris.expose(slug, uri), audience);
  }

  /** Follows a resource at its upstream, before a client subscribes. False if the upstream does not announce changes. */
  async #prepare(uri: string, ctx: Context): Promise<boolean> {
    if (this.#isOwn(uri)) return true;
    const route = await this.#route(uri);
    const upstream = route && this.#source.upstreams.get(route.slug);
    // What no upstream has may be below something that the server has itself.
    if (route === undefined || upstream === undefined) return this.#isAttached;
    await upstream.known();
    if (!hasSubscribe(upstream)) return false;
    return upstream.followers.prepare(route.uri, new RelayCall(ctx, this.#targetOf(upstream))).catch(() => false);
  }

  async #follow(uri: string, client: NotifiedClient): Promise<void> {
    if (this.#isOwn(uri)) return;
    let followed = this.#followed.get(uri);
    if (followed === undefined) this.#followed.set(uri, (followed = { route: undefined, clients: new Set() }));
    followed.clients.add(client);
    const route = (followed.route ??= this.#knownRoute(uri) ?? (await this.#route(uri)));
    if (route !== undefined && followed.clients.has(client)) {
      this.#source.upstreams.get(route.slug)?.followers.follow(route.uri, client);
    }
  }

  /** Whether it is a resource of the server itself, to which the items of the view were added. */
  #isOwn(uri: string): boolean {
    if (!this.#isAttached) return false;
    const entry = this.server.catalog.resources.get(uri);
    return entry === undefined ? this.#source.exposed.uris.isOwn(uri) : entry.relayed !== true;
  }

  #unfollow(uri: string, client: NotifiedClient): void {
    const followed = this.#followed.get(uri);
    if (followed?.clients.delete(client) !== true) return;
    if (followed.clients.size === 0) this.#followed.delete(uri);
    const { route } = followed;
    if (route !== undefined) this.#source.upstreams.get(route.slug)?.followers.unfollow(route.uri, client);
  }

  /** The upstream that has a resource, and its URI there. */
  async #route(uri: string): Promise<UriRoute | undefined> {
    // The server that has it may be one whose lists are not known yet.
    if (this.#knownRoute(uri) === undefined) await this.#whenKnown(this.#unknown);
    return this.#knownRoute(uri);
  }

  #knownRoute(uri: string): UriRoute | undefined {
    return this.#followed.get(uri)?.route ?? this.#source.exposed.uris.route(uri);
  }

  /** Cancels the upstream's task when a task was cancelled that no process ran. */
  #taskChanged({ type, task }: TaskEvent): void {
    const id = type === 'ended' && task.outcome?.type === 'cancelled' ? taskOf(task) : undefined;
    const slug = this.server.catalog.tools.get(task.tool)?.upstream;
    const upstream = slug === undefined ? undefined : this.#source.upstreams.get(slug);
    if (id === undefined || upstream === undefined) return;
    const { principal, sessionKey } = task.context;
    const key = principalKey(principal as unknown as Principal | undefined);
    void upstream.cancelTask({ principalKey: key, sessionKey: sessionKey ?? key }, id);
  }

  #targetOf(upstream: Upstream): CallTarget & { readonly upstream: Upstream } {
    const { isSingle } = this.#source;
    return { upstream, held: this.#held, namesServer: !isSingle, passesExtensions: isSingle };
  }

  /** The extensions of a single server. */
  readonly #otherMethods: OtherMethods = {
    request: async (method, params, ctx) => {
      const [upstream] = this.#source.upstreams.values();
      await upstream?.known();
      if (upstream === undefined || !hasExtensions(upstream.lists) || !this.#maySeeAll(ctx.principal)) {
        throw wireErrors.methodNotFound(method);
      }
      return requestOther(this.#targetOf(upstream), method, params, ctx);
    },
    notified: (method, { _meta, ...params }, { principal }, { key }) => {
      const [upstream] = this.#source.upstreams.values();
      if (!hasExtensions(upstream?.lists) || !this.#maySeeAll(principal)) return;
      upstream?.notify({ sessionKey: key, principalKey: principalKey(principal) }, method, params);
    },
  };

  /** Policies have no rules for methods of extensions, so callers that may not see everything may not call them. */
  #maySeeAll(principal: Principal | undefined): boolean {
    const { tools, prompts, resources, resourceTemplates } = this.server.catalog;
    const all = [tools, prompts, resources, resourceTemplates].flatMap((each) => [...each.values()]);
    return all.every(({ visible }) => visible === undefined || visible(principal));
  }

  /** Whether the answer depends on lists that are not known yet. */
  #needsLists({ method, name }: RequestInfo): boolean {
    const { tools, prompts } = this.server.catalog;
    if (method === methods.callTool.name) return !tools.has(name ?? '');
    if (method === methods.getPrompt.name) return !prompts.has(name ?? '');
    return needingLists.has(method);
  }

  /** Resolves when these lists are known, or have taken too long. Rejects if there is one server only and it failed. */
  async #whenKnown(unknown: readonly Upstream[]): Promise<void> {
    const awaited = unknown.filter((upstream) => !this.#waitedFor.has(upstream));
    if (awaited.length > 0) {
      await waitAtMost(this.#firstListMs, Promise.all(awaited.map((upstream) => upstream.known())));
    }
    for (const upstream of awaited) if (upstream.lists === undefined) this.#waitedFor.add(upstream);
    const [only] = unknown;
    if (only === undefined || only.lists !== undefined || !this.#isOne) return;
    // An empty list would look like a server without tools.
    const failure = only.failure;
    if (failure !== undefined) throw toWireError(failure, only.config);
  }

  /** All items are those of one upstream. */
  get #isOne(): boolean {
    return !this.#isAttached && this.#source.upstreams.size === 1;
  }

  get #unknown(): readonly Upstream[] {
    return [...this.#source.upstreams.values()].filter(({ lists: known }) => known === undefined);
  }

  /** What the upstreams offer. As long as one of them is not known, it may offer everything. */
  #declare(): Capabilities {
    const known = [...this.#source.upstreams.values()].map(({ lists: each }) => each?.capabilities);
    const all = known.includes(undefined);
    const offers = (kind: string): boolean => all || known.some((each) => each?.[kind] !== undefined);
    const { exposed } = this.#source;
    const subscribes = all || [...this.#source.upstreams.values()].some(hasSubscribe);
    const [only] = this.#source.upstreams.values();
    return {
      ...(this.#source.isSingle ? extensionCapabilities(only?.lists) : viewExtensions(known)),
      logging: {},
      ...(offers('tools') || exposed.tools.length > 0 ? { tools: { listChanged: true } } : {}),
      ...(offers('prompts') || exposed.prompts.length > 0 ? { prompts: { listChanged: true } } : {}),
      ...(offers('resources') || exposed.resources.length > 0
        ? { resources: { ...(subscribes ? { subscribe: true } : {}), listChanged: true } }
        : {}),
      ...(offers('completions') ? { completions: {} } : {}),
      ...(all || [...this.server.catalog.tools.values()].some(({ task }) => task !== undefined)
        ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
        : {}),
    };
  }
}

function hasSubscribe({ lists: known }: Upstream): boolean {
  const resources = known?.capabilities?.['resources'];
  return isObject(resources) && resources['subscribe'] === true;
}
