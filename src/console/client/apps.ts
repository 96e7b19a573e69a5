// MCP Apps in the console: reads the page of an app for its frame, checks what the app may call, and records what app and
// console send each other. The page's side is in page/apps/.

import { randomBytes } from 'node:crypto';
import type { Client } from '../../client/index.ts';
import { type AppMeta, appMimeType, cspLists, isAppOrigin } from '../../protocol/apps.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { AppCallRequest, AppMessage, AppOpenRequest, AppView, CallStarted, JsonObject } from '../api.ts';
import { BoundedMap } from '../feed/bounded-map.ts';
import { toJson } from '../feed/capture.ts';
import type { Feed } from '../feed/feed.ts';
import { clientLabel, type FeedPeer } from '../feed/peers.ts';
import { ConsoleError } from '../http/console-error.ts';
import type { AppSandbox } from '../http/sandbox.ts';
import type { ConsoleCalls } from './calls.ts';

/** Open views; the oldest are forgotten. Stops pages that are opened again and again from filling the memory. */
const maxViews = 100;
/** Larger pages are not shown. */
const maxHtmlChars = 8 * 1024 * 1024;
/** Messages in one request to record them. */
const maxMessages = 500;

interface OpenView {
  readonly peer: FeedPeer;
  readonly revision: string | undefined;
}

/** What a page of the console reports about itself. */
export interface AppHostPage {
  /** Its origin. */
  readonly origin: string;
  readonly sandboxOrigin: string | undefined;
}

export class Apps {
  readonly #calls: ConsoleCalls;
  readonly #feed: Feed;
  readonly #sandbox: AppSandbox;
  readonly #views = new BoundedMap<string, OpenView>(maxViews);

  constructor(calls: ConsoleCalls, feed: Feed, sandbox: AppSandbox) {
    this.#calls = calls;
    this.#feed = feed;
    this.#sandbox = sandbox;
  }

  /** Reads an app, and opens a view for it. */
  async open({ uri, revision }: AppOpenRequest, page: AppHostPage): Promise<AppView> {
    if (page.sandboxOrigin === undefined) {
      throw new ConsoleError(
        409,
        'sandbox',
        'Apps need an origin of their own here. Set --console-sandbox-origin, or the option sandboxOrigin',
      );
    }
    if (typeof uri !== 'string' || !uri.startsWith('ui://')) {
      throw new ConsoleError(400, 'uri', 'An app has a URI that begins with ui://');
    }
    const { client } = await this.#calls.clients.get(revision);
    const { html, meta, ignored } = await readApp(client, uri);
    const { csp, permissions, prefersBorder } = meta;
    const id = randomBytes(12).toString('base64url');
    const peer = this.#feed.peers.add({ transport: 'app', client: uri.slice(0, 200) });
    this.#views.set(id, { peer, revision });
    return {
      view: id,
      html,
      url: this.#sandbox.open(csp, page.origin, page.sandboxOrigin),
      ...(csp === undefined ? {} : { csp: { ...csp } }),
      ...(permissions === undefined ? {} : { permissions: { ...permissions } }),
      ...(prefersBorder === undefined ? {} : { prefersBorder }),
      ignored,
    };
  }

  /** Starts what an app calls. Tools that are not for apps are rejected here, whatever the page allows. */
  async call(id: string, { method, params }: AppCallRequest): Promise<CallStarted> {
    const { revision } = this.#find(id);
    if (method !== 'tools/call' && method !== 'resources/read') {
      throw new ConsoleError(400, 'method', 'Apps may send tools/call and resources/read');
    }
    if (!isObject(params)) throw new ConsoleError(400, 'params', '"params" must be an object');
    if (method === 'tools/call') await this.#checkTool(String(params['name']), revision);
    return this.#calls.start({ method, params, ...(revision === undefined ? {} : { revision }) });
  }

  async #checkTool(name: string, revision: string | undefined): Promise<void> {
    const { client } = await this.#calls.clients.get(revision);
    const tools = (await client.listTools()) as unknown as readonly JsonObject[];
    const tool = tools.find((each) => each['name'] === name);
    if (tool === undefined) throw new ConsoleError(404, 'tool', `There is no tool ${JSON.stringify(name)}`);
    const meta = tool['_meta'];
    const ui = isObject(meta) ? meta['ui'] : undefined;
    const visibility = isObject(ui) ? ui['visibility'] : undefined;
    if (Array.isArray(visibility) && !visibility.includes('app')) {
      throw new ConsoleError(403, 'visibility', `The tool ${JSON.stringify(name)} is not for apps`);
    }
  }

  /** Adds messages between an app and the console to the timeline. */
  record(id: string, messages: readonly AppMessage[]): void {
    const { peer } = this.#find(id);
    if (!Array.isArray(messages)) throw new ConsoleError(400, 'messages', '"messages" must be a list');
    for (const { direction, message } of messages.slice(0, maxMessages)) {
      if (direction !== 'in' && direction !== 'out') continue;
      const params = isObject(message) && message['method'] === 'ui/initialize' ? message['params'] : undefined;
      const label = isObject(params) ? clientLabel(params['appInfo']) : undefined;
      if (label !== undefined) this.#feed.peers.update(peer, { client: label });
      this.#feed.record({ direction, peer, text: toJson(message) });
    }
  }

  close(id: string): void {
    this.#find(id).peer.open = false;
    this.#views.delete(id);
  }

  #find(id: string): OpenView {
    const view = this.#views.get(id);
    if (view === undefined) throw new ConsoleError(404, 'view', 'This app is not open any more');
    return view;
  }
}

interface ReadApp {
  readonly html: string;
  readonly meta: AppMeta;
  /** Values that are not origins. */
  readonly ignored: readonly string[];
}

async function readApp(client: Client, uri: string): Promise<ReadApp> {
  const { contents } = (await client.readResource(uri, { cache: 'bypass' })) as unknown as {
    readonly contents: readonly JsonObject[];
  };
  const item = contents.find((each) => each['uri'] === uri) ?? contents[0] ?? {};
  const { mimeType, text, blob } = item;
  if (typeof mimeType !== 'string' || mimeType.replaceAll(' ', '').toLowerCase() !== appMimeType) {
    throw new ConsoleError(422, 'type', `${uri} has the type ${JSON.stringify(mimeType)}; an app has ${appMimeType}`);
  }
  const html = typeof text === 'string' ? text : Buffer.from(String(blob ?? ''), 'base64').toString('utf8');
  if (html === '') throw new ConsoleError(422, 'empty', `${uri} has no contents`);
  if (html.length > maxHtmlChars) throw new ConsoleError(422, 'size', `${uri} is larger than ${maxHtmlChars} bytes`);
  return { html, ...metaOf(uiOf(item) ?? (await listedMeta(client, uri)) ?? {}) };
}

/** Metadata of the contents; the entry of the list is the fallback. */
async function listedMeta(client: Client, uri: string): Promise<JsonObject | undefined> {
  // A server without lists has no fallback either.
  const listed = (await client.listResources().catch(() => [])) as unknown as readonly JsonObject[];
  return uiOf(listed.find((each) => each['uri'] === uri) ?? {});
}

function uiOf({ _meta: meta }: JsonObject): JsonObject | undefined {
  const ui = isObject(meta) ? meta['ui'] : undefined;
  return isObject(ui) ? ui : undefined;
}

const permissionNames = ['camera', 'microphone', 'geolocation', 'clipboardWrite'] as const;

/** Only what is known, and only origins. */
function metaOf({ csp, permissions, prefersBorder }: JsonObject): Omit<ReadApp, 'html'> {
  const ignored: string[] = [];
  const lists = cspLists.flatMap((list) => {
    const given = isObject(csp) ? csp[list] : undefined;
    if (!Array.isArray(given)) return [];
    for (const each of given) if (!isAppOrigin(each)) ignored.push(String(each).slice(0, 300));
    return [[list, given.filter(isAppOrigin)]];
  });
  const granted = isObject(permissions) ? permissionNames.filter((name) => isObject(permissions[name])) : [];
  return {
    ignored,
    meta: {
      ...(lists.length === 0 ? {} : { csp: Object.fromEntries(lists) }),
      ...(granted.length === 0 ? {} : { permissions: Object.fromEntries(granted.map((name) => [name, {}])) }),
      ...(typeof prefersBorder === 'boolean' ? { prefersBorder } : {}),
    },
  };
}
