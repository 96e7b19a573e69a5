// The host's side of the dialogue with an MCP App (SEP-1865, 2026-01-26): JSON-RPC over messages between frames. Knows neither
// frames nor the console: app-frame.tsx connects it to both.

import type { JsonObject } from '../../api.ts';

/** The only version so far; apps of the draft before it speak the same messages. */
const protocolVersion = '2026-01-26';
/** How long an app may take to shut down. */
const teardownMs = 2_000;
/** Requests of an app that are not answered yet. Stops an app from starting more than a server can run. */
const maxOpen = 16;
/** Larger messages are rejected: stops an app from filling the timeline. */
const maxMessageChars = 4 * 1024 * 1024;

/** A message with its fields, none of them checked. */
interface AppJsonRpc {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Rejects a request of the app. */
export class AppRequestError extends Error {
  readonly code: number;
  constructor(message: string, code = -32000) {
    super(message);
    this.code = code;
  }
}

/** What an app can ask for. Each returns the result, or throws. */
export interface AppHandlers {
  call(method: 'tools/call' | 'resources/read', params: JsonObject): Promise<JsonObject>;
  openLink(url: string): Promise<JsonObject>;
  download(contents: readonly JsonObject[]): Promise<JsonObject>;
  message(params: JsonObject): JsonObject;
  modelContext(params: JsonObject): JsonObject;
  displayMode(mode: string): JsonObject;
  log(params: JsonObject): void;
  size(width: number | undefined, height: number | undefined): void;
  /** The app asks to be closed. */
  close(): void;
}

export interface AppHostOptions extends AppHandlers {
  /** To the frame. */
  readonly post: (message: unknown) => void;
  /** Each message in either direction, for the timeline. */
  readonly record: (direction: 'in' | 'out', message: unknown) => void;
  readonly hostInfo: { readonly name: string; readonly version: string };
  readonly capabilities: JsonObject;
  readonly context: () => JsonObject;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isId = (value: unknown): value is string | number => typeof value === 'string' || Number.isFinite(value);

export class AppHost {
  readonly #options: AppHostOptions;
  #isInitialized = false;
  /** Messages that wait until the app has sent `ui/notifications/initialized`. */
  #queue: JsonObject[] = [];
  #open = 0;
  #lastId = 0;
  readonly #waiting = new Map<number, () => void>();

  constructor(options: AppHostOptions) {
    this.#options = options;
  }

  get isInitialized(): boolean {
    return this.#isInitialized;
  }

  /** A message of the app. Whatever it is, it is checked here. */
  receive(data: unknown): void {
    if (!isObject(data) || data['jsonrpc'] !== '2.0') return;
    const message = data as AppJsonRpc;
    const text = JSON.stringify(data);
    if (text.length > maxMessageChars) {
      if (isId(message.id)) this.#respond(message.id, new AppRequestError('The message is too large'));
      return;
    }
    this.#options.record('in', data);
    const params = isObject(message.params) ? message.params : {};
    if (typeof message.method !== 'string') this.#response(message);
    else if (isId(message.id)) void this.#request(message.id, message.method, params);
    else this.#notification(message.method, params);
  }

  /** Complete arguments, once and before the result. */
  toolInput(args: JsonObject): void {
    this.#notify('ui/notifications/tool-input', { arguments: args });
  }

  toolResult(result: JsonObject): void {
    this.#notify('ui/notifications/tool-result', result);
  }

  toolCancelled(reason: string): void {
    this.#notify('ui/notifications/tool-cancelled', { reason });
  }

  contextChanged(change: JsonObject): void {
    // Before that it gets the whole context with the response to `ui/initialize`.
    if (this.#isInitialized) this.#notify('ui/notifications/host-context-changed', change);
  }

  /** Tells the app that it will be removed, and waits until it has answered, for a limited time. */
  async teardown(reason: string): Promise<void> {
    if (!this.#isInitialized) return;
    const id = ++this.#lastId;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, teardownMs);
      this.#waiting.set(id, () => {
        clearTimeout(timer);
        resolve();
      });
      this.#send({ jsonrpc: '2.0', id, method: 'ui/resource-teardown', params: { reason } });
    });
    this.#waiting.delete(id);
  }

  #response({ id }: AppJsonRpc): void {
    if (typeof id === 'number') this.#waiting.get(id)?.();
  }

  #notification(method: string, params: JsonObject): void {
    switch (method) {
      case 'ui/notifications/initialized':
        if (this.#isInitialized) return;
        this.#isInitialized = true;
        for (const message of this.#queue.splice(0)) this.#send(message);
        return;
      case 'ui/notifications/size-changed':
        this.#options.size(finite(params['width']), finite(params['height']));
        return;
      case 'ui/notifications/request-teardown':
        this.#options.close();
        return;
      case 'notifications/message':
        this.#options.log(params);
        return;
      default: // Unknown notifications are only shown in the timeline.
    }
  }

  async #request(id: string | number, method: string, params: JsonObject): Promise<void> {
    if (this.#open >= maxOpen) {
      this.#respond(id, new AppRequestError(`Wait for a response: ${maxOpen} requests are open`));
      return;
    }
    this.#open++;
    try {
      this.#respond(id, await this.#run(method, params));
    } catch (error) {
      this.#respond(id, error instanceof AppRequestError ? error : new AppRequestError((error as Error).message));
    } finally {
      this.#open--;
    }
  }

  #run(method: string, params: JsonObject): JsonObject | Promise<JsonObject> {
    const options = this.#options;
    switch (method) {
      case 'ui/initialize':
        return {
          protocolVersion,
          hostInfo: options.hostInfo,
          hostCapabilities: options.capabilities,
          hostContext: options.context(),
        };
      case 'ping':
        return {};
      case 'tools/call':
      case 'resources/read':
        return options.call(method, params);
      case 'ui/open-link':
        return options.openLink(webAddress(params['url']));
      case 'ui/download-file':
        return options.download(Array.isArray(params['contents']) ? params['contents'].filter(isObject) : []);
      case 'ui/message':
        return options.message(params);
      case 'ui/update-model-context':
        return options.modelContext(params);
      case 'ui/request-display-mode':
        return options.displayMode(String(params['mode']));
      default:
        throw new AppRequestError(`Method not found: ${method.slice(0, 200)}`, -32601);
    }
  }

  #respond(id: string | number, outcome: JsonObject | AppRequestError): void {
    const isError = outcome instanceof AppRequestError;
    const rest = isError ? { error: { code: outcome.code, message: outcome.message } } : { result: outcome };
    this.#send({ jsonrpc: '2.0', id, ...rest });
  }

  #notify(method: string, params: JsonObject): void {
    const message = { jsonrpc: '2.0', method, params };
    if (this.#isInitialized) this.#send(message);
    else this.#queue.push(message);
  }

  #send(message: JsonObject): void {
    this.#options.record('out', message);
    this.#options.post(message);
  }
}

function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Only pages: no scripts, no files, no other programs. */
function webAddress(url: unknown): string {
  if (typeof url === 'string' && URL.canParse(url)) {
    const { protocol, href } = new URL(url);
    if (protocol === 'https:' || protocol === 'http:') return href;
  }
  throw new AppRequestError('Only http and https addresses can be opened', -32602);
}
