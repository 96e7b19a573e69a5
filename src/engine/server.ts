// The public face of a server: what a user registers things on, and what transports connect to.

import { WireError, wireErrors } from '../protocol/errors.ts';
import type {
  MessageRoute,
  Outlet,
  Peer,
  Principal,
  ReadHeader,
  SaveState,
  SessionFacts,
  SessionHost,
  SessionState,
} from '../protocol/exchange.ts';
import type { Logger } from '../protocol/logger.ts';
import { methods } from '../protocol/methods.ts';
import type { CacheHint, Capabilities, Implementation } from '../protocol/model.ts';
import type { Rules } from '../protocol/rules.ts';
import { checkSealKey, type Sealing } from '../protocol/seal-key.ts';
import type { SchemaInput } from '../schema/index.ts';
import { EngineChannel } from './channel.ts';
import type { Context } from './context.ts';
import type { Feature } from './contract.ts';
import type {
  PromptArguments,
  PromptDefinition,
  Registration,
  ResourceDefinition,
  ResourceTemplateDefinition,
  StructuredToolDefinition,
  ToolDefinition,
} from './definitions.ts';
import { createMemoryExpiringStore } from './expiring-store.ts';
import { addFeatures, loadCallTool } from './features/index.ts';
import { lazySealer } from './lazy-sealer.ts';
import { defaultLimits, type Limits } from './limits.ts';
import type { ExpiringStore, Middleware, Observer, Pack, Sealer, SealKey, Visibility } from './ports.ts';
import { isThenable } from './run-call.ts';
import { ServerState } from './server-state.ts';
import { Session } from './session.ts';

/** What a server is made of. `name` and `version` are all it needs. */
export interface ServerOptions extends Implementation {
  /** How to use this server, for the client's model. */
  readonly instructions?: string;
  /** Deviations from the official behaviour; see `Rules`. */
  readonly rules?: Rules;
  readonly limits?: Partial<Limits>;
  /** Declared as they are instead of being derived from what is registered. */
  readonly capabilities?: Capabilities;
  /** Extensions to advertise, by identifier. */
  readonly extensions?: { readonly [id: string]: object };
  /** Whether clients may ask for log messages. Default true. */
  readonly logging?: boolean;
  /** For how long clients may keep lists. Default: not at all. */
  readonly cache?: CacheHint;
  /** Seals cursors, sessions and states of unfinished calls. Replicas share it; default: made at start. */
  readonly key?: SealKey;
  /** Earlier keys: what they sealed is still opened, so that the key can be changed without a gap. */
  readonly previousKeys?: readonly SealKey[];
  readonly sealer?: Sealer;
  /** Single-use marks and journals too large to travel. Replicas share one; default: in memory. */
  readonly store?: ExpiringStore;
  readonly logger?: Logger;
}

/** Makes a server. Register on it, then hand it to `serveStdio`, `serveHttp` or any other transport. */
export function createServer(options: ServerOptions): Server {
  return new Server(options);
}

export class Server implements SessionHost {
  readonly #core: ServerState;
  /** Private, so that printing a server does not print its key. */
  #sealing: Sealing | undefined;
  readonly #sealsItself: boolean;
  readonly #packs: Pack<Server>[] = [];

  constructor(options: ServerOptions) {
    const { instructions, rules, limits, capabilities, extensions, logging, cache, sealer, store, logger } = options;
    const { key, previousKeys = [] } = options;
    const { name, version, title, description, websiteUrl, icons } = options;
    if (typeof name !== 'string' || name === '' || typeof version !== 'string') {
      throw new TypeError('A server needs a name and a version: createServer({ name: "weather", version: "1.0.0" })');
    }
    if (key === undefined && previousKeys.length > 0)
      throw new TypeError('previousKeys need a key that took their place');
    if (key !== undefined) {
      for (const each of [key, ...previousKeys]) checkSealKey(each);
      this.#sealing = { key, previousKeys, boundTo: name };
    }
    this.#sealsItself = sealer === undefined;
    this.#core = new ServerState({
      identity: { name, version, title, description, websiteUrl, icons },
      rules: rules ?? {},
      limits: { ...defaultLimits, ...limits },
      instructions,
      capabilities,
      extensions,
      logging: logging ?? true,
      listCache: cache ?? { ttlMs: 0, cacheScope: 'private' },
      sealer: sealer ?? lazySealer(() => this.sealing as Sealing),
      store: store ?? createMemoryExpiringStore(),
      logger,
    });
    addFeatures(this.#core.features);
  }

  get name(): string {
    return this.#core.identity.name;
  }
  get version(): string {
    return this.#core.identity.version;
  }
  get logger(): Logger | undefined {
    return this.#core.logger;
  }

  /** Registers a tool. Types of `args` and of the returned value follow from the schemas. */
  tool<const I extends SchemaInput = SchemaInput>(
    name: string,
    definition: ToolDefinition<I> & { readonly output?: undefined },
  ): Registration;
  tool<const I extends SchemaInput = SchemaInput, const O extends SchemaInput = SchemaInput>(
    name: string,
    definition: StructuredToolDefinition<I, O>,
  ): Registration;
  tool(name: string, definition: object): Registration {
    if (!/^[A-Za-z0-9_.-]{1,128}$/.test(name)) {
      this.#core.logger?.warn(`tool name ${JSON.stringify(name)} may not work everywhere; use A-Z a-z 0-9 _ - .`);
    }
    return { remove: this.#core.catalog.addTool(name, definition as unknown as ToolDefinition) };
  }

  /** Registers a resource with a fixed URI. */
  resource(uri: string, definition: ResourceDefinition): Registration {
    return { remove: this.#core.catalog.addResource(uri, definition) };
  }

  /** Registers a family of resources by a URI template (RFC 6570). */
  resourceTemplate<const T extends string>(template: T, definition: ResourceTemplateDefinition<T>): Registration {
    return { remove: this.#core.catalog.addTemplate(template, definition as unknown as ResourceTemplateDefinition) };
  }

  /** Registers a prompt. */
  prompt<A extends PromptArguments = PromptArguments>(name: string, definition: PromptDefinition<A>): Registration {
    return { remove: this.#core.catalog.addPrompt(name, definition as unknown as PromptDefinition) };
  }

  /**
   * Serves a method of your own, on every revision. The handler gets the raw params and returns the result object.
   * Methods of the protocol itself can not be replaced; wrap them with `around`.
   */
  method(name: string, handler: (params: { readonly [key: string]: unknown }, ctx: Context) => unknown): Registration {
    const { features: table, customMethods } = this.#core;
    if (table.has(name))
      throw new TypeError(`Method ${JSON.stringify(name)} exists already; wrap it with server.around()`);
    customMethods.add(name);
    const feature: Feature = {
      duration: 'handler',
      run: (call) => handler(call.params, call.ctx),
      encode: (result, { codec }) => codec.custom((result ?? {}) as { readonly [key: string]: unknown }),
    };
    table.set(name, feature);
    return {
      remove: () => {
        if (table.get(name) !== feature) return;
        customMethods.delete(name);
        table.delete(name);
      },
    };
  }

  /** Wraps every request from here on; the first one added is the outermost. */
  around(middleware: Middleware): this {
    this.#core.middleware.add(middleware);
    if (middleware.maySee !== undefined) this.#core.changeFilters.push(middleware.maySee);
    return this;
  }

  /**
   * Hides what the function says no to: from lists, calls, completion and notices of changes, for what is registered
   * now and later. Several restrictions must all agree.
   */
  restrict(visibility: Visibility): this {
    this.#core.catalog.restrict(visibility);
    return this;
  }

  /** Watches every message and call that begins from here on; returns how to stop. */
  observe(observer: Observer): () => void {
    return this.#core.observers.add(observer);
  }

  /** Installs a pack. Await it when the pack opens something. */
  use(pack: Pack<Server>): Promise<void> {
    this.#packs.push(pack);
    const installed = pack.install(this);
    return isThenable(installed) ? (installed as Promise<void>) : Promise.resolve();
  }

  /** Tells subscribers that a resource changed: those who may read it and, where `audience` is given, are meant. */
  resourceUpdated(uri: string, audience?: (principal: Principal | undefined) => boolean): void {
    this.#core.changes.publish({ kind: 'resource', uri }, audience);
  }
  /** Tells clients that the list of tools changed; registering and removing does so by itself. */
  toolsChanged(): void {
    this.#core.lists.forget('tools');
    this.#core.changes.publish({ kind: 'tools' });
  }
  promptsChanged(): void {
    this.#core.lists.forget('prompts');
    this.#core.changes.publish({ kind: 'prompts' });
  }
  resourcesChanged(): void {
    this.#core.lists.forget('resources');
    this.#core.lists.forget('resourceTemplates');
    this.#core.changes.publish({ kind: 'resources' });
  }

  /** The names registered, for packs that show or search them. */
  get catalog(): Pick<ServerState['catalog'], 'tools' | 'resources' | 'resourceTemplates' | 'prompts'> {
    return this.#core.catalog;
  }

  get limits(): Limits {
    return this.#core.limits;
  }
  get handshakeVersions(): readonly string[] {
    return this.#core.revisions.handshakeVersions;
  }
  get assumedVersion(): string | undefined {
    return this.#core.revisions.assumedVersion;
  }
  get sealing(): Sealing | undefined {
    if (!this.#sealsItself) return undefined;
    // Made when first needed, so that a start pays for no crypto.
    return (this.#sealing ??= { key: crypto.getRandomValues(new Uint8Array(32)), boundTo: this.name });
  }
  get sealer(): Sealer {
    return this.#core.sealer;
  }
  get store(): ExpiringStore {
    return this.#core.store;
  }

  /** Loads ahead what tool calls need; without it the first call does. */
  async prepare(): Promise<void> {
    this.#core.features.set(methods.callTool.name, await loadCallTool());
  }

  connect(peer: Peer, outlet?: Outlet, key?: string): EngineChannel {
    if (outlet !== undefined) for (const watch of this.#core.observers.connected) watch(peer);
    return new EngineChannel(this.#core, peer, outlet, key);
  }

  resume(peer: Peer, facts: SessionFacts, state?: SessionState, save?: SaveState): EngineChannel | undefined {
    const revision = this.#core.revisions.handshake(facts.revision);
    if (revision === undefined) return undefined;
    const channel = this.connect(peer);
    channel.open(new Session(revision, facts, state, save));
    return channel;
  }

  errorText(error: Error, header: ReadHeader): string {
    const wire = error instanceof WireError ? error : wireErrors.internal(error);
    return this.#core.revisions.codecForHeader(header).error(undefined, wire);
  }

  route(message: unknown, header: ReadHeader): MessageRoute {
    return this.#core.revisions.route(message, header);
  }

  async close(): Promise<void> {
    for (const pack of this.#packs.splice(0).reverse()) await pack.close?.();
  }
}
