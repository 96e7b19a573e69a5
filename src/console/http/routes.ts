// The routes of the console: the page's files, and the JSON below `api/` (api.ts). Every API route checks access first.

import type { JsonObject } from '../../protocol/model.ts';
import type {
  AppCallRequest,
  AppMessage,
  AppOpenRequest,
  CallRequest,
  CompleteRequest,
  ConsoleState,
  InputAnswer,
  OperateRequest,
  ScreenName,
  SubscribeRequest,
} from '../api.ts';
import { Apps } from '../client/apps.ts';
import type { ConsoleExchange, ConsoleSource, ConsoleUser, Right } from '../contract.ts';
import { maxReaders, Readers } from '../feed/readers.ts';
import { maxRecordingBytes, parseRecording, recordingLines, restoreRecording } from '../feed/recording.ts';
import type { Access } from './access.ts';
import { ConsoleError } from './console-error.ts';
import { apiHeaders, readJson, readText, respondError, respondJson } from './exchange-json.ts';
import type { AppSandbox } from './sandbox.ts';
import { type StaticFiles, securityHeaders } from './static-files.ts';

/** The same for the one request that needs no token. */
const maxCodeBytes = 1_024;

/** Something that was done in the console, for the audit log. */
export interface ConsoleEvent {
  /** `console`, or the id of an authenticated principal. */
  readonly user: string;
  /** `view`, or the route. */
  readonly action: string;
  /** The target and other parts of the request. */
  readonly details?: JsonObject;
}

export interface RoutesOptions {
  readonly source: ConsoleSource;
  readonly access: Access;
  readonly files: StaticFiles;
  /** Where the console is, without a slash at the end. */
  readonly path: string;
  readonly version: string;
  readonly raw: boolean;
  readonly sandbox: AppSandbox;
  readonly siblings?: (() => ConsoleState['siblings']) | undefined;
  /** Records what users do. */
  readonly record?: ((event: ConsoleEvent) => void) | undefined;
}

interface ApiRequest {
  readonly exchange: ConsoleExchange;
  readonly user: ConsoleUser;
  /** The parts of the path that the pattern captured. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  body(): Promise<unknown>;
}

interface ApiRoute {
  readonly method: 'GET' | 'POST';
  readonly pattern: RegExp;
  readonly right: Right;
  /** The value to respond with; undefined: the route has sent its own response. */
  run(request: ApiRequest): unknown;
}

export class Routes {
  readonly #options: RoutesOptions;
  readonly #readers: Readers;
  readonly #appsOrNone: Apps | undefined;
  readonly #startedAt = new Date().toISOString();

  constructor(options: RoutesOptions) {
    this.#options = options;
    const { source, sandbox } = options;
    if (source.calls !== undefined) this.#appsOrNone = new Apps(source.calls, source.feed, sandbox);
    this.#readers = new Readers(source.feed, {
      get callVersion() {
        return source.calls?.version ?? 0;
      },
      callsSince: (version) => source.calls?.since(version) ?? [],
      get subscriptionVersion() {
        return source.calls?.subscriptions.version ?? 0;
      },
      subscriptions: () => source.calls?.subscriptions.rows() ?? [],
      get connection() {
        return source.connection;
      },
    });
  }

  handle(exchange: ConsoleExchange): void {
    const { path, sandbox } = this.#options;
    if (sandbox.takes(exchange)) return;
    if (exchange.path === path) {
      exchange.respond(308, [...securityHeaders(), 'Location', `${path.slice(path.lastIndexOf('/') + 1)}/`]);
      return;
    }
    const name = exchange.path.slice(path.length + 1);
    if (name.startsWith('api/')) void this.#api(exchange, name.slice('api/'.length));
    else if (exchange.method === 'GET' || exchange.method === 'HEAD') void this.#file(exchange, name);
    else respondError(exchange, new ConsoleError(405, 'method', 'Use GET'));
  }

  close(): void {
    this.#readers.close();
  }

  /** The page itself may show frames of the sandbox, where there is something to show. */
  async #file(exchange: ConsoleExchange, name: string): Promise<void> {
    const isPage = name === '' || name === 'index.html';
    this.#options.files.serve(exchange, name, isPage ? await this.#sandboxOrigin(exchange) : undefined);
  }

  async #sandboxOrigin(exchange: ConsoleExchange): Promise<string | undefined> {
    if (this.#appsOrNone === undefined) return undefined;
    // Without a port for the sandbox, the console works without apps.
    return this.#options.sandbox.originFor(exchange.get('host')).catch(() => undefined);
  }

  async #api(exchange: ConsoleExchange, name: string): Promise<void> {
    try {
      if (name === 'exchange') return await this.#exchange(exchange);
      // Access is checked first, so that others cannot find out which routes exist.
      const admission = await this.#options.access.check(exchange);
      if ('denied' in admission) {
        const { status, code, message } = admission.denied;
        throw new ConsoleError(status, code, message);
      }
      const { user } = admission;
      const found = this.#routes.filter(({ pattern }) => pattern.test(name));
      const route = found.find(({ method }) => method === exchange.method);
      if (route === undefined) {
        throw found.length === 0
          ? new ConsoleError(404, 'route', 'There is nothing here')
          : new ConsoleError(405, 'method', `Use ${found.map(({ method }) => method).join(' or ')}`);
      }
      if (!user.rights.has(route.right)) {
        throw new ConsoleError(403, 'right', `This needs the right "${route.right}", which this token does not have`);
      }
      const [, ...parts] = route.pattern.exec(name) ?? [];
      const query = new URLSearchParams(exchange.query);
      const result = await route.run({ exchange, user, parts, query, body: () => readJson(exchange) });
      if (result !== undefined) respondJson(exchange, 200, result);
    } catch (error) {
      respondError(exchange, error);
    }
  }

  /** The one route without a token: exchanges the code of a link for it. */
  async #exchange(exchange: ConsoleExchange): Promise<void> {
    if (exchange.method !== 'POST') throw new ConsoleError(405, 'method', 'Use POST');
    const { code } = (await readJson(exchange, maxCodeBytes)) as { readonly code?: unknown };
    const outcome = this.#options.access.exchange(exchange, code);
    if ('token' in outcome) return respondJson(exchange, 200, outcome);
    const { status, code: reason, message } = outcome.denied;
    throw new ConsoleError(status, reason, message);
  }

  readonly #routes: readonly ApiRoute[] = [
    view('GET', /^state$/, ({ user, exchange }) => this.#state(user, exchange)),
    view('POST', /^codes$/, () => ({ code: this.#options.access.createCode() })),
    view('GET', /^feed$/, (request) => this.#feed(request)),
    view('GET', /^entries\/(\d{1,15})$/, ({ parts: [number] }) => {
      return this.#source.feed.ring.get(Number(number)) ?? missing('This message is not in the buffer any more');
    }),
    view('GET', /^lists$/, ({ query }) => {
      return this.#source.lists?.(query.get('revision') ?? undefined) ?? missing('There is no server to ask');
    }),
    view('GET', /^series$/, ({ query }) => {
      return this.#source.feed.rates.series(query.get('resolution') === '10' ? 10 : 1);
    }),
    view('GET', /^sessions$/, () => ({ sessions: this.#source.sessions?.() ?? [] })),
    view('GET', /^upstreams$/, () => ({ upstreams: this.#source.upstreams?.() ?? [] })),
    view('GET', /^tasks$/, async () => ({ tasks: (await this.#source.tasks?.()) ?? [] })),
    view('GET', /^audit$/, ({ query }) => this.#source.audit?.(query) ?? { enabled: false, lines: [] }),
    view('GET', /^about$/, () => this.#source.about()),
    view('GET', /^auth$/, () => ({ steps: this.#source.auth?.() ?? [] })),
    view('GET', /^export$/, ({ exchange, user }) => this.#export(exchange, user)),
    view('POST', /^import$/, (request) => this.#import(request)),
    view('POST', /^validate$/, async ({ body }) => {
      const request = (await body()) as Parameters<NonNullable<ConsoleSource['validate']>>[0];
      return this.#source.validate?.(request) ?? missing('There is no server to ask');
    }),
    trying('POST', /^complete$/, async ({ body }) => {
      const { revision, ...request } = (await body()) as CompleteRequest;
      const { client } = await this.#calls.clients.get(revision);
      const { values } = await client.complete(request as unknown as Parameters<typeof client.complete>[0]);
      return { values };
    }),
    trying('POST', /^calls$/, async ({ user, body }) => {
      const request = (await body()) as CallRequest;
      const started = this.#calls.start(request);
      this.#record(user, 'calls', { method: request.method, name: request.params['name'] ?? request.params['uri'] });
      return started;
    }),
    trying('POST', /^calls\/(c\d+)\/input$/, async ({ parts: [id], body }) => {
      this.#calls.answer(id as string, (await body()) as InputAnswer);
      return {};
    }),
    trying('POST', /^calls\/(c\d+)\/cancel$/, ({ parts: [id] }) => {
      this.#calls.cancel(id as string);
      return {};
    }),
    trying('POST', /^subscriptions$/, async ({ user, body }) => {
      const request = (await body()) as SubscribeRequest;
      const row = await this.#calls.subscriptions.start(request);
      this.#record(user, 'subscriptions', { uri: request.uri });
      return row;
    }),
    trying('POST', /^subscriptions\/end$/, async ({ body }) => {
      await this.#calls.subscriptions.stop(((await body()) as SubscribeRequest).uri);
      return {};
    }),
    trying('POST', /^compare$/, async ({ user, body }) => {
      const request = (await body()) as CallRequest;
      const comparison = this.#calls.compare(request, this.#source.revisions);
      this.#record(user, 'compare', { method: request.method, name: request.params?.['name'] });
      return comparison;
    }),
    trying('POST', /^apps$/, async ({ exchange, user, body }) => {
      const request = (await body()) as AppOpenRequest;
      const origin = exchange.get('origin') ?? `http://${exchange.get('host')}`;
      const view = await this.#apps.open(request, { origin, sandboxOrigin: await this.#sandboxOrigin(exchange) });
      this.#record(user, 'apps', { uri: request.uri });
      return view;
    }),
    trying('POST', /^apps\/([\w-]{1,40})\/calls$/, async ({ user, parts: [id], body }) => {
      const request = (await body()) as AppCallRequest;
      const started = await this.#apps.call(id as string, request);
      this.#record(user, 'apps/calls', {
        method: request.method,
        name: request.params['name'] ?? request.params['uri'],
      });
      return started;
    }),
    trying('POST', /^apps\/([\w-]{1,40})\/messages$/, async ({ parts: [id], body }) => {
      this.#apps.record(id as string, ((await body()) as { messages: readonly AppMessage[] }).messages);
      return {};
    }),
    trying('POST', /^apps\/([\w-]{1,40})\/close$/, ({ parts: [id] }) => {
      this.#apps.close(id as string);
      return {};
    }),
    {
      method: 'POST',
      pattern: /^operate\/([a-z-]{1,40})$/,
      right: 'operate',
      run: async ({ user, parts: [verb], body }) => {
        const { operations = {} } = this.#source;
        const run = Object.hasOwn(operations, verb as string) ? operations[verb as string] : undefined;
        if (run === undefined) return missing(`There is no action ${JSON.stringify(verb)}`);
        const request = (await body()) as OperateRequest;
        this.#record(user, `operate/${verb}`, { id: request.id });
        await run(request);
        return {};
      },
    },
  ];

  get #source(): ConsoleSource {
    return this.#options.source;
  }

  get #calls(): NonNullable<ConsoleSource['calls']> {
    return this.#source.calls ?? missing('This console has no server to call');
  }

  get #apps(): Apps {
    return this.#appsOrNone ?? missing('This console has no server to call');
  }

  #record(user: ConsoleUser, action: string, details?: ConsoleEvent['details']): void {
    this.#options.record?.({ user: user.id, action, ...(details === undefined ? {} : { details }) });
  }

  async #state(user: ConsoleUser, exchange: ConsoleExchange): Promise<ConsoleState> {
    const { source, version, raw } = this.#options;
    const sandboxOrigin = await this.#sandboxOrigin(exchange);
    const siblings = this.#options.siblings?.();
    const { connection } = source;
    return {
      server: source.server,
      mode: source.mode,
      rights: [...user.rights],
      revisions: source.revisions,
      startedAt: this.#startedAt,
      mooring: version,
      raw,
      ...(connection === undefined ? {} : { connection }),
      screens: screensOf(source),
      ...(sandboxOrigin === undefined ? {} : { sandboxOrigin }),
      ...(siblings === undefined ? {} : { siblings }),
      snippets: source.snippets,
    };
  }

  #feed({ exchange, user, query }: ApiRequest): undefined {
    if (this.#readers.size >= maxReaders)
      throw new ConsoleError(429, 'readers', 'Too many pages of the console are open');
    this.#record(user, 'view');
    const unwatch = this.#source.watch?.();
    const headers = ['Content-Type', 'text/event-stream', 'X-Accel-Buffering', 'no', ...apiHeaders];
    const remove = this.#readers.add(exchange.openStream(headers), Number(query.get('after') ?? 0) || 0);
    exchange.onGone(() => {
      remove();
      unwatch?.();
    });
    return undefined;
  }

  #export(exchange: ConsoleExchange, user: ConsoleUser): undefined {
    this.#record(user, 'export');
    const { feed, server } = this.#source;
    const disposition = 'attachment; filename="recording.ndjson"';
    const headers = ['Content-Type', 'application/x-ndjson', 'Content-Disposition', disposition, ...apiHeaders];
    exchange.respond(200, headers, [...recordingLines(feed, server)].join(''));
    return undefined;
  }

  async #import({ exchange, user }: ApiRequest): Promise<unknown> {
    const recording = parseRecording(await readText(exchange, maxRecordingBytes));
    this.#record(user, 'import');
    return { entries: restoreRecording(this.#source.feed, recording) };
  }
}

function view(method: ApiRoute['method'], pattern: RegExp, run: ApiRoute['run']): ApiRoute {
  return { method, pattern, right: 'view', run };
}

function trying(method: ApiRoute['method'], pattern: RegExp, run: ApiRoute['run']): ApiRoute {
  return { method, pattern, right: 'try', run };
}

function screensOf(source: ConsoleSource): ScreenName[] {
  const optional: readonly (readonly [ScreenName, boolean])[] = [
    ['overview', true],
    ['timeline', true],
    ['tools', source.calls !== undefined],
    ['resources', source.calls !== undefined],
    ['prompts', source.calls !== undefined],
    ['tasks', source.tasks !== undefined],
    ['sessions', source.sessions !== undefined],
    ['upstreams', source.upstreams !== undefined],
    ['metrics', source.mode !== 'recording'],
    ['audit', source.audit !== undefined],
    ['auth', source.auth !== undefined],
    ['about', true],
  ];
  return optional.flatMap(([name, isThere]) => (isThere ? [name] : []));
}

function missing(message: string): never {
  throw new ConsoleError(404, 'missing', message);
}
