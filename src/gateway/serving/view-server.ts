// The server of one view: what clients connect to. It shows what the view selects from the upstreams, as it is known now.

import { checkMiddleware } from '../../engine/calls/middleware.ts';
import type { AudienceTest } from '../../engine/changes/audience.ts';
import type { Caller, OtherMethods, TaskEvent } from '../../engine/ports.ts';
import { createServer, type Server } from '../../engine/server.ts';
import type { ServerOptions } from '../../engine/server-options.ts';
import { callerOfTask } from '../../engine/tasks/store/task-record.ts';
import { wireErrors } from '../../protocol/errors.ts';
import type { CacheHint, Capabilities } from '../../protocol/model.ts';
import type { ExposedView } from '../names/index.ts';
import { hasExtensions } from '../relays/extensions.ts';
import { requestOther } from '../relays/features.ts';
import type { HeldCalls } from '../relays/held-calls.ts';
import type { RelayCallTarget } from '../relays/relay-call.ts';
import { taskOf } from '../relays/task-recovery.ts';
import type { CheckedLists } from '../upstreams/checked-lists.ts';
import { callerKeys } from '../upstreams/isolation.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { CallNames } from './call-names.ts';
import { CallerViews } from './caller-views.ts';
import { EndingEntries } from './ending-entries.ts';
import { UpstreamSubscriptions } from './followed-uris.ts';
import { joinInstructions } from './instructions.ts';
import { joinCacheHints } from './list-cache.ts';
import { ListWaits } from './list-waits.ts';
import { absentCaller, RequestCaller } from './request-caller.ts';
import { type ShownView, showView } from './shown-view.ts';
import { mayUse } from './view-access.ts';
import { declareView, hasPrivateTasks } from './view-capabilities.ts';
import { ViewSkills } from './view-skills.ts';
import type { ListsOf, ViewSource } from './view-source.ts';

/** What all callers see. */
const common: ListsOf = ({ lists }) => lists;

export class ViewServer {
  readonly server: Server;
  readonly #held: HeldCalls;
  readonly #calls: CallNames;
  readonly #waits: ListWaits;
  readonly #callers: CallerViews;
  readonly #followed: UpstreamSubscriptions;
  readonly #ending = new EndingEntries();
  /** The longest time that lists may be cached; undefined: as the upstreams say; false: `base` decides. */
  readonly #ownCache: CacheHint | undefined | false;
  #isRestricted = false;
  #source: ViewSource;
  /** What all callers see; those with lists of their own see that of `#callers`. */
  #shown!: ShownView;
  #capabilities: Capabilities | undefined;

  /** `base`: a server that gets the items of the view besides its own. */
  constructor(options: ServerOptions, source: ViewSource, held: HeldCalls, firstListMs: number, base?: Server) {
    this.#source = source;
    this.#held = held;
    this.#ownCache = base === undefined ? options.cache : false;
    this.server =
      base ??
      createServer({
        ...options,
        capabilities: () => (this.#capabilities ??= this.#declare()),
        instructions: (caller) => joinInstructions(this.#source, this.#listsOf(caller)),
      });
    base?.addInstructions((caller) => joinInstructions(this.#source, this.#listsOf(caller)));
    this.#calls = new CallNames(this.server, (caller) => this.#shownTo(caller));
    this.#waits = new ListWaits(this.server, source, firstListMs, base === undefined);
    this.#callers = new CallerViews(source, {
      server: this.server,
      owner: this,
      firstListMs,
      show: (listsOf) => this.#show(listsOf),
      cacheOf: (listsOf) => this.#cacheOf(listsOf),
    });
    this.#followed = new UpstreamSubscriptions(source, {
      server: this.server,
      isAttached: base !== undefined,
      exposedTo: (caller) => this.exposedTo(caller),
      whenKnown: (ctx) => this.#waits.all(ctx),
    });
    const whenKnown = checkMiddleware((request) => this.#waits.check(request));
    this.server.around(source.isSingle ? whenKnown : Object.assign(whenKnown, { redirect: this.#calls.redirect }));
    this.server.observe({
      rootsChanged: ({ principal }, session) => {
        const keys = callerKeys({ principal, session });
        for (const upstream of this.#source.upstreams.values()) upstream.rootsChanged(keys);
      },
      sessionEnded: ({ key }) => this.#sessionEnded(key),
      disconnected: (_peer, session) => {
        if (session !== undefined) this.#sessionEnded(session.key);
      },
      taskChanged: (event) => this.#taskChanged(event),
    });
    if (source.isSingle) this.server.setOtherMethods(this.#otherMethods);
    this.server.followResources(this.#followed);
    this.server.setOtherSkills(
      new ViewSkills({
        exposedTo: (caller) => this.exposedTo(caller),
        targetOf: (slug) => {
          const upstream = this.#source.upstreams.get(slug);
          return upstream && this.#targetOf(upstream);
        },
      }),
    );
    this.update(source);
  }

  #sessionEnded(key: string): void {
    for (const upstream of this.#source.upstreams.values()) upstream.sessionEnded(key);
  }

  /** Takes over what the view shows now. */
  update(source: ViewSource): void {
    const before = this.#source;
    this.#keepEnding(before, source);
    this.#source = source;
    this.#capabilities = undefined;
    this.#waits.update(source);
    this.#followed.update(source);
    this.#callers.update(source, hasPrivateTasks(source));
    // Only if needed: lists of a restricted server are made for each caller.
    if (source.view?.allow !== undefined && !this.#isRestricted) {
      this.#isRestricted = true;
      this.server.restrict((_kind, _key, principal) => mayUse(this.#source.view?.allow, principal));
    }
    if (this.#ownCache !== false) this.server.setListCache(this.#cacheOf(common));
    this.#shown = this.#show(common);
    this.#calls.report(this.#shown);
    const rejected = this.server.replaceEntries(this, this.#shown.entries);
    if (!isSameView(before, source)) this.#callers.announce();
    if (rejected.length === 0) return;
    this.server.logger?.warn('items of upstreams are not shown because their names are in use', { names: rejected });
  }

  /** Calls of upstreams that are gone may be held. */
  #keepEnding(before: ViewSource, { upstreams, drainMs }: ViewSource): void {
    const gone = [...before.upstreams].filter(([slug, upstream]) => upstreams.get(slug) !== upstream);
    if (gone.length === 0 || drainMs === 0) return;
    const ended = (): void => this.update(this.#source);
    this.#ending.keep(new Set(gone.map(([slug]) => slug)), [...this.#callers.shown, this.#shown], { drainMs, ended });
  }

  /** What callers with an isolation key see of an upstream has changed. */
  callerListsChanged(slug: string, key: string, before: CheckedLists | undefined, after: CheckedLists): void {
    const upstream = this.#source.upstreams.get(slug);
    if (upstream !== undefined) this.#callers.changed(upstream, key, before, after);
  }

  /** Callers see different items. */
  get hasPrivate(): boolean {
    return this.#callers.private.length > 0;
  }

  /** What a caller sees; without one, what all callers see. */
  exposedTo(caller: Caller | undefined): ExposedView {
    return (caller === undefined ? this.#shown : this.#shownTo(caller)).exposed;
  }

  #shownTo(caller: Caller): ShownView {
    return this.hasPrivate ? this.#callers.shownTo(caller) : this.#shown;
  }

  /** A resource of an upstream has changed. `audience`: whom the connection belongs to that reported it. */
  resourceUpdated(slug: string, uri: string, audience: AudienceTest | undefined): void {
    this.#followed.updated(slug, uri, audience);
  }

  #show(listsOf: ListsOf): ShownView {
    const shown = showView(this.#source, listsOf, {
      held: this.#held,
      allows: (uri, caller) => this.server.catalogOf(caller).allows('resources', uri, caller.principal),
      searchTools: () => this.#calls.searchTools,
    });
    for (const warning of shown.exposed.warnings) this.#source.warn(warning);
    return { ...shown, entries: this.#ending.addTo(shown.entries) };
  }

  #listsOf(caller: Caller): ListsOf {
    const keys = callerKeys(caller);
    return (upstream) => upstream.listsOf(keys);
  }

  #cacheOf(listsOf: ListsOf): CacheHint {
    const lists = [...this.#source.upstreams.values()].map((upstream) => listsOf(upstream)?.shown);
    return joinCacheHints(lists, this.#ownCache === false ? undefined : this.#ownCache);
  }

  /** Cancels the upstream's task when a task was cancelled that no process ran. */
  #taskChanged({ type, task }: TaskEvent): void {
    const id = type === 'ended' && task.outcome?.type === 'cancelled' ? taskOf(task) : undefined;
    if (id !== undefined) void this.#cancelTask(callerOfTask(task), task.tool, id);
  }

  async #cancelTask(caller: Caller, tool: string, id: string): Promise<void> {
    // The caller of a task of an earlier process may not have been here since.
    if (this.hasPrivate) await this.#callers.known(caller);
    const slug = this.server.catalogOf(caller).tools.get(tool)?.upstream;
    const upstream = slug === undefined ? undefined : this.#source.upstreams.get(slug);
    await upstream?.cancelTask(absentCaller(caller), id);
  }

  #targetOf(upstream: Upstream): RelayCallTarget & { readonly upstream: Upstream } {
    const { isSingle } = this.#source;
    return { upstream, held: this.#held, namesServer: !isSingle, passesExtensions: isSingle };
  }

  /** The extensions of a single server. */
  readonly #otherMethods: OtherMethods = {
    request: async (method, params, ctx) => {
      const [upstream] = this.#source.upstreams.values();
      await upstream?.known(new RequestCaller(ctx, upstream.config, true));
      if (upstream === undefined || !hasExtensions(upstream.facts) || !this.#maySeeAll(ctx)) {
        throw wireErrors.methodNotFound(method);
      }
      return requestOther(this.#targetOf(upstream), method, params, ctx);
    },
    notified: (method, { _meta, ...params }, { principal }, session) => {
      const [upstream] = this.#source.upstreams.values();
      if (!hasExtensions(upstream?.facts) || !this.#maySeeAll({ principal, session })) return;
      upstream?.notify(callerKeys({ principal, session }), method, params);
    },
  };

  /** Policies have no rules for methods of extensions, so callers that may not see everything may not call them. */
  #maySeeAll(caller: Caller): boolean {
    const { tools, prompts, resources, resourceTemplates } = this.server.catalogOf(caller);
    const all = [tools, prompts, resources, resourceTemplates].flatMap((each) => [...each.values()]);
    return all.every(({ visible }) => visible === undefined || visible(caller.principal));
  }

  #declare(): Capabilities {
    const hasTasks = [...this.server.catalog.tools.values()].some(({ task }) => task !== undefined);
    return declareView(this.#source, this.#shown.entries, hasTasks);
  }
}

/** Whether only lists can be different: what they are of, and what the view selects, is as before. */
function isSameView(before: ViewSource, after: ViewSource): boolean {
  if (before.upstreams.size !== after.upstreams.size) return false;
  const isSame = [...before.upstreams].every(([slug, upstream]) => after.upstreams.get(slug) === upstream);
  return isSame && JSON.stringify(before.view) === JSON.stringify(after.view);
}
