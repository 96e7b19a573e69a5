// Calls that users make from the page: they run as a client of the server, their input requests wait for the page, and the
// page gets updates in the event stream.

import { type Client, ClientError, InputDeclined, type InputHandlers } from '../../client/index.ts';
import { parseJson } from '../../common/parse-json.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { ElicitResult, Root, SamplingResult } from '../../protocol/model.ts';
import type {
  CallComparison,
  CallRequest,
  CallStarted,
  CallUpdate,
  FeedEntry,
  InputAnswer,
  JsonObject,
  PendingInput,
} from '../api.ts';
import type { Feed } from '../feed/feed.ts';
import { memberText } from '../feed/json-member.ts';
import { ConsoleError } from '../http/console-error.ts';
import { Clients, type Connect } from './clients.ts';
import { ResourceSubscriptions } from './subscriptions.ts';

/** Stops pages from filling the memory; the oldest finished calls are forgotten first. */
const maxCalls = 100;
/** Calls at the same time. Stops a page from starting more than a server can run. */
const maxRunning = 16;
const maxLogs = 200;
/** Longer than the default of the client, because a user waits, not a program. */
const timeoutMs = 300_000;
/** For one revision of a comparison. */
const compareTimeoutMs = 30_000;

export interface CallsOptions {
  readonly feed: Feed;
  readonly connect: Connect;
  /** Whether an entry belongs to one of the console's own connections. */
  isOwn(entry: FeedEntry): boolean;
  /** A call failed, for example because the server is gone. */
  onFailure?(error: unknown): void;
  /** The validation errors of the structured content of a result. */
  outputIssues(tool: string, content: unknown): Promise<readonly string[]>;
}

interface PendingConsoleInput extends PendingInput {
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

class ConsoleCall {
  readonly id: string;
  readonly request: CallRequest;
  readonly abort = new AbortController();
  readonly inputs = new Map<string, PendingConsoleInput>();
  readonly startedAtMs = performance.now();
  readonly entries: number[] = [];
  update: CallUpdate;
  version = 0;
  isOver = false;
  /** The id of its first request, and the group of its messages. */
  requestId: unknown;
  group: string | undefined;
  responseText: string | undefined;

  constructor(id: string, request: CallRequest) {
    this.id = id;
    this.request = request;
    this.update = { call: id, status: 'running' };
  }
}

export class ConsoleCalls {
  readonly clients: Clients;
  readonly subscriptions: ResourceSubscriptions;
  readonly #options: CallsOptions;
  readonly #calls = new Map<string, ConsoleCall>();
  readonly #unlisten: () => void;
  #last = 0;
  #lastInput = 0;
  #version = 0;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.clients = new Clients(options.connect, {
      handlers: this.#handlers,
      onLog: (message) => this.#log(message),
      onMessage: (direction, text) => {
        if (direction === 'out') this.#sent(text);
      },
    });
    this.subscriptions = new ResourceSubscriptions(this.clients);
    this.#unlisten = options.feed.listen((entry) => this.#recorded(entry));
  }

  get version(): number {
    return this.#version;
  }

  since(version: number): readonly CallUpdate[] {
    const changed: CallUpdate[] = [];
    for (const call of this.#calls.values()) if (call.version > version) changed.push(call.update);
    return changed;
  }

  start(request: CallRequest): CallStarted {
    if (this.#running.length >= maxRunning) {
      throw new ConsoleError(429, 'busy', `${maxRunning} calls are running. Wait for one, or cancel one`);
    }
    checkRequest(request);
    const call = new ConsoleCall(`c${++this.#last}`, request);
    this.#calls.set(call.id, call);
    this.#forgetOld();
    this.#change(call, {});
    void this.#run(call);
    return { call: call.id };
  }

  answer(id: string, { key, result, declined }: InputAnswer): void {
    const call = this.#find(id);
    const input = call.inputs.get(key);
    if (input === undefined) throw new ConsoleError(404, 'input', 'This input request is not open any more');
    if (declined !== true && !isObject(result)) throw new ConsoleError(400, 'result', '"result" must be an object');
    call.inputs.delete(key);
    this.#changeInputs(call);
    if (declined === true) input.reject(new InputDeclined());
    else input.resolve(result as JsonObject);
  }

  cancel(id: string): void {
    this.#find(id).abort.abort(new Error('cancelled in the console'));
  }

  /** The same call on every revision, one after the other. */
  async compare(request: CallRequest, revisions: readonly string[]): Promise<CallComparison> {
    checkRequest(request);
    const results: CallComparison['results'][number][] = [];
    for (const revision of revisions) {
      const startedAt = performance.now();
      let response: string | undefined;
      const outcome = await this.clients
        .once(revision, {}, (client) =>
          send(client, request, {
            timeoutMs: compareTimeoutMs,
            onResponse: (text) => {
              response = text;
            },
          }),
        )
        .then(
          () => ({ resultText: memberText(response ?? '', 'result') ?? '' }),
          (error: unknown) => ({ error: (error as Error).message }),
        );
      results.push({ revision, ...outcome, durationMs: Math.round(performance.now() - startedAt) });
    }
    return { results };
  }

  async close(): Promise<void> {
    this.#unlisten();
    this.subscriptions.close();
    for (const call of this.#running) call.abort.abort(new Error('the console was closed'));
    await this.clients.close();
  }

  get #running(): ConsoleCall[] {
    return [...this.#calls.values()].filter(({ isOver }) => !isOver);
  }

  #find(id: string): ConsoleCall {
    const call = this.#calls.get(id);
    if (call === undefined) throw new ConsoleError(404, 'call', 'There is no such call');
    return call;
  }

  #forgetOld(): void {
    for (const call of this.#calls.values()) {
      if (this.#calls.size <= maxCalls) return;
      if (call.isOver) this.#calls.delete(call.id);
    }
  }

  #change(call: ConsoleCall, change: Partial<CallUpdate>): void {
    call.update = { ...call.update, ...change, entries: [...call.entries] };
    call.version = ++this.#version;
  }

  async #run(call: ConsoleCall): Promise<void> {
    const { request, abort } = call;
    try {
      const { client } = await this.clients.get(request.revision);
      const result = await send(client, request, {
        signal: abort.signal,
        timeoutMs,
        onProgress: (progress) => this.#change(call, { progress }),
        onResponse: (text) => {
          call.responseText = text;
        },
        onTask: ({ id }) => {
          if (id !== undefined) this.#change(call, { taskId: id });
        },
      });
      this.#end(call, await this.#finished(call, result));
    } catch (error) {
      if (!abort.signal.aborted) this.#options.onFailure?.(error);
      this.#end(call, failure(error, abort.signal));
    }
  }

  async #finished({ request, responseText, update }: ConsoleCall, result: unknown): Promise<Partial<CallUpdate>> {
    // The result of a task is a part of another response, so it is encoded again.
    const text = update.taskId === undefined ? memberText(responseText ?? '', 'result') : undefined;
    const { structuredContent, isError } = result as JsonObject;
    const name = request.params['name'];
    const checks = request.method === 'tools/call' && structuredContent !== undefined && isError !== true;
    const outputIssues = checks ? await this.#options.outputIssues(String(name), structuredContent) : [];
    return {
      status: 'done',
      resultText: text ?? JSON.stringify(result),
      ...(outputIssues.length === 0 ? {} : { outputIssues }),
    };
  }

  #end(call: ConsoleCall, change: Partial<CallUpdate>): void {
    // All its messages belong to it, also those that wait to be recorded.
    this.#options.feed.flush();
    call.isOver = true;
    for (const input of call.inputs.values()) input.reject(new InputDeclined('the call has ended'));
    call.inputs.clear();
    this.#change(call, { ...change, inputs: [], durationMs: Math.round(performance.now() - call.startedAtMs) });
  }

  // Input requests. A server does not say which call they belong to: with several, it is the newest.

  readonly #handlers: InputHandlers = {
    elicit: async ({ message, schema }, { signal }) =>
      (await this.#ask('elicitation/create', { message, requestedSchema: schema }, signal)) as unknown as ElicitResult,
    elicitUrl: async (request, { signal }) =>
      (await this.#ask('elicitation/create', { ...request, mode: 'url' }, signal)) as unknown as ElicitResult,
    sample: async (params, { signal }) =>
      (await this.#ask('sampling/createMessage', { ...params }, signal)) as unknown as SamplingResult,
    roots: async ({ signal }) => {
      // Servers ask for roots right after the start, when there is no call and no dialog to show.
      if (this.#running.length === 0) return [];
      const { roots } = await this.#ask('roots/list', {}, signal);
      return Array.isArray(roots) ? (roots as Root[]) : [];
    },
  };

  #ask(method: PendingInput['method'], params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const call = this.#running.at(-1);
    if (call === undefined) throw new InputDeclined('no call of the console is running');
    return new Promise((resolve, reject) => {
      const key = `i${++this.#lastInput}`;
      call.inputs.set(key, { key, method, params, resolve, reject });
      this.#changeInputs(call);
      signal.addEventListener(
        'abort',
        () => {
          if (!call.inputs.delete(key)) return;
          reject(new InputDeclined('the request was cancelled'));
          this.#changeInputs(call);
        },
        { once: true },
      );
    });
  }

  #changeInputs(call: ConsoleCall): void {
    if (call.isOver) return;
    const inputs = [...call.inputs.values()].map(({ key, method, params }) => ({ key, method, params }));
    this.#change(call, { status: inputs.length === 0 ? 'running' : 'input-required', inputs });
  }

  #log({ level, data }: { readonly level: string; readonly data: unknown }): void {
    const call = this.#running.at(-1);
    if (call === undefined) return;
    const logs = [...(call.update.logs ?? []), { level, data }].slice(-maxLogs);
    this.#change(call, { logs });
  }

  // Which entries of the feed belong to a call.

  #sent(text: string): void {
    const waiting = this.#running.filter(({ requestId }) => requestId === undefined);
    if (waiting.length === 0) return;
    const { method, id, params } = JSON.parse(text) as { method?: string; id?: unknown; params?: JsonObject };
    const call = waiting.find(
      ({ request }) =>
        request.method === method &&
        request.params['name'] === params?.['name'] &&
        request.params['uri'] === params?.['uri'],
    );
    if (call !== undefined) call.requestId = id;
  }

  #recorded(entry: FeedEntry): void {
    for (const call of this.#running) {
      const isFirst =
        call.group === undefined &&
        entry.kind === 'request' &&
        entry.id === call.requestId &&
        entry.method === call.request.method &&
        this.#options.isOwn(entry);
      if (isFirst) call.group = entry.group;
      if (!isFirst && (call.group === undefined || entry.group !== call.group)) continue;
      call.entries.push(entry.number);
    }
  }
}

const methods: readonly string[] = ['tools/call', 'resources/read', 'prompts/get'] satisfies CallRequest['method'][];

function checkRequest({ method, params, argumentsText }: CallRequest): void {
  if (!methods.includes(method) || !isObject(params)) {
    throw new ConsoleError(400, 'request', `"method" must be one of ${methods.join(', ')}, and "params" an object`);
  }
  const key = method === 'resources/read' ? 'uri' : 'name';
  if (typeof params[key] !== 'string') throw new ConsoleError(400, 'request', `"params.${key}" is missing`);
  if (argumentsText !== undefined) parseArguments(argumentsText);
}

function parseArguments(text: string): JsonObject {
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw new ConsoleError(400, 'arguments', 'The arguments must be a JSON object');
}

type SendOptions = NonNullable<Parameters<Client['callTool']>[2]>;

/** `onTask` is for calls of tools. */
function send(client: Client, request: CallRequest, { onTask, ...options }: SendOptions): Promise<unknown> {
  const { method, params, argumentsText } = request;
  const args = argumentsText === undefined ? params['arguments'] : parseArguments(argumentsText);
  if (method === 'resources/read') return client.readResource(String(params['uri']), { ...options, cache: 'bypass' });
  const name = String(params['name']);
  if (method === 'prompts/get') return client.getPrompt(name, args as Record<string, string> | undefined, options);
  return client.callTool(name, args as JsonObject | undefined, {
    ...options,
    onTask,
    idempotent: false,
    ...(argumentsText === undefined ? {} : { argumentsText }),
  });
}

function failure(error: unknown, signal: AbortSignal): Partial<CallUpdate> {
  if (signal.aborted) return { status: 'cancelled' };
  const { message } = error as Error;
  const { code, data, message: text } = (error instanceof ClientError ? error.serverError : undefined) ?? {};
  return {
    status: 'failed',
    error: {
      message: text ?? message,
      ...(code === undefined ? {} : { code }),
      ...(data === undefined ? {} : { data }),
    },
  };
}
