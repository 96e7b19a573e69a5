// A gateway: many servers behind one. It owns the upstreams and the servers of the views, and keeps both in step with the
// configuration.

import { createConsoleLogger } from '../common/console-logger.ts';
import type { Logger } from '../common/logger.ts';
import { version } from '../common/version.ts';
import { waitAtMost } from '../common/wait.ts';
import type { CatalogEntry } from '../engine/catalog/catalog-entry.ts';
import type { Bus, Caller } from '../engine/ports.ts';
import type { Server } from '../engine/server.ts';
import { findView } from './config/defaults.ts';
import type { GatewayConfig, UpstreamConfig, ViewConfig } from './config/gateway-config.ts';
import { noLists } from './contract.ts';
import {
  type ExposedView,
  exposeServer,
  exposeView,
  isInView,
  type ListedServer,
  type OwnItems,
} from './names/index.ts';
import { checkGateway, type GatewayOptions, type ServedAs } from './options.ts';
import { HeldCalls } from './relays/held-calls.ts';
import { decodeOutcome, encodeOutcome } from './relays/held-outcome.ts';
import { ViewBus } from './serving/view-bus.ts';
import { ViewServer } from './serving/view-server.ts';
import type { ListsOf, ViewSource } from './serving/view-source.ts';
import { joinLists } from './upstreams/checked-lists.ts';
import type { UpstreamStatus } from './upstreams/contract.ts';
import { Upstream, type UpstreamSettings } from './upstreams/upstream.ts';

/** How long a reload waits for the lists of changed servers, so that one of them cannot delay it for long. */
const reloadListMs = 3_000;
/** Stops a server whose lists always have new conflicts from filling the log and the memory. */
const maxWarnings = 1_000;

function listed(upstream: Upstream, listsOf: ListsOf): ListedServer {
  const lists = listsOf(upstream);
  return { config: upstream.config, lists: lists?.shown ?? noLists, withheld: lists?.withheldTools };
}

/** Creates a gateway. Nothing is started before it is needed, except servers with `start: "eager"`. */
export function createGateway(config: GatewayConfig, options: GatewayOptions = {}): Gateway {
  return new Gateway(config, options);
}

/** Many servers behind one. Made by `createGateway`. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #logger: Logger | undefined;
  readonly #settings: UpstreamSettings;
  readonly #held: HeldCalls;
  #config: GatewayConfig;
  #upstreams = new Map<string, Upstream>();
  /** Upstreams and servers of views that are being drained: they finish their calls and get no new ones. */
  readonly #draining = new Set<Promise<void>>();
  /** By `ServedAs` as text; created when they are first used. */
  readonly #servers = new Map<string, ViewServer>();
  /** By the same text. Kept after a view is removed, so that a view that is added again uses the same bus. */
  readonly #buses = new Map<string, Bus>();
  readonly #warned = new Set<string>();
  #attached: Server | undefined;
  #closed = false;

  constructor(config: GatewayConfig, options: GatewayOptions) {
    checkGateway(config, options);
    this.#config = config;
    this.#options = options;
    this.#logger = options.logger === false ? undefined : (options.logger ?? createConsoleLogger());
    const { name = 'mooring', version: ownVersion = version, bus } = options.server ?? {};
    const outcomes = { encode: encodeOutcome, decode: decodeOutcome };
    this.#held = new HeldCalls(options.heldCalls, bus && { bus, name, outcomes });
    const { server: _server, logger: _logger, ...settings } = options;
    this.#settings = { ...settings, client: { name, version: ownVersion }, logger: this.#logger };
    for (const each of config.servers) this.#upstreams.set(each.slug, this.#createUpstream(each));
    this.#startEager(this.#upstreams.values());
  }

  /** The server of the default view, with all upstreams. */
  get server(): Server {
    return this.view('') as Server;
  }

  /** The server of a view; undefined if there is no such view. The default view is `default`, or an empty name. */
  view(name: string): Server | undefined {
    const view = this.#viewConfig(name);
    return view && this.#serve({ view: view.name }).server;
  }

  /** The names of all views but the default one. */
  get viewNames(): readonly string[] {
    return this.#config.views.map(({ name }) => name);
  }

  /** The server that offers a single upstream under its own names; undefined if there is no such upstream. */
  single(slug: string): Server | undefined {
    const upstream = this.#upstreams.get(slug);
    if (upstream === undefined || upstream.config.disabled) return undefined;
    return this.#serve({ upstream: slug }).server;
  }

  /** Makes a server that of the default view: it gets the items of the upstreams besides its own. Call it first. */
  attach(base: Server): void {
    this.#attached = base;
    const as = { view: '' };
    const source = this.#sourceOf(as) as ViewSource;
    const options = { name: 'mooring', version };
    const view = new ViewServer(options, source, this.#held, this.#config.firstListMs, base);
    this.#servers.set(JSON.stringify(as), view);
    for (const warning of view.exposedTo(undefined).settingsWarnings) this.#warnOnce(warning);
  }

  /** The server at a path below the endpoint: `` and `/` the default view, `/v/<view>`, `/s/<server>`. */
  serverAt(path: string): Server | undefined {
    if (path === '' || path === '/') return this.server;
    const [, kind, name = ''] = /^\/([vs])\/([^/]+)$/.exec(path) ?? [];
    if (kind === 'v') return this.view(name);
    return kind === 's' ? this.single(name) : undefined;
  }

  /**
   * What a server of the gateway shows now: to a caller, or else to all of them together. Of lists that differ between callers,
   * the items of those callers that are known. Undefined if there is no such view or upstream.
   */
  exposed(as: ServedAs, caller?: Caller): ExposedView | undefined {
    const served = this.#servers.get(JSON.stringify(as));
    if (served !== undefined && (caller !== undefined || !served.hasPrivate)) return served.exposedTo(caller);
    return this.#sourceOf(as)?.expose(({ allLists }) => joinLists(allLists));
  }

  /** Compares the tools of an upstream with its pins again, after some were accepted. */
  recheckPins(slug: string): void {
    this.#upstreams.get(slug)?.recheckPins();
  }

  /** The state of every upstream. */
  status(): readonly UpstreamStatus[] {
    return [...this.#upstreams.values()].map(({ status }) => status);
  }

  /** Reads the lists that are not known yet. Resolves when all are known, or after `firstListMs`. */
  async readLists(): Promise<void> {
    const known = Promise.all([...this.#upstreams.values()].map((upstream) => upstream.known()));
    await waitAtMost(this.#config.firstListMs, known);
  }

  /** Every upstream with `required` can be used. */
  get isReady(): boolean {
    return this.status().every(
      ({ slug, state }) =>
        this.#upstreams.get(slug)?.config.required !== true || (state !== 'down' && state !== 'needs-login'),
    );
  }

  /** Ends the connections of an upstream and opens a new one. Throws if there is no such upstream. */
  async restart(slug: string): Promise<void> {
    const upstream = this.#upstreams.get(slug);
    if (upstream === undefined) throw new TypeError(`There is no server ${JSON.stringify(slug)}`);
    await upstream.restart();
  }

  /**
   * Applies another configuration. Upstreams whose entry has not changed keep running; those that were removed finish their
   * calls within `drainMs`; for changed ones, the new lists are read before the old upstream is closed.
   */
  async reload(config: GatewayConfig): Promise<void> {
    const before = this.#upstreams;
    const next = new Map<string, Upstream>();
    const fresh: Upstream[] = [];
    for (const each of config.servers) {
      const known = before.get(each.slug);
      if (known?.config.digest === each.digest) next.set(each.slug, known);
      else {
        const upstream = this.#createUpstream(each);
        next.set(each.slug, upstream);
        fresh.push(upstream);
      }
    }
    // A changed server that is not known yet would have no items until its lists are read.
    const changed = fresh.filter(({ slug, lists }) => before.has(slug) && lists === undefined);
    await waitAtMost(reloadListMs, Promise.all(changed.map((upstream) => upstream.known())));
    if (this.#closed) return;
    this.#config = config;
    this.#upstreams = next;
    for (const [slug, upstream] of before) if (next.get(slug) !== upstream) this.#drain(upstream);
    this.#startEager(fresh);
    this.#updateAll();
    for (const [key, { as, view }] of this.#served) {
      if (this.#sourceOf(as) !== undefined) continue;
      this.#servers.delete(key);
      this.#untilDone(this.#end(view.server));
    }
  }

  /** Ends all connections to its servers, and the servers that it started. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#held.close();
    // Before the upstreams, because tasks can only be handed over while their connections are open.
    const servers = [...this.#servers.values()].map(({ server }) => server);
    await Promise.allSettled(servers.map((server) => (server === this.#attached ? undefined : server.close())));
    await Promise.allSettled([...[...this.#upstreams.values()].map((upstream) => upstream.close()), ...this.#draining]);
  }

  // Upstreams.

  #createUpstream(config: UpstreamConfig): Upstream {
    const { slug } = config;
    // The cache may report its lists during construction, before any view uses the upstream.
    let upstream: Upstream | undefined;
    const isCurrent = (): boolean => upstream !== undefined && this.#upstreams.get(slug) === upstream;
    upstream = new Upstream(config, this.#settings, {
      listsChanged: () => {
        if (isCurrent()) this.#updateAll();
      },
      callerListsChanged: (...change) => {
        if (isCurrent()) for (const view of this.#servers.values()) view.callerListsChanged(slug, ...change);
      },
      resourceUpdated: (uri, audience) => {
        if (isCurrent()) for (const view of this.#servers.values()) view.resourceUpdated(slug, uri, audience);
      },
      stateChanged: (status) => this.#options.onState?.(status),
    });
    return upstream;
  }

  #startEager(upstreams: Iterable<Upstream>): void {
    for (const upstream of upstreams) {
      if (upstream.config.start === 'eager') upstream.start().catch(() => {});
    }
  }

  #drain(upstream: Upstream): void {
    this.#untilDone(upstream.drain(this.#config.drainMs));
  }

  #untilDone(ending: Promise<void>): void {
    const draining = ending.finally(() => this.#draining.delete(draining));
    this.#draining.add(draining);
  }

  // Servers.

  #viewConfig(name: string): ViewConfig | undefined {
    return findView(this.#config, name);
  }

  #serve(as: ServedAs): ViewServer {
    const key = JSON.stringify(as);
    let served = this.#servers.get(key);
    if (served === undefined) {
      const { name = 'mooring', version: ownVersion = version } = this.#options.server ?? {};
      const logger = this.#options.logger === undefined ? {} : { logger: this.#options.logger };
      const source = this.#sourceOf(as) as ViewSource;
      const bus = this.#busOf(key);
      const isDefault = 'view' in as && as.view === '';
      // Servers that share a task store must not resume each other's tasks, because their tool names differ.
      const given = this.#options.server?.tasks;
      const tasks = isDefault ? {} : { tasks: { ...given, service: `${given?.service ?? name} ${key}` } };
      const options = { ...logger, ...this.#options.server, name, version: ownVersion, ...(bus && { bus }), ...tasks };
      served = new ViewServer(options, source, this.#held, this.#config.firstListMs);
      this.#servers.set(key, served);
      this.#options.prepareServer?.(served.server, as);
    }
    return served;
  }

  /** Ends the sessions of a view or address that was removed. Its calls may finish, as those of a removed upstream. */
  async #end(server: Server): Promise<void> {
    try {
      await server.drain(this.#config.drainMs);
      await server.close();
    } catch (error) {
      this.#logger?.warn('the server of a view that was removed could not be closed', { error });
    }
  }

  #busOf(key: string): Bus | undefined {
    const shared = this.#options.server?.bus;
    if (shared === undefined) return undefined;
    let bus = this.#buses.get(key);
    if (bus === undefined) this.#buses.set(key, (bus = new ViewBus(shared, key)));
    return bus;
  }

  get #served(): readonly (readonly [string, { readonly as: ServedAs; readonly view: ViewServer }])[] {
    return [...this.#servers].map(([key, view]) => [key, { as: JSON.parse(key) as ServedAs, view }]);
  }

  /** What a server shows now; undefined if the configuration does not have it any more. */
  #sourceOf(as: ServedAs): ViewSource | undefined {
    const warn = (warning: string): void => this.#warnOnce(warning);
    const { bareNames, drainMs } = this.#config;
    if ('upstream' in as) {
      const upstream = this.#upstreams.get(as.upstream);
      if (upstream === undefined || upstream.config.disabled) return undefined;
      const upstreams = new Map([[as.upstream, upstream]]);
      const expose: ViewSource['expose'] = (listsOf) => exposeServer(listed(upstream, listsOf));
      return { instructions: undefined, isSingle: true, upstreams, expose, warn, bareNames: 'off', drainMs };
    }
    const view = this.#viewConfig(as.view);
    if (view === undefined) return undefined;
    const upstreams = new Map([...this.#upstreams].filter(([, { config }]) => isInView(view, config)));
    const all = [...this.#upstreams.values()];
    // A name depends on the other servers of the gateway too, but not on what they list for one caller of another view.
    const expose: ViewSource['expose'] = (listsOf) =>
      exposeView(
        view,
        all.map((each) => listed(each, upstreams.has(each.slug) ? listsOf : ({ lists }) => lists)),
        this.#ownItems,
      );
    return { instructions: view.instructions, isSingle: false, upstreams, expose, warn, view, bareNames, drainMs };
  }

  /** What the server has itself that the default view was added to. */
  get #ownItems(): OwnItems | undefined {
    if (this.#attached === undefined) return undefined;
    const { tools, prompts, resources, resourceTemplates } = this.#attached.catalog;
    return {
      tools: ownKeys(tools),
      prompts: ownKeys(prompts),
      uris: ownKeys(resources),
      templates: [...ownKeys(resourceTemplates)],
    };
  }

  #updateAll(): void {
    for (const [, { as, view }] of this.#served) {
      const source = this.#sourceOf(as);
      if (source === undefined) continue;
      view.update(source);
      for (const warning of view.exposedTo(undefined).settingsWarnings) this.#warnOnce(warning);
    }
  }

  #warnOnce(warning: string): void {
    if (this.#warned.has(warning) || this.#warned.size >= maxWarnings) return;
    this.#warned.add(warning);
    this.#logger?.warn(warning);
  }
}

/** The keys of entries that are not those of other servers. */
function ownKeys(entries: ReadonlyMap<string, CatalogEntry<unknown>>): ReadonlySet<string> {
  return new Set([...entries].filter(([, { relayed }]) => relayed !== true).map(([key]) => key));
}
