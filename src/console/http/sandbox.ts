// The sandbox of MCP Apps: pages on an origin of their own, each with the Content Security Policy of its app. The page of the
// console shows one in a frame and sends it the HTML of the app; nothing here knows the token or has access to the API.

import { randomBytes } from 'node:crypto';
import { type AppCsp, cspLists, isAppOrigin } from '../../protocol/apps.ts';
import { isLoopback } from '../../transports/http/access.ts';
import type { ConsoleExchange } from '../contract.ts';
import { BoundedMap } from '../feed/bounded-map.ts';
import { listen } from './listen.ts';
import type { StaticFiles } from './static-files.ts';

/** Views whose pages can be loaded; the oldest are forgotten. Stops pages that are opened again and again. */
const maxViews = 100;

/** On a port of its own. */
const ownPath = '/sandbox';

interface SandboxView {
  readonly policy: string;
  /** The origin of the console, the only one that may show the view. */
  readonly host: string;
}

/** Where the sandbox is, unless it has a loopback port of its own. */
export interface SandboxPlace {
  /** Another name of the server that the console is mounted in. */
  readonly origin: string;
  /** Below the console. */
  readonly path: string;
}

export class AppSandbox {
  readonly #files: StaticFiles;
  readonly #place: SandboxPlace | undefined;
  readonly #views = new BoundedMap<string, SandboxView>(maxViews);
  #listening: ReturnType<typeof listen> | undefined;

  constructor(files: StaticFiles, place: SandboxPlace | undefined) {
    const { origin } = place ?? {};
    if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).origin !== origin)) {
      throw new TypeError(`sandboxOrigin ${JSON.stringify(origin)} is not an origin such as https://apps.example.com`);
    }
    this.#files = files;
    this.#place = place;
  }

  /** The value of `Host` for another name of the server; undefined if the sandbox has a port of its own. */
  get host(): string | undefined {
    return this.#place === undefined ? undefined : new URL(this.#place.origin).host;
  }

  /** The origin for a page that was opened under this Host; undefined: it cannot show apps. */
  async originFor(host: string | undefined): Promise<string | undefined> {
    if (this.#place !== undefined) return this.#place.origin;
    // A browser elsewhere cannot reach a loopback port of this machine.
    if (host === undefined || !URL.canParse(`http://${host}`)) return undefined;
    if (!isLoopback(new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, ''))) return undefined;
    this.#listening ??= listen(ownPath, (exchange) => this.#serve(exchange, ownPath), {});
    return (await this.#listening).origin;
  }

  /** The address of a new view, for the console at `host`. */
  open(csp: AppCsp | undefined, host: string, sandboxOrigin: string): string {
    const id = randomBytes(16).toString('base64url');
    this.#views.set(id, { policy: policyOf(csp, host), host });
    return `${sandboxOrigin}${this.#place?.path ?? ownPath}/${id}/`;
  }

  /** Serves a request to the console if its Host is that of the sandbox, which serves nothing else. */
  takes(exchange: ConsoleExchange): boolean {
    const place = this.#place;
    if (place === undefined || exchange.get('host')?.toLowerCase() !== this.host) return false;
    this.#serve(exchange, place.path);
    return true;
  }

  async close(): Promise<void> {
    const listening = this.#listening;
    this.#listening = undefined;
    await (await listening?.catch(() => undefined))?.close();
  }

  #serve(exchange: ConsoleExchange, path: string): void {
    const name = exchange.path.startsWith(`${path}/`) ? exchange.path.slice(path.length + 1) : '';
    if (exchange.method !== 'GET') return exchange.respond(405, plain, 'Use GET\n');
    const script = name === 'sandbox.js' ? this.#files.contents(/^sandbox-.*\.js$/) : undefined;
    if (script !== undefined) {
      return exchange.respond(200, ['Content-Type', 'text/javascript; charset=utf-8', ...headers], script);
    }
    const view = this.#views.get(name.replace(/\/$/, ''));
    if (view === undefined || !name.endsWith('/')) return exchange.respond(404, plain, 'Not found\n');
    const page = ['Content-Type', 'text/html; charset=utf-8', 'Content-Security-Policy', view.policy];
    exchange.respond(200, [...page, ...headers], pageOf(view.host));
  }
}

const headers = [
  ...['X-Content-Type-Options', 'nosniff'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cache-Control', 'no-store'],
  // Only hosts that the policy allows may be resolved.
  ...['X-DNS-Prefetch-Control', 'off'],
];
const plain = ['Content-Type', 'text/plain; charset=utf-8', ...headers];

/** Both frames have this policy: the outer one by its header, that of the app because it inherits it. */
export function policyOf(csp: AppCsp | undefined, host: string): string {
  const [connect, resource, frame, base] = cspLists.map((list) => (csp?.[list] ?? []).filter(isAppOrigin).join(' '));
  const resources = resource === '' ? '' : ` ${resource}`;
  return [
    "default-src 'none'",
    `script-src 'self' 'unsafe-inline'${resources}`,
    `style-src 'self' 'unsafe-inline'${resources}`,
    `img-src 'self' data:${resources}`,
    `font-src 'self' data:${resources}`,
    `media-src 'self' data:${resources}`,
    `connect-src ${connect === '' ? "'none'" : connect}`,
    `frame-src ${frame === '' ? "'none'" : frame}`,
    "object-src 'none'",
    `base-uri ${base === '' ? "'self'" : base}`,
    "form-action 'none'",
    `frame-ancestors ${host}`,
  ].join('; ');
}

function pageOf(host: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="host" content="${host.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">
    <title>App</title>
    <style>html, body { margin: 0; height: 100%; } iframe { display: block; width: 100%; height: 100%; border: 0; }</style>
    <script type="module" src="../sandbox.js"></script>
  </head>
  <body></body>
</html>
`;
}
