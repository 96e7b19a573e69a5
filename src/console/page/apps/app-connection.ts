// One app in its frame: opens the sandbox, connects its messages to the host, and lets the app call its server through the
// console. The frame shares nothing with this page: only messages of its window and its origin are read.

import { effect, signal } from '@preact/signals';
import type { AppMessage, AppView, CallStarted, CallUpdate, JsonObject } from '../../api.ts';
import { addOwnCall } from '../calls/calls.ts';
import { calls, state } from '../feed.ts';
import { post } from '../server.ts';
import { AppHost, AppRequestError } from './app-host.ts';
import { type AppSettings, hostContext } from './host-context.ts';

/** Entries of the panel below the app. Stops an app that never stops logging from filling the memory. */
const maxEvents = 200;
/** Messages wait this long, so that the timeline gets many with one request. */
const recordMs = 100;
/** Messages that wait to be recorded. More are left out of the timeline, with a note. */
const maxUnrecorded = 500;
const minHeight = 60;
const maxHeight = 4_000;
/** After this time the sandbox counts as unreachable, for example because a tunnel does not forward its port. */
const startMs = 10_000;

/** Something that the app did, for its author. */
export interface AppEvent {
  readonly kind: 'message' | 'context' | 'log' | 'blocked' | 'note';
  readonly text: string;
}

/** A confirmation that the app needs from the user. */
export interface AppQuestion {
  readonly text: string;
  readonly detail: string;
  readonly accept: string;
  answer(isAccepted: boolean): void;
}

export interface AppConnectionOptions {
  readonly uri: string;
  readonly tool: JsonObject;
  readonly revision: string | undefined;
  readonly call: string;
  readonly args: JsonObject;
  readonly settings: AppSettings;
  onClose(): void;
}

export class AppConnection {
  readonly events = signal<readonly AppEvent[]>([]);
  readonly question = signal<AppQuestion | undefined>(undefined);
  readonly problem = signal<string | undefined>(undefined);
  readonly height = signal(240);
  readonly view = signal<AppView | undefined>(undefined);
  readonly isReady = signal(false);
  readonly #options: AppConnectionOptions;
  readonly #frame = document.createElement('iframe');
  readonly #stops: (() => void)[] = [];
  #host: AppHost | undefined;
  #settings: AppSettings;
  #isLoaded = false;
  #isOver = false;
  #unrecorded: AppMessage[] = [];

  constructor(options: AppConnectionOptions) {
    this.#options = options;
    this.#settings = options.settings;
    const listener = (event: MessageEvent): void => this.#received(event);
    addEventListener('message', listener);
    this.#stops.push(() => removeEventListener('message', listener));
  }

  /** Reads the app and puts its frame into an element. */
  async start(into: HTMLElement): Promise<void> {
    const { uri, revision } = this.#options;
    try {
      const view = await post<AppView>('apps', { uri, ...(revision === undefined ? {} : { revision }) });
      if (this.#isOver) return;
      this.view.value = view;
      for (const each of view.ignored) this.#add('note', `${each} is not an origin, so it is not allowed`);
      this.#host = this.#createHost(view);
      this.#frame.title = `App ${uri}`;
      this.#frame.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms');
      this.#frame.setAttribute('referrerpolicy', 'no-referrer');
      const origin = new URL(view.url).origin;
      this.#frame.allow = permissionsOf(view)
        .map((feature) => `${feature} ${origin}`)
        .join('; ');
      this.#frame.src = view.url;
      into.append(this.#frame);
      const timer = setTimeout(() => {
        if (!this.#isLoaded) this.problem.value = `The sandbox at ${origin} does not respond. Is its port forwarded?`;
      }, startMs);
      this.#stops.push(() => clearTimeout(timer));
      this.#sendOutcome();
    } catch (error) {
      this.problem.value = (error as Error).message;
    }
  }

  /** The settings of the panel or the theme of the console changed. */
  contextChanged(settings: AppSettings): void {
    this.#settings = settings;
    this.#host?.contextChanged(this.#context());
  }

  #context(): JsonObject {
    return hostContext(this.#settings, this.#options.tool, this.#frame.clientWidth);
  }

  /** Tells the app, and removes the frame when it has answered. */
  async end(reason: string): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.question.value?.answer(false);
    const { moveBefore } = document.body as { moveBefore?: (node: Node, before: Node | null) => void };
    // Only `moveBefore` moves a frame without reloading it.
    if (this.#frame.isConnected && moveBefore !== undefined) {
      this.#frame.hidden = true;
      moveBefore.call(document.body, this.#frame, null);
      await this.#host?.teardown(reason);
    } else void this.#host?.teardown(reason);
    for (const stop of this.#stops.splice(0)) stop();
    this.#frame.remove();
    const { view } = this.view.value ?? {};
    if (view === undefined) return;
    await this.#flush();
    await post(`apps/${view}/close`, {}).catch(() => {}); // The console is gone, and the view with it.
  }

  #received({ source, origin, data }: MessageEvent): void {
    const view = this.view.value;
    const window = this.#frame.contentWindow;
    if (view === undefined || window === null || source !== window || origin !== new URL(view.url).origin) return;
    const method = (data as { method?: unknown } | null)?.method;
    if (method === 'ui/notifications/sandbox-proxy-ready') this.#load(view);
    else if (method === 'ui/notifications/sandbox-policy-violation') {
      const { directive, blocked } = (data as { params: Record<string, unknown> }).params ?? {};
      this.#add('blocked', `${String(directive).slice(0, 100)}: ${String(blocked).slice(0, 300)}`);
    } else if (this.#isLoaded) {
      this.#host?.receive(data);
      if (this.#host?.isInitialized === true) this.isReady.value = true;
    }
  }

  #load({ html, csp, permissions }: AppView): void {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    const params = { html, ...(csp && { csp }), ...(permissions && { permissions }) };
    this.#post({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-resource-ready', params });
  }

  #post(message: unknown): void {
    const view = this.view.value;
    if (view !== undefined) this.#frame.contentWindow?.postMessage(message, new URL(view.url).origin);
  }

  #createHost(view: AppView): AppHost {
    const { args, onClose } = this.#options;
    const host = new AppHost({
      post: (message) => this.#post(message),
      record: (direction, message) => this.#record({ direction, message }),
      hostInfo: { name: 'mooring-console', version: state.value?.mooring ?? '' },
      capabilities: {
        openLinks: {},
        downloadFile: {},
        serverTools: {},
        serverResources: {},
        logging: {},
        message: { text: {}, image: {}, resource: {}, resourceLink: {}, structuredContent: {} },
        updateModelContext: { text: {}, image: {}, resource: {}, resourceLink: {}, structuredContent: {} },
        sandbox: { csp: view.csp ?? {}, permissions: view.permissions ?? {} },
      },
      context: () => this.#context(),
      call: (method, params) => this.#call(view.view, method, params),
      openLink: (url) => this.#openLink(url),
      download: (contents) => this.#download(contents),
      message: (params) => {
        this.#add('message', JSON.stringify(params['content'] ?? params));
        return {};
      },
      modelContext: (params) => {
        this.#add('context', JSON.stringify(params));
        return {};
      },
      // The console has one place for an app.
      displayMode: () => ({ mode: 'inline' }),
      log: ({ level, data }) =>
        this.#add('log', `${String(level)}: ${typeof data === 'string' ? data : JSON.stringify(data)}`),
      size: (_width, height) => {
        if (height !== undefined) this.height.value = Math.min(Math.max(Math.ceil(height), minHeight), maxHeight);
      },
      close: onClose,
    });
    host.toolInput(args);
    return host;
  }

  /** The result of the call that the app is shown for, as soon as it is there. */
  #sendOutcome(): void {
    void ended(this.#options.call, this.#stops).then(({ status, resultText, error }) => {
      if (status === 'done' && resultText !== undefined) this.#host?.toolResult(JSON.parse(resultText) as JsonObject);
      else this.#host?.toolCancelled(error?.message ?? status);
    });
  }

  async #call(view: string, method: string, params: JsonObject): Promise<JsonObject> {
    const { call } = await post<CallStarted>(`apps/${view}/calls`, { method, params });
    addOwnCall(call);
    const { status, resultText, error } = await ended(call, this.#stops);
    if (status === 'done' && resultText !== undefined) return JSON.parse(resultText) as JsonObject;
    throw new AppRequestError(error?.message ?? status, error?.code);
  }

  async #openLink(url: string): Promise<JsonObject> {
    const isAccepted = await this.#ask('The app wants to open a page:', url, 'Open');
    if (!isAccepted) throw new AppRequestError('The user did not open the link');
    open(url, '_blank', 'noopener,noreferrer');
    return {};
  }

  async #download(contents: readonly JsonObject[]): Promise<JsonObject> {
    const files = contents.flatMap(fileOf);
    if (files.length === 0) throw new AppRequestError('There is nothing to save', -32602);
    const isAccepted = await this.#ask('The app wants to save:', files.map(({ name }) => name).join(', '), 'Save');
    if (!isAccepted) throw new AppRequestError('The user did not save the file');
    for (const { name, blob } of files) save(name, blob);
    return {};
  }

  /** One question at a time: an app cannot fill the page with them. */
  #ask(text: string, detail: string, accept: string): Promise<boolean> {
    if (this.question.value !== undefined) throw new AppRequestError('The user has not answered the last request');
    return new Promise((resolve) => {
      this.question.value = {
        text,
        detail,
        accept,
        answer: (isAccepted) => {
          this.question.value = undefined;
          resolve(isAccepted);
        },
      };
    });
  }

  #add(kind: AppEvent['kind'], text: string): void {
    this.events.value = [...this.events.value, { kind, text: text.slice(0, 2_000) }].slice(-maxEvents);
  }

  #record(message: AppMessage): void {
    if (this.#unrecorded.length === 0) setTimeout(() => void this.#flush(), recordMs);
    if (this.#unrecorded.length < maxUnrecorded) this.#unrecorded.push(message);
    else if (this.#unrecorded.length === maxUnrecorded) this.#add('note', 'Some messages are not in the timeline');
  }

  async #flush(): Promise<void> {
    const messages = this.#unrecorded;
    this.#unrecorded = [];
    const { view } = this.view.value ?? {};
    if (view === undefined || messages.length === 0) return;
    // A console that is gone has no timeline.
    await post(`apps/${view}/messages`, { messages }).catch(() => {});
  }
}

const isOpen = ({ status }: CallUpdate): boolean => status === 'running' || status === 'input-required';

/** The last update of a call. Never resolves if `stops` are called before. */
function ended(call: string, stops: (() => void)[]): Promise<CallUpdate> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      const update = calls.value.get(call);
      if (update === undefined || isOpen(update)) return;
      resolve(update);
      queueMicrotask(() => stop());
    });
    stops.push(stop);
  });
}

const features: readonly (readonly [string, string])[] = [
  ['camera', 'camera'],
  ['microphone', 'microphone'],
  ['geolocation', 'geolocation'],
  ['clipboardWrite', 'clipboard-write'],
];

function permissionsOf({ permissions = {} }: AppView): string[] {
  return features.flatMap(([name, feature]) => (permissions[name] === undefined ? [] : [feature]));
}

/** A file of an embedded resource. Links are not followed: that would ask another server. */
function fileOf({ type, resource }: JsonObject): { name: string; blob: Blob }[] {
  if (type !== 'resource' || typeof resource !== 'object' || resource === null) return [];
  const { uri, mimeType, text, blob } = resource as JsonObject;
  const name = decodeURIComponent(String(uri).split(/[?#]/)[0]?.split('/').at(-1) ?? '').replace(/[^\w. -]/g, '_');
  const options = { type: typeof mimeType === 'string' ? mimeType : 'application/octet-stream' };
  const contents = typeof text === 'string' ? text : Uint8Array.from(atob(String(blob)), (each) => each.charCodeAt(0));
  return [{ name: name === '' ? 'download' : name, blob: new Blob([contents], options) }];
}

function save(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
