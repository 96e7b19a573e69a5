// The console as programs use it: created for a server, then mounted below a path of its HTTP server, or on a loopback port
// of its own.

import { randomBytes } from 'node:crypto';
import { assertKnownOptions } from '../common/known-options.ts';
import { version } from '../common/version.ts';
import type { Server } from '../engine/server.ts';
import type { Principal } from '../protocol/callers/principal.ts';
import { hashToken } from '../security/auth/index.ts';
import { assertHost } from '../transports/assert-host.ts';
import type { HttpExchange, MountedRoute } from '../transports/http.ts';
import type { About, AuditPage, ConsoleState } from './api.ts';
import type { ConsoleExchange, ConsoleGateway, ConsoleSource } from './contract.ts';
import { Access } from './http/access.ts';
import { type ListeningConsole, type ListenOptions, listen } from './http/listen.ts';
import { type ConsoleEvent, Routes } from './http/routes.ts';
import { AppSandbox } from './http/sandbox.ts';
import { StaticFiles, securityHeaders } from './http/static-files.ts';
import { ServerSource } from './server-source.ts';

/** Who has access, and where the console is. */
export interface ConsoleAccessOptions {
  /** Where the page is. Default `/console`. */
  readonly path?: string;
  /**
   * The token of the link, at least 32 characters. Default: random for each start. `false`: only principals of `authenticate` have
   * access.
   */
  readonly token?: string | false;
  /** Users can look, but not call anything. */
  readonly readOnly?: boolean;
  /** Users of the token may also cancel tasks and end sessions. */
  readonly operate?: boolean;
  /** Authenticates tokens other than that of this start. A principal needs the scope `console`. */
  readonly authenticate?: (request: ConsoleExchange) => Promise<Principal | undefined>;
  /** Called with each action of a user, for an audit log. */
  readonly record?: (event: ConsoleEvent) => void;
  /**
   * The origin on which MCP Apps are shown: another name for the HTTP server that the console is mounted in, such as
   * `https://apps.example.com`. The server offers nothing else under that name. Default: a loopback port of its own for pages
   * that are opened on a loopback address; other pages show no apps.
   */
  readonly sandboxOrigin?: string;
  /** The folder with the files of the page. Default: that of this package. */
  readonly folder?: string;
}

/** Options of `createConsole`, all of them optional. */
export interface ConsoleOptions extends ConsoleAccessOptions {
  /** Shows secrets. Never use it on an address that others can reach. */
  readonly raw?: boolean;
  /** Records messages even while no page is open. Default: while one is open, and for a minute after that. */
  readonly keep?: boolean;
  /** How clients connect to the server, for the overview. */
  readonly snippets?: () => ConsoleState['snippets'];
  /** The settings of the server, for the page "About". */
  readonly settings?: () => About['settings'];
  /** The gateway whose server this is: its servers have a screen, and their messages are shown with the calls. */
  readonly gateway?: ConsoleGateway;
  /** Searches the audit log. */
  readonly audit?: (query: URLSearchParams) => Promise<AuditPage>;
}

/** A console that is not listening yet, or is mounted in an HTTP server. */
export interface Console {
  /** The token of this start; undefined if there is none. */
  readonly token: string | undefined;
  /** For `serveHttp(server, { mounts: [console.mount] })`. */
  readonly mount: MountedRoute;
  /** The address to open, with the token in its fragment, for the address of an HTTP server that it is mounted in. */
  link(origin: string): string;
  /** Serves the console on a loopback port of its own. */
  listen(options?: ListenOptions): Promise<ListeningConsole>;
  /** Ends the streams of open pages and the console's own connections, and removes the observer. */
  close(): Promise<void>;
}

const known: Record<keyof ConsoleOptions, true> = {
  path: true,
  token: true,
  readOnly: true,
  operate: true,
  authenticate: true,
  record: true,
  sandboxOrigin: true,
  folder: true,
  raw: true,
  keep: true,
  snippets: true,
  settings: true,
  gateway: true,
  audit: true,
};

/**
 * Creates the console of a server: a page that shows its traffic and calls its tools.
 *
 * @example
 * const console = createConsole(server);
 * const { link } = await console.listen();
 */
export function createConsole(server: Server, options: ConsoleOptions = {}): Console {
  assertHost('createConsole', server);
  assertKnownOptions('createConsole', options, known);
  const source = new ServerSource(server, { ...options, version });
  return consoleOf(source, options, options.raw === true);
}

/** The options that consoles on the same port share. */
interface SharedAccess {
  readonly access: Access;
  readonly token: string | undefined;
  readonly siblings: () => ConsoleState['siblings'];
}

/** The console of any source. */
export function consoleOf(
  source: ConsoleSource,
  options: ConsoleAccessOptions,
  raw: boolean,
  shared?: SharedAccess,
): Console {
  const { path = '/console', record, folder, sandboxOrigin } = options;
  if (!/^(\/[\w.~-]+)+$/.test(path)) throw new TypeError(`${JSON.stringify(path)} is not a path such as /console`);
  const { access, token } = shared ?? createAccess(options);
  const files = new StaticFiles(folder);
  const place = sandboxOrigin === undefined ? undefined : { origin: sandboxOrigin, path: `${path}/sandbox` };
  const sandbox = new AppSandbox(files, place);
  const { siblings } = shared ?? {};
  const routes = new Routes({ source, access, files, sandbox, path, version, raw, record, siblings });
  const handle = (exchange: ConsoleExchange): void => routes.handle(exchange);
  const ports = new Ports(path, token, access, handle);
  return {
    token,
    link: (origin) => ports.link(origin),
    mount: {
      path,
      handle,
      close: () => routes.close(),
      ...(sandbox.host === undefined ? {} : { hosts: [sandbox.host] }),
    },
    listen: (where) => ports.listen(where),
    async close() {
      routes.close();
      await Promise.all([source.close(), sandbox.close(), ports.close()]);
    },
  };
}

/** Consoles of several sources on one port, each below a path of its own, with one token for all. */
export function consolesOf(sources: readonly ConsoleSource[], options: ConsoleAccessOptions, raw: boolean): Console {
  const { path = '/console' } = options;
  const { access, token } = createAccess(options);
  const pathOf = (index: number): string => `${path}/${index + 1}`;
  const siblings = (): ConsoleState['siblings'] =>
    sources.map(({ server, connection }, index) => ({
      name: connection?.target ?? server.name,
      path: pathOf(index),
      status: connection?.status ?? 'connected',
    }));
  const consoles = sources.map((source, index) =>
    consoleOf(source, { ...options, path: pathOf(index) }, raw, { access, token, siblings }),
  );
  const handle = (exchange: ConsoleExchange): void => {
    const found = consoles.find(({ mount }) => `${exchange.path}/`.startsWith(`${mount.path}/`));
    // The routes of a console need no more of an exchange than this interface has.
    if (found !== undefined) found.mount.handle(exchange as HttpExchange);
    // The fragment with the token stays: browsers keep it when they are redirected.
    else exchange.respond(307, ['Location', `${pathOf(0)}/`, ...securityHeaders()]);
  };
  const ports = new Ports(path, token, access, handle);
  const closeAll = async (): Promise<void> => {
    await Promise.all([...consoles.map((each) => each.close()), ports.close()]);
  };
  return {
    token,
    link: (origin) => ports.link(origin),
    mount: { path, handle, close: () => void Promise.all(consoles.map(({ mount }) => mount.close?.())) },
    listen: (where) => ports.listen(where),
    close: closeAll,
  };
}

function createAccess(options: ConsoleAccessOptions): Pick<SharedAccess, 'access' | 'token'> {
  const { readOnly = false, operate = false, authenticate } = options;
  const token = options.token === false ? undefined : (options.token ?? randomBytes(32).toString('base64url'));
  // Throws for one that could be guessed.
  if (token !== undefined) hashToken(token);
  return { access: new Access({ token, readOnly, operate, authenticate }), token };
}

/** The ports that a console listens on, and the links to it. */
class Ports {
  readonly #path: string;
  readonly #token: string | undefined;
  readonly #access: Access;
  readonly #handle: (exchange: ConsoleExchange) => void;
  readonly #open = new Set<ListeningConsole>();

  constructor(path: string, token: string | undefined, access: Access, handle: (exchange: ConsoleExchange) => void) {
    this.#path = path;
    this.#token = token;
    this.#access = access;
    this.#handle = handle;
  }

  link(origin: string): string {
    return `${origin}${this.#path}/${this.#token === undefined ? '' : `#t=${this.#token}`}`;
  }

  async listen(where: ListenOptions = {}): Promise<ListeningConsole> {
    const { origin, port, close } = await listen(this.#path, this.#handle, where);
    const oneTimeLink = (): string => `${origin}${this.#path}/#c=${this.#access.createCode()}`;
    const served: ListeningConsole = { port, origin, link: this.link(origin), oneTimeLink, close };
    this.#open.add(served);
    return served;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((each) => each.close()));
  }
}
