// The console of a server elsewhere: our client connects to it, and the page sees what the client sends and receives.

import {
  type Client,
  ClientError,
  type ClientErrorCode,
  type ConnectOptions,
  connect,
  type Target,
} from '../../client/index.ts';
import { appHostCapabilities } from '../../protocol/apps.ts';
import { handshakeRevisions, statelessRevisions } from '../../protocol/revisions/index.ts';
import { formatIssues } from '../../schema/index.ts';
import type {
  About,
  AuthStep,
  ConnectionState,
  ConsoleState,
  JsonObject,
  Lists,
  Validated,
  ValidateRequest,
} from '../api.ts';
import { ConsoleCalls } from '../client/calls.ts';
import { descriptionIn, listsOf } from '../client/listing.ts';
import { validateArguments, validatorOf } from '../client/validate.ts';
import type { ConsoleSource } from '../contract.ts';
import { Capture, secretProperties } from '../feed/capture.ts';
import { Feed } from '../feed/feed.ts';
import { ConsoleError } from '../http/console-error.ts';
import { Recorder } from './recorder.ts';

/** Pauses between attempts to connect again; the last one repeats. */
const retryMs = [1_000, 2_000, 5_000, 10_000, 30_000] as const;

const goneCodes = new Set<ClientErrorCode>(['connect-failed', 'connect-timeout', 'connection-lost', 'server-exited']);

export interface InspectOptions {
  readonly target: Target;
  /** How the target is named on the page. */
  readonly label: string;
  readonly connect: ConnectOptions;
  readonly raw: boolean;
  readonly version: string;
  /** Steps of signing in, where the server requires it. */
  readonly auth?: () => readonly AuthStep[];
  /** It could not connect. Called once for each reason, not for each attempt. `retries`: it tries again. */
  readonly onFailed?: (error: unknown, retries: boolean) => void;
}

export class InspectSource implements ConsoleSource {
  readonly mode = 'inspect';
  readonly feed: Feed;
  readonly calls: ConsoleCalls;
  readonly revisions: readonly string[] = [...handshakeRevisions, ...statelessRevisions];
  readonly snippets: ConsoleState['snippets'] = [];
  readonly auth: (() => readonly AuthStep[]) | undefined;
  server: ConsoleState['server'];
  connection: ConnectionState;
  readonly #options: InspectOptions;
  /** Tools by name, once they were listed. */
  readonly #tools = new Map<string, JsonObject>();
  readonly #descriptions = new Map<string, string>();
  readonly #ticker: NodeJS.Timeout;
  #retryTimer: NodeJS.Timeout | undefined;
  #attempts = 0;
  /** Why it could not connect, as it was reported last. */
  #reported: string | undefined;
  #closed = false;

  constructor(options: InspectOptions) {
    this.#options = options;
    this.auth = options.auth;
    this.server = { name: options.label, version: '' };
    this.connection = { status: 'connecting', target: options.label };
    this.feed = new Feed(
      new Capture({
        raw: options.raw,
        secretArguments: (tool) => secretProperties(this.#tools.get(tool)?.['inputSchema']),
      }),
    );
    this.calls = new ConsoleCalls({
      feed: this.feed,
      connect: (settings) => this.#openClient(settings),
      isOwn: () => true,
      onFailure: (error) => this.#failed(error),
      outputIssues: (tool, content) => this.#outputIssues(tool, content),
    });
    this.#ticker = setInterval(() => this.feed.rates.tick(this.feed.peers.size, 0), 1_000);
    this.#ticker.unref();
    void this.#connect();
  }

  async lists(revision: string | undefined): Promise<Lists> {
    const lists = await listsOf(await this.calls.clients.get(revision));
    for (const tool of lists.tools) this.#tools.set(String(tool['name']), tool);
    return lists;
  }

  async validate({ tool = '', schema, argumentsText }: ValidateRequest): Promise<Validated> {
    if (schema !== undefined) return validateArguments(validatorOf(schema), argumentsText);
    const inputSchema = (await this.#tool(tool))?.['inputSchema'];
    if (inputSchema === undefined) throw new ConsoleError(404, 'tool', `There is no tool ${JSON.stringify(tool)}`);
    return validateArguments(validatorOf(inputSchema as JsonObject), argumentsText);
  }

  async about(): Promise<About> {
    const settings = [{ name: 'target', value: this.#options.label, from: 'command line' }];
    return { settings, descriptions: [...this.#descriptions].map(([revision, text]) => ({ revision, text })) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    clearInterval(this.#ticker);
    await this.calls.close();
  }

  async #tool(name: string): Promise<JsonObject | undefined> {
    if (!this.#tools.has(name)) await this.lists(undefined);
    return this.#tools.get(name);
  }

  async #outputIssues(name: string, content: unknown): Promise<readonly string[]> {
    const schema = (await this.#tool(name))?.['outputSchema'];
    if (schema === undefined) return [];
    const validation = await validatorOf(schema as JsonObject).validate(content);
    return validation.ok ? [] : [formatIssues(validation.issues)];
  }

  async #openClient(settings: ConnectOptions): Promise<Client> {
    const { target, connect: options, version } = this.#options;
    const client = { name: 'mooring-inspect', version };
    const recorder = new Recorder(
      this.feed,
      this.feed.peers.add({ transport: 'unknown', client: `${client.name} ${version}` }),
    );
    const revision = settings.revision === 'auto' ? (options.revision ?? 'auto') : settings.revision;
    let description: string | undefined;
    const connected = await connect(target as string, {
      client,
      capabilities: appHostCapabilities,
      ...options,
      ...settings,
      handlers: { ...settings.handlers, ...(options.handlers?.roots && { roots: options.handlers.roots }) },
      ...(revision === undefined ? {} : { revision }),
      onMessage: (direction, text) => {
        // First, so that the call knows the id of its request when the entry appears.
        settings.onMessage?.(direction, text);
        // Seen from the server: what we send, it receives.
        recorder.record(direction === 'out' ? 'in' : 'out', text);
        if (direction === 'in') description ??= descriptionIn(text);
      },
      onState: (state, error) => this.#changed(state, error),
    });
    this.feed.peers.update(recorder.peer, { transport: connected.transport, revision: connected.revision });
    if (description !== undefined) this.#descriptions.set(connected.revision, description);
    return connected;
  }

  async #connect(): Promise<void> {
    const { label, target, onFailed } = this.#options;
    this.connection = { status: 'connecting', target: label };
    try {
      const { client } = await this.calls.clients.get();
      if (this.#closed) return;
      const { name = label, version = '', title } = client.serverInfo ?? {};
      this.server = { name, version, ...(title === undefined ? {} : { title }) };
      this.connection = { status: 'connected', target: label, revision: client.revision };
      this.#attempts = 0;
    } catch (error) {
      if (this.#closed) return;
      const reason = reasonOf(error);
      this.connection = { status: 'failed', target: label, reason };
      // A command that cannot be started is not tried again.
      const retries = typeof target === 'string' && /^(https?|wss?):/i.test(target);
      if (reason !== this.#reported) onFailed?.(error, retries);
      this.#reported = reason;
      if (retries) this.#retry(() => this.#connect());
    }
  }

  /** Over HTTP there is no connection, so only a failed call shows that the server is down. */
  #failed(error: unknown): void {
    const isGone = error instanceof ClientError && goneCodes.has(error.code);
    if (isGone && this.connection.status === 'connected') this.#changed('lost', error);
  }

  #changed(state: 'lost' | 'restored' | 'closed', error: Error | undefined): void {
    if (this.#closed || state === 'closed') return;
    const { label } = this.#options;
    if (state === 'restored') {
      this.#attempts = 0;
      const { revision } = this.connection;
      this.connection = { status: 'connected', target: label, ...(revision === undefined ? {} : { revision }) };
      return;
    }
    const { revision } = this.connection;
    const reason = error === undefined ? 'The connection was lost' : reasonOf(error);
    this.connection = { status: 'lost', target: label, reason, ...(revision === undefined ? {} : { revision }) };
    this.#retry(() => this.#restore());
  }

  /** Any request opens the connection again. */
  async #restore(): Promise<void> {
    if (this.connection.status !== 'lost') return;
    try {
      const { client } = await this.calls.clients.get();
      await client.ping({ timeoutMs: 10_000 });
    } catch (error) {
      // A server that rejects the request is reachable.
      if (!(error instanceof ClientError) || error.serverError?.code === undefined) {
        this.#retry(() => this.#restore());
        return;
      }
    }
    if (this.connection.status === 'lost') this.#changed('restored', undefined);
  }

  #retry(again: () => Promise<void>): void {
    if (this.#closed) return;
    clearTimeout(this.#retryTimer);
    const ms = retryMs[Math.min(this.#attempts++, retryMs.length - 1)];
    this.#retryTimer = setTimeout(() => void again(), ms);
    this.#retryTimer.unref();
  }
}

function reasonOf(error: unknown): string {
  const { message } = error as Error;
  const stderr = error instanceof ClientError && error.stderr !== undefined ? `\n${error.stderr.slice(-2_000)}` : '';
  return `${message}${message.includes(stderr.trim()) ? '' : stderr}`;
}
