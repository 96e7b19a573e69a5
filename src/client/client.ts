// The public interface of a connection: one method per feature of a server, for all revisions and transports. Each
// method is a line; the work is in features/.

import { type Logger, silentLogger } from '../common/logger.ts';
import { isObject } from '../protocol/json-rpc.ts';
import { methodRow, methods } from '../protocol/methods.ts';
import type {
  Capabilities,
  Completion,
  Implementation,
  JsonObject,
  LogLevel,
  Prompt,
  PromptResult,
  ReadResult,
  Resource,
  ResourceTemplate,
  Root,
  Tool,
  ToolResult,
} from '../protocol/model.ts';
import type { CacheView } from './cache.ts';
import { CallRunner } from './calls/call-runner.ts';
import type { ClientDeadlines } from './calls/deadline.ts';
import { OutgoingCall } from './calls/outgoing-call.ts';
import { resolveRetry } from './calls/retry.ts';
import type { ClientConnection, ClientConnectionEvents } from './connection.ts';
import type { ClientError } from './errors.ts';
import { type CompletionRequest, complete } from './features/completion.ts';
import { type FeatureContext, offers } from './features/feature-context.ts';
import { announceRoots, ping } from './features/lifecycle.ts';
import type { Page } from './features/lists.ts';
import { contextOf, Logging, toLogMessage } from './features/logging.ts';
import { requireArguments } from './features/method-arguments.ts';
import { Prompts } from './features/prompts.ts';
import { Resources } from './features/resources.ts';
import { type ClientSkills, Skills } from './features/skills.ts';
import { changeMethods, type Subscription, Subscriptions, type WatchFilter } from './features/subscriptions.ts';
import { type ClientTasks, Tasks } from './features/tasks.ts';
import { Tools } from './features/tools.ts';
import { guarded } from './guarded-listener.ts';
import type { InputResponder } from './input-requests.ts';
import { assertCallOptions, optionsOfClose } from './known-call-options.ts';
import type { CallOptions, ClientLimits, ConnectOptions, ReadOptions, ToolCallOptions } from './options.ts';
import { reportUnexpectedOutput } from './unexpected-output.ts';

/** What connect() puts together. */
export interface ClientParts {
  readonly address: string;
  readonly options: ConnectOptions;
  readonly limits: ClientLimits;
  readonly logger: Logger;
  readonly inputs: InputResponder;
  readonly cache: CacheView | undefined;
  readonly reopen: ((signal: AbortSignal) => Promise<ClientConnection>) | undefined;
  readonly deadlines: ClientDeadlines;
}

/** Lists whose cached copies a change makes invalid. */
const staleBy = {
  tools: [methods.listTools],
  prompts: [methods.listPrompts],
  // Skills have no notification of their own: their files are resources.
  resources: [methods.listResources, methods.listResourceTemplates, methods.listSkills, methods.getSkill],
} as const;

/** Notifications about a task: 2025-11-25, and the extension of 2026-07-28. */
const taskNotifications = ['notifications/tasks/status', 'notifications/tasks'];

/** A connection to a server. Made by `connect`. */
export class Client {
  readonly #parts: ClientParts;
  readonly #context: FeatureContext & { latest: ClientConnection };
  readonly #tools: Tools;
  readonly #tasks: Tasks;
  readonly #resources: Resources;
  readonly #prompts: Prompts;
  readonly #skills: Skills;
  readonly #logging: Logging;
  readonly #subscriptions: Subscriptions;

  constructor(connection: ClientConnection, parts: ClientParts) {
    const { options, inputs, reopen, address, limits, logger, cache, deadlines } = parts;
    this.#parts = parts;
    const caller = new CallRunner(connection, {
      address,
      reopen: options.reconnect === false ? undefined : reopen,
      inputs,
      retry: resolveRetry(options.retry),
      maxInputRetries: limits.maxInputRetries,
      limits,
      deadlines,
      onLost: (lost, error) => this.#lost(lost, error),
      onRestored: (restored) => this.#restored(restored),
    });
    this.#context = { caller, cache, limits, logger, latest: connection };
    const { validateOutput = true, validateArguments = false } = options;
    const onTask = (call: OutgoingCall, created: JsonObject): Promise<unknown> => this.#tasks.finish(call, created);
    this.#tools = new Tools(this.#context, { validateOutput, validateArguments }, onTask);
    this.#tasks = new Tasks(this.#context, inputs, this.#tools);
    this.#resources = new Resources(this.#context);
    this.#prompts = new Prompts(this.#context);
    this.#skills = new Skills(this.#context, this.#resources);
    this.#logging = new Logging(this.#context, options.onLog !== undefined);
    this.#logging.opened(connection);
    this.#subscriptions = new Subscriptions(this.#context);
  }

  // What is known about the other side.

  /** The negotiated revision. */
  get revision(): string {
    return this.#context.latest.codec?.date ?? '';
  }

  /** How the server is reached: `stdio`, `http`, `sse`, `websocket`, `memory`. */
  get transport(): string {
    return this.#context.latest.transport.kind;
  }

  /** Name and version that the server reports. Unverified. */
  get serverInfo(): Implementation | undefined {
    return this.#context.latest.facts?.serverInfo;
  }

  /** What the server declares that it can do; empty before it is connected. */
  get capabilities(): Capabilities {
    return this.#context.latest.facts?.capabilities ?? {};
  }

  /** Whether the server declares that it announces changes of a list. */
  announces(kind: 'tools' | 'prompts' | 'resources'): boolean {
    const declared = this.capabilities[kind];
    return isObject(declared) && declared['listChanged'] === true;
  }

  /** Whether the server offers a method of the protocol, as far as it says so. */
  offers(method: string): boolean {
    const row = methodRow(method);
    return row !== undefined && offers(this.#context, row);
  }

  /** Whether changes are only sent to subscriptions. */
  get mustListen(): boolean {
    return this.#context.latest.codec?.requests.has(methods.listen.name) === true;
  }

  /** The server's instructions. */
  get instructions(): string | undefined {
    return this.#context.latest.facts?.instructions;
  }

  /** The last 64 KiB the server's process wrote to stderr; empty where there is no process. */
  get stderr(): string {
    return this.#context.latest.transport.stderr ?? '';
  }

  /** The id of the server's process, where this client started one. */
  get pid(): number | undefined {
    return this.#context.latest.transport.pid;
  }

  /** How many messages the current connection has received: whether anything arrives at all. */
  get received(): number {
    return this.#context.latest.received;
  }

  /** All tools. Those that cannot be called (`x-mcp-header` misused, no schema) are left out with a warning. */
  listTools(options?: ReadOptions): Promise<Tool[]> {
    return this.#tools.list(options);
  }

  /** One page of tools; the first without a cursor. */
  pageTools(cursor?: string, options?: ReadOptions): Promise<Page<Tool>> {
    return this.#tools.page(cursor, options);
  }

  /**
   * Calls a tool. A tool that fails is a result with `isError`; a call that fails rejects with a `ClientError`. If the
   * server runs the call as a task, this waits for the task; aborting the call cancels it.
   */
  callTool(name: string, args?: JsonObject, options?: ToolCallOptions): Promise<ToolResult> {
    return this.#tools.call(name, args, options);
  }

  /** Calls that are started without waiting for their result, and can be continued later. */
  get tasks(): ClientTasks {
    return this.#tasks;
  }

  /** All resources. */
  listResources(options?: ReadOptions): Promise<Resource[]> {
    return this.#resources.lists.all(options);
  }

  /** One page of resources; the first without a cursor. */
  pageResources(cursor?: string, options?: ReadOptions): Promise<Page<Resource>> {
    return this.#resources.lists.page(cursor, options);
  }

  /** All resource templates. */
  listResourceTemplates(options?: ReadOptions): Promise<ResourceTemplate[]> {
    return this.#resources.templates.all(options);
  }

  /** One page of resource templates; the first without a cursor. */
  pageResourceTemplates(cursor?: string, options?: ReadOptions): Promise<Page<ResourceTemplate>> {
    return this.#resources.templates.page(cursor, options);
  }

  /** Reads a resource. */
  readResource(uri: string, options?: ReadOptions): Promise<ReadResult> {
    return this.#resources.read(uri, options);
  }

  /**
   * Waits for changes of a resource. Resolves when the server has agreed.
   *
   * @example
   * for await (const { uri, missed } of await client.subscribe('file:///notes.txt')) await client.readResource(uri);
   */
  subscribe(uri: string, options?: CallOptions): Promise<Subscription> {
    return this.#subscriptions.subscribe(uri, options);
  }

  /** Ends what `subscribe` began for this resource. */
  unsubscribe(uri: string): Promise<void> {
    return this.#subscriptions.unwatch(uri);
  }

  /** Waits for changes of lists and of any number of resources at once. */
  watch(filter: WatchFilter, options?: CallOptions): Promise<Subscription> {
    return this.#subscriptions.watch(filter, options);
  }

  /** All prompts. */
  listPrompts(options?: ReadOptions): Promise<Prompt[]> {
    return this.#prompts.lists.all(options);
  }

  /** One page of prompts; the first without a cursor. */
  pagePrompts(cursor?: string, options?: ReadOptions): Promise<Page<Prompt>> {
    return this.#prompts.lists.page(cursor, options);
  }

  /** The messages of a prompt. */
  getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<PromptResult> {
    return this.#prompts.get(name, args, options);
  }

  /** Agent Skills: folders of instructions that the server offers. Each file is verified when it is read. */
  get skills(): ClientSkills {
    return this.#skills;
  }

  /** Suggestions for an argument of a prompt or a variable of a resource template. */
  complete(request: CompletionRequest, options?: CallOptions): Promise<Completion> {
    return complete(this.#context, request, options);
  }

  // The connection itself.

  /** Checks that the server responds. */
  ping(options?: CallOptions): Promise<void> {
    return ping(this.#context, options);
  }

  /** How important a log message must be to be sent to us. */
  setLogLevel(level: LogLevel, options?: CallOptions): Promise<void> {
    return this.#logging.setLevel(level, options);
  }

  /** Replaces the folders given as `handlers.roots`, and notifies the server where the revision has that. */
  setRoots(roots: readonly Root[]): void {
    this.#parts.inputs.setRoots(roots);
    announceRoots(this.#context);
  }

  /** Notifies the server, where the revision has that, that `handlers.roots` would return something else now. */
  rootsChanged(): void {
    announceRoots(this.#context);
  }

  /** Sends a request of an extension. */
  async request(method: string, params?: JsonObject, options?: CallOptions): Promise<JsonObject> {
    requireArguments('request', method, params);
    assertCallOptions('request', options);
    const fields = params === undefined ? '' : JSON.stringify(params).slice(1, -1);
    return this.#context.caller.start<JsonObject>(
      new OutgoingCall({ name: method }, fields, (result) => result, options),
    );
  }

  /** Sends a notification of an extension. */
  notify(method: string, params?: JsonObject): void {
    requireArguments('notify', method, params);
    this.#context.latest.notifyOther(method, params);
  }

  /**
   * Ends the connection; a server we started is ended too. Resolves when nothing is left running. `graceMs`: how long
   * the server may take to end by itself, and again after SIGTERM. Default: `closeGraceMs`.
   */
  async close(options: { readonly graceMs?: number | undefined } = {}): Promise<void> {
    const { graceMs } = optionsOfClose(options);
    const { caller, cache } = this.#context;
    if (caller.closed) return caller.close(graceMs);
    const closing = caller.close(graceMs);
    this.#subscriptions.close();
    this.#tasks.close();
    cache?.close();
    await closing;
    this.#notifyState('closed');
  }

  // Notifications of the server.

  /** Where connections report to; `client` is known once the first of them is open. */
  static eventsFor(
    options: ConnectOptions,
    held: () => () => void,
    client: () => Client | undefined,
  ): ClientConnectionEvents {
    const { onMessage, logger = silentLogger } = options;
    return {
      held,
      unexpected: reportUnexpectedOutput(options, logger),
      seen: onMessage === undefined ? undefined : guarded(onMessage, 'onMessage', logger),
      telemetry: options.telemetry,
      notified(method, params, standing, during) {
        const known = client();
        if (known !== undefined) known.#notified(method, params, standing, during);
      },
      lost(connection, error) {
        const known = client();
        if (known !== undefined) known.#lost(connection, error);
      },
    };
  }

  #notified(
    method: string,
    params: JsonObject,
    standing: OutgoingCall | undefined,
    during: OutgoingCall | undefined,
  ): void {
    const { options, logger } = this.#parts;
    try {
      const kind = changeMethods[method];
      if (kind !== undefined) this.#changed(kind, params, standing);
      else if (method === 'notifications/subscriptions/acknowledged') {
        if (standing?.onAcknowledged === undefined) this.#subscriptions.acknowledged(params, standing);
        else standing.onAcknowledged(params);
      } else if (taskNotifications.includes(method) && this.#tasks.notified(params)) return;
      else if (method === 'notifications/message') {
        const message = toLogMessage(params);
        if (message !== undefined) options.onLog?.(message, contextOf(params, during));
      } else if (method !== 'notifications/cancelled') {
        options.onNotification?.(method, params, contextOf(params, during));
      }
    } catch (error) {
      logger.error('a handler of notifications failed', { method, error });
    }
  }

  #changed(kind: keyof typeof staleBy | 'resource', params: JsonObject, standing: OutgoingCall | undefined): void {
    const { cache } = this.#context;
    if (kind === 'resource') {
      const { uri } = params;
      if (typeof uri !== 'string') return;
      cache?.drop(methods.readResource.name, uri);
      this.#subscriptions.changed({ kind, uri }, standing);
      return;
    }
    for (const { name } of staleBy[kind]) cache?.drop(name);
    if (kind === 'tools') this.#tools.changed();
    this.#subscriptions.changed({ kind }, standing);
    this.#parts.options.onListChanged?.(kind);
  }

  #lost(connection: ClientConnection, error: ClientError): void {
    const { caller } = this.#context;
    if (caller.closed || connection !== caller.connection) return;
    this.#parts.logger.warn('the connection was lost', { server: this.#parts.address, error: error.message });
    this.#notifyState('lost', error);
  }

  #restored(connection: ClientConnection): void {
    this.#context.latest = connection;
    this.#logging.restored(connection);
    this.#notifyState('restored');
  }

  #notifyState(state: 'lost' | 'restored' | 'closed', error?: Error): void {
    const { options, logger } = this.#parts;
    if (options.onState !== undefined) guarded(options.onState, 'onState', logger)(state, error);
  }
}
