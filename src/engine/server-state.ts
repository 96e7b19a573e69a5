// What all channels of one server share. The public class is in server.ts.

import type { Logger } from '../common/logger.ts';
import { CallerBudget } from '../protocol/callers/caller-budget.ts';
import { MarkBudget } from '../protocol/callers/mark-budget.ts';
import { WireError, wireErrors } from '../protocol/errors.ts';
import type { Params } from '../protocol/json-rpc.ts';
import type { CacheHint, Capabilities, Implementation, JsonObject } from '../protocol/model.ts';
import type { Monitor } from '../protocol/monitor.ts';
import { type ChangeNotification, type Codec, ServerRevisions } from '../protocol/revisions/index.ts';
import type { Rules } from '../protocol/rules.ts';
import { CallTimeout } from './calls/call-timeout.ts';
import { Deadlines, type Timed } from './calls/deadlines.ts';
import { MiddlewareChain } from './calls/middleware.ts';
import { PendingRequests } from './calls/pending-requests.ts';
import type { CallerCatalogs } from './catalog/caller-catalogs.ts';
import { Catalog } from './catalog/catalog.ts';
import type { CatalogKind, EntryKinds, OwnedEntries } from './catalog/catalog-entry.ts';
import { ListCache } from './catalog/lists.ts';
import { type AudienceTest, audienceKeys, audienceTest, type ChangeAudience } from './changes/audience.ts';
import { type AnnouncedChange, Changes, type ListKind, listKinds, notifiedList } from './changes/changes.ts';
import { type ChangeSource, SharedChanges } from './changes/shared-changes.ts';
import type { Context } from './context.ts';
import type { Call, CallServer, Feature } from './contract.ts';
import { createMemoryExpiringStore } from './expiring-store.ts';
import type { Limits } from './limits.ts';
import { Observers } from './observers.ts';
import type {
  Bus,
  Caller,
  CallRedirect,
  ChangeFilter,
  ExpiringStore,
  OtherMethods,
  OtherSkills,
  ResourceFollower,
  Sealer,
} from './ports.ts';
import { requireMethod } from './server-arguments.ts';
import type { ServerOptions } from './server-options.ts';
import type { RecoveryServer } from './tasks/runs/task-recovery.ts';
import type { TasksOptions } from './tasks/task-options.ts';
import { TaskService } from './tasks/task-service.ts';

export interface ServerStateOptions {
  readonly identity: Implementation;
  readonly rules: Rules;
  readonly limits: Limits;
  readonly instructions: ServerOptions['instructions'] | undefined;
  /** Declared as given; undefined: derived from what is registered. */
  readonly capabilities: Capabilities | (() => Capabilities) | undefined;
  /** Merged into the declared capabilities. */
  readonly extensions: { readonly [id: string]: object } | undefined;
  readonly logging: boolean;
  readonly listCache: CacheHint;
  readonly sealer: Sealer;
  /** Whether the sealer has a key that other processes, or this server after a restart, can have. */
  readonly hasKey: boolean;
  /** Default: in memory. */
  readonly store: ExpiringStore | undefined;
  readonly bus: Bus | undefined;
  readonly logger: Logger | undefined;
  readonly masksErrors: boolean;
  readonly tasks: TasksOptions;
}

export class ServerState implements CallServer {
  readonly identity: Implementation;
  readonly revisions: ServerRevisions;
  /** What all callers see that have no catalog of their own. */
  readonly catalog: Catalog;
  #callerCatalogs: CallerCatalogs | undefined;
  readonly changes: Changes;
  /** Undefined without a bus: no other process has clients to notify. */
  readonly shared: SharedChanges | undefined;
  /** Decide who may be notified of a change of a resource; all must agree. */
  readonly changeFilters: ChangeFilter[] = [];
  readonly subscriptionBudget: CallerBudget;
  readonly pending: PendingRequests;
  readonly lists: ListCache;
  readonly limits: Limits;
  readonly sealer: Sealer;
  readonly hasKey: boolean;
  readonly logger: Logger | undefined;
  readonly masksErrors: boolean;
  listCache: CacheHint;
  readonly features = new Map<string, Feature>();
  /** Serves methods that are in no table. */
  otherMethods: OtherMethods | undefined;
  otherFeature: Feature | undefined;
  otherSkills: OtherSkills | undefined;
  /** Methods that a user added; they exist on every revision. */
  readonly customMethods = new Set<string>();
  readonly middleware = new MiddlewareChain();
  readonly observers: Observers;
  /** Added to the instructions of the options. */
  readonly furtherInstructions: ((caller: Caller) => string | undefined)[] = [];
  /** Replace the tool of a call; the first that does decides. */
  readonly redirects: CallRedirect[] = [];
  /** The servers that this one is mounted on: what changes here changes there. */
  readonly mountedOn: ServerState[] = [];
  /** The servers that are mounted on this one. */
  readonly mounted: ServerState[] = [];
  readonly deadlines: Deadlines<Call & Timed>;
  /** Undefined until a tool is registered that runs as a task: most servers have none. */
  tasks: TaskService | undefined;
  /** What health probes ask: tasks that are not kept going are lost for clients, so requests belong elsewhere. */
  readonly monitors: readonly Monitor[] = [
    () => ({ status: this.tasks?.loaded?.isHealthy === false ? 'unavailable' : 'healthy', metrics: [] }),
  ];
  /** Runs the handler of a task again; set by the server, because calls depend on this class. */
  runAgain!: RecoveryServer['runAgain'];
  #follower: ResourceFollower | undefined;
  #idPrefix: string | undefined;
  #store: ExpiringStore | undefined;
  #usedStates: MarkBudget | undefined;
  readonly #options: ServerStateOptions;
  #capabilities: Capabilities | undefined;
  /** Kinds that have had an entry: a client that was told of a capability is notified when the last entry goes, too. */
  readonly #registered = new Set<CatalogKind>();

  constructor(options: ServerStateOptions) {
    this.#options = options;
    this.identity = options.identity;
    this.limits = options.limits;
    this.sealer = options.sealer;
    this.hasKey = options.hasKey;
    this.#store = options.store;
    this.logger = options.logger;
    this.masksErrors = options.masksErrors;
    this.observers = new Observers(options.logger);
    this.subscriptionBudget = new CallerBudget(options.limits.maxKeptBytes, options.limits.maxKeptBytesPerCaller);
    this.pending = new PendingRequests(options.limits);
    this.changes = new Changes(this.subscriptionBudget, (error) =>
      this.logger?.error('a change could not be announced', { error }),
    );
    this.listCache = options.listCache;
    this.revisions = new ServerRevisions(options.identity, options.rules);
    this.catalog = new Catalog((kind) => this.#changed(kind));
    this.lists = new ListCache(this);
    this.deadlines = new Deadlines((call) => this.#expire(call));
    this.shared = options.bus && new SharedChanges(this, options.bus);
  }

  get follower(): ResourceFollower | undefined {
    return this.#follower;
  }

  set follower(follower: ResourceFollower | undefined) {
    this.#follower = follower;
    this.changes.uris = follower;
  }

  /** Makes the ids of our requests unique among processes, and says which process sent them. Created on first use: start-up loads no crypto. */
  get idPrefix(): string {
    return (this.#idPrefix ??= `m${this.shared?.bus.process ?? crypto.randomUUID().slice(0, 8)}-`);
  }

  /** The one in memory is created on first use, as `usedStates` is: few servers need them. */
  get store(): ExpiringStore {
    return (this.#store ??= createMemoryExpiringStore());
  }

  get usedStates(): MarkBudget {
    if (this.#usedStates === undefined) {
      const { maxUsedStates, maxUsedStatesPerCaller, journalTtlMs } = this.limits;
      this.#usedStates = new MarkBudget(maxUsedStates, maxUsedStatesPerCaller, journalTtlMs);
    }
    return this.#usedStates;
  }

  codecOf(revision: string): Codec | undefined {
    return this.revisions.handshake(revision) ?? this.revisions.stateless(revision);
  }

  instructionsFor(caller: Caller): string | undefined {
    const { instructions } = this.#options;
    const own = typeof instructions === 'function' ? instructions(caller) : instructions;
    if (this.furtherInstructions.length === 0) return own;
    const texts = [own, ...this.furtherInstructions.map((further) => further(caller))].filter(
      (text) => text !== undefined,
    );
    return texts.length === 0 ? undefined : texts.join('\n\n');
  }

  get callerCatalogs(): CallerCatalogs | undefined {
    return this.#callerCatalogs;
  }

  setCallerCatalogs(catalogs: CallerCatalogs | undefined, hasTasks: boolean): void {
    this.#callerCatalogs = catalogs;
    this.#offerTasks({ hasTasks, hasFacade: false });
  }

  catalogOf(caller: Caller): Catalog {
    return this.callerCatalogs?.of(caller) ?? this.catalog;
  }

  /** The entries with a key, in all catalogs. */
  entriesNamed<K extends CatalogKind>(kind: K, key: string): readonly EntryKinds[K][] {
    const of = (catalog: Catalog) => (catalog[kind] as unknown as ReadonlyMap<string, EntryKinds[K]>).get(key);
    const all = [this.catalog, ...(this.callerCatalogs?.all() ?? [])];
    return [...new Set(all.map(of))].filter((entry) => entry !== undefined);
  }

  /** Whether there is an entry with a key in any catalog. */
  isRegistered(kind: CatalogKind, key: string): boolean {
    if (this.catalog[kind].has(key)) return true;
    for (const catalog of this.callerCatalogs?.all() ?? []) if (catalog[kind].has(key)) return true;
    return false;
  }

  /** A catalog for some callers, with other entries of one owner. */
  createCatalog(owner: object, entries: OwnedEntries, cache: CacheHint): Catalog {
    const catalog = this.catalog.withEntries(owner, entries, cache);
    this.#offerTasks(catalog);
    return catalog;
  }

  get capabilities(): Capabilities {
    const { capabilities } = this.#options;
    if (typeof capabilities === 'function') return capabilities();
    return (this.#capabilities ??= this.#derive(capabilities));
  }

  offers(path: string): boolean {
    const dot = path.indexOf('.');
    if (dot === -1) return this.capabilities[path] !== undefined;
    const outer = this.capabilities[path.slice(0, dot)] as { [key: string]: unknown } | undefined;
    return outer?.[path.slice(dot + 1)] === true;
  }

  /** Only callers that may read a resource: a notification reveals that it exists. */
  maySee(announcement: AnnouncedChange, client: Caller): boolean {
    return announcement.isFor(client) && this.#mayRead(announcement.change.uri as string, client);
  }

  #mayRead(uri: string, caller: Caller): boolean {
    const { principal } = caller;
    if (!this.catalogOf(caller).isVisibleUri(uri, principal)) return false;
    return this.changeFilters.every((allows) => allows(uri, principal));
  }

  /**
   * Notifies clients of a change that is not a registration, also those of the servers that this one is mounted on.
   * `mount`: the mounted servers that the change comes from, outermost first.
   */
  announce(
    change: ChangeNotification,
    audience?: ChangeAudience,
    source: ChangeSource = 'this-process',
    mount: readonly ServerState[] = [],
  ): void {
    const { kind, uri = '' } = change;
    // Callers in an audience see another catalog from now on, or other items of it. The lists of all others stay as they are.
    if (kind !== 'resource' && audience === undefined) this.forgetList(kind);
    const keys = audience && audienceKeys(audience);
    if (this.shared !== undefined && (audience === undefined || keys !== undefined)) {
      const names = mount.map(({ identity }) => identity.name);
      this.shared.publish(change, keys, names, source);
    } else {
      const test = audienceTest(audience);
      const isAllowed: AudienceTest = (principal, session) =>
        test?.(principal, session) !== false && mount.every((inner) => inner.#mayRead(uri, { principal, session }));
      this.changes.publish(change, mount.length === 0 ? test : isAllowed);
    }
    const path = kind === 'resource' ? [this, ...mount] : mount;
    for (const outer of this.mountedOn) outer.announce(change, audience, source, path);
  }

  forgetList(kind: ListKind): void {
    this.lists.forget(kind);
    if (kind !== 'resources') return;
    this.lists.forget('resourceTemplates');
    this.lists.forget('skills');
  }

  mountAllows(path: readonly string[], uri: string): AudienceTest {
    const servers: ServerState[] = [];
    let at: ServerState = this;
    for (const name of path) {
      const inner = at.mounted.find(({ identity }) => identity.name === name);
      // Not mounted here, so nothing is known about who may read its resources.
      if (inner === undefined) return () => false;
      servers.push(inner);
      at = inner;
    }
    return (principal, session) => servers.every((inner) => inner.#mayRead(uri, { principal, session }));
  }

  setListCache(hint: CacheHint): void {
    const { ttlMs, cacheScope } = this.listCache;
    if (hint.ttlMs === ttlMs && hint.cacheScope === cacheScope) return;
    this.listCache = hint;
    for (const kind of listKinds) this.forgetList(kind);
  }

  /** Adds a method of the user; returns a function that removes it. */
  addMethod(name: string, handler: (params: Params, ctx: Context) => unknown): () => void {
    const { features, customMethods } = this;
    requireMethod(name, handler);
    if (features.has(name))
      throw new TypeError(`Method ${JSON.stringify(name)} already exists; wrap it with server.around()`);
    const feature = customFeature((call) => handler(call.params, call.ctx));
    customMethods.add(name);
    features.set(name, feature);
    return () => {
      if (features.get(name) !== feature) return;
      customMethods.delete(name);
      features.delete(name);
    };
  }

  setOtherMethods(other: OtherMethods): void {
    this.otherMethods = other;
    this.otherFeature = customFeature((call) => other.request(call.method, call.params, call.ctx));
  }

  /** Whether this server is another, or mounted on it directly or through others. */
  isWithin(other: ServerState): boolean {
    return this === other || this.mountedOn.some((outer) => outer.isWithin(other));
  }

  #derive(capabilities: Capabilities | undefined): Capabilities {
    const { extensions, logging } = this.#options;
    const derived: Record<string, unknown> = { ...capabilities };
    if (capabilities === undefined) {
      if (this.#registered.has('tools')) derived['tools'] = { listChanged: true };
      if (this.#registered.has('resources')) derived['resources'] = { subscribe: true, listChanged: true };
      if (this.#registered.has('prompts')) derived['prompts'] = { listChanged: true };
      if (this.catalog.hasTasks) derived['tasks'] = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
      if (this.#completes()) derived['completions'] = {};
      if (logging) derived['logging'] = {};
    }
    // Whatever was declared: a server with skills has them, and their files are resources.
    if (this.#registered.has('skills')) {
      derived['skills'] = { directoryRead: true };
      derived['resources'] ??= {};
    }
    if (extensions !== undefined) derived['extensions'] = { ...(derived['extensions'] as object), ...extensions };
    return derived;
  }

  #completes(): boolean {
    for (const { definition } of this.catalog.resourceTemplates.values()) if (definition.complete) return true;
    for (const { definition } of this.catalog.prompts.values()) {
      if (Object.values(definition.args ?? {}).some((each) => each.complete)) return true;
    }
    return false;
  }

  #changed(kind: CatalogKind): void {
    const list = notifiedList(kind);
    this.#registered.add(list).add(kind);
    this.#offerTasks(this.catalog);
    this.#capabilities = undefined;
    this.lists.forget(kind);
    // What is registered in one process is not in the others, so their clients are not notified.
    if (this.shared?.isRefreshing(list) !== true) this.changes.publish({ kind: list });
  }

  #offerTasks({ hasTasks, hasFacade }: Pick<Catalog, 'hasTasks' | 'hasFacade'>): void {
    const { tasks } = this.#options;
    if (hasTasks) this.tasks ??= new TaskService(this, tasks);
    if (hasFacade || tasks.facade) this.tasks?.addFacade();
  }

  #expire(call: Call): void {
    const feature = this.features.get(call.method);
    const timeout = new CallTimeout(call);
    try {
      if (feature?.recover !== undefined) call.succeed(feature.encode(feature.recover(timeout, call), call), 'failed');
      else call.fail(timeout.wireError);
    } catch (error) {
      // A profile may turn failures of tools into protocol errors.
      call.fail(error instanceof WireError ? error : wireErrors.internal(error));
    }
    call.abort(timeout.message);
  }
}

/** A method that the protocol does not define: its result is encoded as it is. */
function customFeature(run: Feature['run']): Feature {
  return {
    duration: 'handler',
    run,
    encode: (result, { codec }) => codec.custom((result ?? {}) as JsonObject),
  };
}
