// The public class of a server: users register tools, resources and prompts on it, and transports connect to it.

import type { Logger } from '../common/logger.ts';
import { WireError, wireErrors } from '../protocol/errors.ts';
import type {
  Drain,
  EndedSession,
  MessageRoute,
  Outlet,
  Peer,
  ReadHeader,
  SaveState,
  SessionControl,
  SessionFacts,
  SessionHost,
  SessionState,
} from '../protocol/exchange.ts';
import { methods } from '../protocol/methods.ts';
import type { CacheHint, Implementation, JsonObject } from '../protocol/model.ts';
import type { Monitor } from '../protocol/monitor.ts';
import type { Sealing } from '../protocol/seal-key.ts';
import type { SchemaInput } from '../schema/index.ts';
import { offerAttachments } from './attachments/offer-attachments.ts';
import { createDetachedCall } from './calls/call.ts';
import { isThenable, runAgain } from './calls/run-call.ts';
import { appResource } from './catalog/apps.ts';
import type { CallerCatalogs } from './catalog/caller-catalogs.ts';
import type { Catalog } from './catalog/catalog.ts';
import type { CatalogKind, EntryKinds, OwnedEntries } from './catalog/catalog-entry.ts';
import { mountServer } from './catalog/mount-server.ts';
import {
  type RegisteredKind,
  warnOfContentList,
  warnOfRegistration,
  warnOfToolName,
} from './catalog/registration-warnings.ts';
import type { AudienceTest, ChangeAudience } from './changes/audience.ts';
import type { ListKind } from './changes/changes.ts';
import type { ChangeSource, Refresh } from './changes/shared-changes.ts';
import { EngineChannel } from './channels/channel.ts';
import { Session } from './channels/session.ts';
import type { Context } from './context.ts';
import type { Feature } from './contract.ts';
import type {
  AppDefinition,
  PromptArguments,
  PromptDefinition,
  Registration,
  ResourceDefinition,
  ResourceTemplateDefinition,
  SkillDefinition,
  ToolDefinition,
} from './definitions.ts';
import { addFeatures, loadCallTool } from './features/index.ts';
import { lazySealer } from './lazy-sealer.ts';
import type { Limits } from './limits.ts';
import type {
  Bus,
  Caller,
  ExpiringStore,
  Middleware,
  Observer,
  OtherMethods,
  OtherSkills,
  Pack,
  ResourceFollower,
  Sealer,
  Visibility,
} from './ports.ts';
import { requireFunctionArgument, requirePack, requirePeer } from './server-arguments.ts';
import { checkServerOptions, type ServerOptions } from './server-options.ts';
import { ServerState } from './server-state.ts';
import { stateOptions } from './state-options.ts';
import { TaskApi } from './tasks/task-api.ts';

/** Creates a server. Register tools on it, then pass it to `serveStdio`, `serveHttp` or another transport. */
export function createServer(options: ServerOptions): Server {
  // Without options, the constructor says what is needed.
  return new Server(options ?? ({} as ServerOptions));
}

/** A server: users register tools, resources and prompts on it, transports connect clients to it. */
export class Server implements SessionHost {
  readonly #state: ServerState;
  /** Private, so that printing a server does not print its key. */
  #sealing: Sealing | undefined;
  readonly #ownsSealer: boolean;
  readonly #packs: Pack<Server>[] = [];
  readonly sessionControls = new Set<SessionControl>();
  readonly drains = new Set<Drain>();
  #tasks: TaskApi | undefined;

  constructor(options: ServerOptions) {
    checkServerOptions(options);
    const { name, key, previousKeys = [], sealer } = options;
    if (key !== undefined) this.#sealing = { key, previousKeys, boundTo: name };
    this.#ownsSealer = sealer === undefined;
    const ownSealer = lazySealer(() => this.sealing as Sealing);
    this.#state = new ServerState(stateOptions(options, ownSealer));
    this.#state.runAgain = (message, peer, codec, session, prepare) => {
      const call = createDetachedCall(this.#state, peer, codec, session, message);
      prepare(call);
      runAgain(call, this.#state.features.get(message.method) as Feature);
    };
    addFeatures(this.#state.features);
    if (options.attachments === true) offerAttachments(this.#state.catalog);
  }

  get name(): string {
    return this.#state.identity.name;
  }
  get version(): string {
    return this.#state.identity.version;
  }
  /** What clients are told about this server. */
  get identity(): Implementation {
    return this.#state.identity;
  }
  get logger(): Logger | undefined {
    return this.#state.logger;
  }

  /** Registers a tool. Types of `args` and of the returned value follow from the schemas. */
  tool<const I extends SchemaInput = SchemaInput, const O extends SchemaInput = SchemaInput>(
    name: string,
    definition: ToolDefinition<I, O>,
  ): Registration {
    const { catalog, logger } = this.#state;
    const remove = catalog.addTool(name, definition as unknown as ToolDefinition);
    warnOfToolName(name, logger);
    warnOfContentList(name, catalog.tools.get(name), logger);
    return this.#registered('tool', name, definition, remove);
  }

  /** Registers a resource with a fixed URI. */
  resource(uri: string, definition: ResourceDefinition): Registration {
    return this.#registered('resource', uri, definition, this.#state.catalog.addResource(uri, definition));
  }

  /** Registers an app: a page that hosts with MCP Apps show for the tools that name it as their `ui`. */
  app(uri: string, definition: AppDefinition): Registration {
    const resource = appResource(uri, definition);
    return this.#registered('app', uri, definition, this.#state.catalog.addResource(uri, resource));
  }

  /** Registers resources by a URI template (RFC 6570). */
  resourceTemplate<const T extends string>(template: T, definition: ResourceTemplateDefinition<T>): Registration {
    const remove = this.#state.catalog.addTemplate(template, definition as unknown as ResourceTemplateDefinition);
    return this.#registered('resource template', template, definition, remove);
  }

  /** Registers a prompt. */
  prompt<A extends PromptArguments = PromptArguments>(name: string, definition: PromptDefinition<A>): Registration {
    const remove = this.#state.catalog.addPrompt(name, definition as unknown as PromptDefinition);
    return this.#registered('prompt', name, definition, remove);
  }

  /** Registers a skill (Agent Skills). Its files are resources, registered with `resource` or by the pack `skills`. */
  skill(definition: SkillDefinition): Registration {
    const remove = this.#state.catalog.addSkill(definition);
    return this.#registered('skill', definition.uri, definition, remove);
  }

  #registered(kind: RegisteredKind, name: string, definition: object, remove: () => void): Registration {
    warnOfRegistration(kind, name, definition, this.#state.logger);
    return { remove };
  }

  /**
   * Adds a method of your own, on every revision. The handler gets the raw params and returns the result object. Methods
   * of the protocol cannot be replaced; wrap them with `around`.
   */
  method(name: string, handler: (params: JsonObject, ctx: Context) => unknown): Registration {
    return { remove: this.#state.addMethod(name, handler) };
  }

  /**
   * Shows everything that is registered on another server, now or later, on this one too: tools and prompts as
   * `<prefix>_<name>`, resources and templates with the same URIs. Calls run with the context, middleware and limits of
   * this server; restrictions of the other one still apply. Throws if a name or URI is registered already.
   */
  mount(prefix: string, other: Server): Registration {
    return mountServer(prefix, this.#state, other instanceof Server ? other.#state : undefined);
  }

  /**
   * Replaces everything that `owner` has registered with this method, in one step: clients are notified of each list once,
   * and only if they see a difference. Returns the names and URIs that were left out because others have registered them.
   * For gateways; see `relayedTool` and the functions beside it.
   */
  replaceEntries(owner: object, entries: OwnedEntries): readonly string[] {
    return this.#state.catalog.replace(owner, entries);
  }

  /**
   * Creates a catalog for some callers: with these entries of an owner instead of those that `replaceEntries` has, and with
   * everything else as it is registered now: create it again when it is not `isCurrent` any more.
   */
  createCatalog(owner: object, entries: OwnedEntries, cache: CacheHint): Catalog {
    return this.#state.createCatalog(owner, entries, cache);
  }

  /** Sets which callers have catalogs of their own; undefined: none. `hasTasks`: a tool of theirs may run as a task. */
  setCallerCatalogs(catalogs: CallerCatalogs | undefined, hasTasks = false): void {
    this.#state.setCallerCatalogs(catalogs, hasTasks);
  }

  /** Sets what serves methods and notifications that this server does not define, on every revision. */
  setOtherMethods(other: OtherMethods): void {
    this.#state.setOtherMethods(other);
  }

  /** Sets where skills of other servers are found. */
  setOtherSkills(other: OtherSkills): void {
    this.#state.otherSkills = other;
  }

  /** Adds text to the instructions, as it is when a client asks for them; undefined: none. */
  addInstructions(text: (caller: Caller) => string | undefined): void {
    requireFunctionArgument('addInstructions', '(caller) => "…"', text);
    this.#state.furtherInstructions.push(text);
  }

  /** Changes how long clients may cache lists; see `ServerOptions.cache`. */
  setListCache(hint: CacheHint): void {
    this.#state.setListCache(hint);
  }

  /** Sets what follows resources elsewhere while clients of this server follow them. */
  followResources(follower: ResourceFollower): void {
    this.#state.follower = follower;
  }

  /** Adds middleware around every request from now on; the first added is the outermost. */
  around(middleware: Middleware): this {
    this.#state.middleware.add(middleware);
    if (middleware.maySee !== undefined) this.#state.changeFilters.push(middleware.maySee);
    if (middleware.redirect !== undefined) this.#state.redirects.push(middleware.redirect);
    return this;
  }

  /**
   * Hides everything for which the function returns false, from lists, calls, completion and notifications of changes, for
   * what is registered now or later. Several restrictions must all return true.
   */
  restrict(visibility: Visibility): this {
    this.#state.catalog.restrict(visibility);
    return this;
  }

  /** Adds an observer of every message and call from now on; returns a function that removes it. */
  observe(observer: Observer): () => void {
    return this.#state.observers.add(observer);
  }

  /** Installs a pack. Await it if the pack opens files or connections. */
  use(pack: Pack<Server>): Promise<void> {
    requirePack(pack);
    this.#packs.push(pack);
    const installed = pack.install(this);
    return isThenable(installed) ? (installed as Promise<void>) : Promise.resolve();
  }

  /**
   * Notifies subscribers that a resource changed: those that may read it and, if given, are in `audience`. With a bus,
   * the clients of all processes. `each-process`: every process notices the change and calls this, as with a file that all
   * of them watch; clients are notified once.
   */
  resourceUpdated(uri: string, audience?: ChangeAudience, source?: ChangeSource): void {
    this.#state.announce({ kind: 'resource', uri }, audience, source);
  }
  /**
   * Notifies clients that the list of tools changed; with a bus, those of all processes. Registering and removing tools
   * notifies the clients of this process already.
   */
  toolsChanged(source?: ChangeSource): void {
    this.#state.announce({ kind: 'tools' }, undefined, source);
  }
  /** As `toolsChanged`, for the list of prompts. */
  promptsChanged(source?: ChangeSource): void {
    this.#state.announce({ kind: 'prompts' }, undefined, source);
  }
  /** As `toolsChanged`, for the lists of resources and of templates. */
  resourcesChanged(source?: ChangeSource): void {
    this.#state.announce({ kind: 'resources' }, undefined, source);
  }
  /** Notifies the callers in an audience that a list changed: of the clients of this process. */
  listChanged(kind: ListKind, audience: AudienceTest): void {
    this.#state.announce({ kind }, audience);
  }
  /** Calls `refresh` when another process has announced a change of a list, before the clients of this one are notified. */
  onRemoteChange(kind: ListKind, refresh: Refresh): void {
    this.#state.shared?.onRemoteChange(kind, refresh);
  }
  /** What is registered, for packs that show or search it. Without what only some callers have. */
  get catalog(): Pick<Catalog, CatalogKind> {
    return this.#state.catalog;
  }
  /** What a caller can see and use, as far as `visible` of an entry allows. */
  catalogOf(caller: Caller): Pick<Catalog, CatalogKind | 'allows'> {
    return this.#state.catalogOf(caller);
  }
  /** Whether some caller can use this name or URI. */
  isRegistered(kind: CatalogKind, key: string): boolean {
    return this.#state.isRegistered(kind, key);
  }
  /** The entries with a name or URI: several if callers have catalogs of their own. */
  entriesNamed<K extends CatalogKind>(kind: K, key: string): readonly EntryKinds[K][] {
    return this.#state.entriesNamed(kind, key);
  }

  /** The tasks of this server, for programs. */
  get tasks(): TaskApi {
    return (this.#tasks ??= new TaskApi(async () => {
      const { tasks } = this.#state;
      if (tasks === undefined) throw new TypeError('This server has no tasks: no tool was registered with `task`');
      return tasks.load();
    }));
  }

  get limits(): Limits {
    return this.#state.limits;
  }
  get handshakeVersions(): readonly string[] {
    return this.#state.revisions.handshakeVersions;
  }
  /** Every revision that this server supports, oldest first. */
  get revisions(): readonly string[] {
    return [...this.handshakeVersions, ...this.#state.revisions.statelessVersions];
  }
  get assumedVersion(): string | undefined {
    return this.#state.revisions.assumedVersion;
  }
  get sealing(): Sealing | undefined {
    if (!this.#ownsSealer) return undefined;
    // Created on first use, so that start-up loads no crypto.
    return (this.#sealing ??= { key: crypto.getRandomValues(new Uint8Array(32)), boundTo: this.name });
  }
  get sealer(): Sealer {
    return this.#state.sealer;
  }
  get store(): ExpiringStore {
    return this.#state.store;
  }
  get bus(): Bus | undefined {
    return this.#state.shared?.bus;
  }
  get changesPosition(): number {
    return this.#state.shared?.position ?? 0;
  }

  /** Whether its tasks are kept going; see `server.tasks.isHealthy`. */
  get monitors(): readonly Monitor[] {
    return this.#state.monitors;
  }

  /** Preloads what tool calls need; otherwise the first call loads it. */
  async prepare(): Promise<void> {
    this.#state.features.set(methods.callTool.name, await loadCallTool());
    // Tasks of earlier processes wait to be taken over.
    await this.#state.tasks?.load();
  }

  connect(peer: Peer, outlet?: Outlet, key?: string): EngineChannel {
    requirePeer(peer);
    return new EngineChannel(this.#state, peer, outlet, key);
  }

  resume(peer: Peer, facts: SessionFacts, state?: SessionState, save?: SaveState): EngineChannel | undefined {
    const codec = this.#state.revisions.handshake(facts.revision);
    if (codec === undefined) return undefined;
    const channel = this.connect(peer);
    channel.open(new Session(codec, facts, state, save));
    return channel;
  }

  sessionEnded(session: EndedSession): void {
    for (const notify of this.#state.observers.sessionEnded) notify(session);
  }

  errorText(error: Error, header: ReadHeader): string {
    const wire = error instanceof WireError ? error : wireErrors.internal(error);
    return this.#state.revisions.codecForHeader(header).error(undefined, wire);
  }

  route(message: unknown, header: ReadHeader): MessageRoute {
    return this.#state.revisions.route(message, header);
  }

  /** Ends its connections over HTTP, for a server that is one of several at an endpoint: open calls may finish within the time. */
  async drain(graceMs: number): Promise<void> {
    await Promise.allSettled([...this.drains].map((drain) => drain(graceMs)));
  }

  async close(): Promise<void> {
    await this.#state.tasks?.close();
    for (const pack of this.#packs.splice(0).reverse()) await pack.close?.();
  }
}
