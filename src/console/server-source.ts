// The console of a server in this process: an observer records its traffic, and an in-memory client calls it with the principal
// `console`.

import { connect, inMemory } from '../client/index.ts';
import type { ToolEntry } from '../engine/catalog/catalog-entry.ts';
import type { Server } from '../engine/server.ts';
import { appHostCapabilities } from '../protocol/apps.ts';
import { formatIssues, type Validator } from '../schema/index.ts';
import type { About, AuditPage, ConsoleState, Lists, TaskRow, Validated, ValidateRequest } from './api.ts';
import { ConsoleCalls } from './client/calls.ts';
import { describeRevisions, listsOf } from './client/listing.ts';
import { taskRow } from './client/task-rows.ts';
import { validateArguments, validatorOf } from './client/validate.ts';
import type { ConsoleGateway, ConsoleSource } from './contract.ts';
import { Capture, secretProperties } from './feed/capture.ts';
import { Feed } from './feed/feed.ts';
import { GatewayHops } from './feed/gateway-hops.ts';
import { ServerObserver } from './feed/observe-server.ts';
import { ConsoleError } from './http/console-error.ts';

/** The newest tasks that are shown. */
const maxTasks = 500;
/** The caller of everything that is tried in the console. Policies and audit lines name it. */
const consolePrincipal = { id: 'console' } as const;

export interface ServerSourceOptions {
  /** Values are not redacted. Only on loopback addresses. */
  readonly raw?: boolean;
  /** Messages are recorded even while no page is open. */
  readonly keep?: boolean;
  readonly version: string;
  readonly snippets?: () => ConsoleState['snippets'];
  readonly settings?: () => About['settings'];
  readonly audit?: ((query: URLSearchParams) => Promise<AuditPage>) | undefined;
  /** The server is that of a gateway. */
  readonly gateway?: ConsoleGateway | undefined;
}

export class ServerSource implements ConsoleSource {
  readonly mode = 'embedded';
  readonly feed: Feed;
  readonly calls: ConsoleCalls;
  readonly audit: ((query: URLSearchParams) => Promise<AuditPage>) | undefined;
  readonly #server: Server;
  readonly #observer: ServerObserver;
  readonly #hops: GatewayHops | undefined;
  readonly #options: ServerSourceOptions;
  readonly #secrets = new WeakMap<object, ReadonlySet<string>>();

  constructor(server: Server, options: ServerSourceOptions) {
    this.#server = server;
    this.#options = options;
    this.audit = options.audit;
    const capture = new Capture({
      raw: options.raw === true,
      secretArguments: (tool) => this.#secretArguments(tool),
    });
    this.feed = new Feed(capture);
    const { gateway } = options;
    let observer: ServerObserver | undefined;
    this.#hops = gateway && new GatewayHops(gateway, server, this.feed, (request) => observer?.groupOf(request));
    observer = new ServerObserver(server, this.feed, options.keep === true, (isOn) => this.#hops?.record(isOn));
    this.#observer = observer;
    gateway?.eachServer((other) => {
      if (other === server) return;
      this.#hops?.add(other);
      this.#observer.add(other);
    });
    const client = { name: 'mooring-console', version: options.version };
    // Its dialogs belong to a call; a gateway would ask it instead of the client, or neither of them.
    const peer = { transport: 'memory', principal: consolePrincipal, inputInCallsOnly: true } as const;
    this.calls = new ConsoleCalls({
      feed: this.feed,
      connect: (settings) =>
        connect(inMemory(server, peer), { client, eraCache: false, capabilities: appHostCapabilities, ...settings }),
      isOwn: (entry) => this.feed.peers.get(entry.peer)?.info.principal === consolePrincipal.id,
      outputIssues: (tool, content) => issuesOf(this.#tools.get(tool)?.output?.validator, content),
    });
  }

  get server(): ConsoleState['server'] {
    const { name, version } = this.#server;
    return { name, version };
  }

  get revisions(): readonly string[] {
    return this.#server.revisions;
  }

  get snippets(): ConsoleState['snippets'] {
    return this.#options.snippets?.() ?? [];
  }

  async lists(revision: string | undefined): Promise<Lists> {
    return listsOf(await this.calls.clients.get(revision));
  }

  async validate({ tool, schema, argumentsText }: ValidateRequest): Promise<Validated> {
    if (schema !== undefined) return validateArguments(validatorOf(schema), argumentsText);
    const entry = this.#tools.get(tool ?? '');
    if (entry === undefined) throw new ConsoleError(404, 'tool', `There is no tool ${JSON.stringify(tool)}`);
    return validateArguments(entry.input.validator, argumentsText);
  }

  /** Undefined while no tool can run as a task. */
  get tasks(): ConsoleSource['tasks'] {
    for (const { task } of this.#tools.values()) if (task !== undefined) return () => this.#listTasks();
    return undefined;
  }

  readonly operations: ConsoleSource['operations'] = {
    'cancel-task': async ({ id }) => {
      if (await this.#server.tasks.cancel(id, 'cancelled in the console')) return;
      throw new ConsoleError(404, 'task', 'The task has ended, or does not exist');
    },
    'end-session': async ({ id }) => {
      if (await this.#observer.end(Number(id))) return;
      throw new ConsoleError(404, 'session', 'The session has ended, or can only be ended by its client');
    },
    'restart-upstream': (request) => this.#hops?.restart(request),
    'accept-tool': (request) => this.#hops?.accept(request),
  };

  get upstreams(): ConsoleSource['upstreams'] {
    const hops = this.#hops;
    return hops && (() => hops.rows());
  }

  sessions() {
    return this.#observer.sessions();
  }

  async about(): Promise<About> {
    const settings = this.#options.settings?.() ?? [];
    return { settings, descriptions: await describeRevisions(this.calls.clients, this.revisions) };
  }

  watch(): () => void {
    return this.#observer.watch();
  }

  async close(): Promise<void> {
    this.#observer.close();
    await this.calls.close();
  }

  async #listTasks(): Promise<TaskRow[]> {
    const { tasks } = await this.#server.tasks.list({ limit: maxTasks });
    return tasks.map((record) => taskRow(record, this.feed.capture));
  }

  /** As the console sees them. */
  get #tools(): ReadonlyMap<string, ToolEntry> {
    return this.#server.catalogOf({ principal: consolePrincipal, session: undefined }).tools;
  }

  /** For callers that see different tools under one name, what is secret in any of them. */
  #secretArguments(tool: string): ReadonlySet<string> | undefined {
    const [entry, ...others] = this.#server.entriesNamed('tools', tool);
    if (entry === undefined) return undefined;
    if (others.length > 0) return new Set([entry, ...others].flatMap((each) => [...this.#secretsOf(each)]));
    return this.#secretsOf(entry);
  }

  #secretsOf(entry: ToolEntry): ReadonlySet<string> {
    let names = this.#secrets.get(entry);
    if (names === undefined) {
      names = secretProperties(entry.input.json);
      this.#secrets.set(entry, names);
    }
    return names;
  }
}

async function issuesOf(validator: Validator | undefined, content: unknown): Promise<readonly string[]> {
  const validation = await validator?.validate(content);
  return validation === undefined || validation.ok ? [] : [formatIssues(validation.issues)];
}
