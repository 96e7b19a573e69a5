// The console as programs use it: created for a server, then mounted below a path of its HTTP server, or on a loopback port
// of its own.

import { randomBytes } from 'node:crypto';
import type { Server } from '../engine/server.ts';
import type { Principal } from '../protocol/principal.ts';
import type { MountedRoute } from '../transports/http.ts';
import { Access } from './access.ts';
import type { About, AuditPage, ConsoleState } from './api.ts';
import type { ConsoleExchange, ConsoleSource } from './contract.ts';
import { type ListeningConsole, type ListenOptions, listen } from './listen.ts';
import { type ConsoleEvent, Routes } from './routes.ts';
import { ServerSource } from './server-source.ts';
import { StaticFiles } from './static-files.ts';
import { version } from './version.ts';

/** Who has access, and where the console is. */
export interface ConsoleAccessOptions {
  /** Where the page is. Default `/console`. */
  readonly path?: string;
  /** The token of the link. Default: random for each start. `false`: only principals of `authenticate` have access. */
  readonly token?: string | false;
  /** Users can look, but not call anything. */
  readonly readOnly?: boolean;
  /** Users of the token may also cancel tasks and end sessions. */
  readonly operate?: boolean;
  /** Authenticates tokens other than that of this start. A principal needs the scope `console`. */
  readonly authenticate?: (request: ConsoleExchange) => Promise<Principal | undefined>;
  /** Is told what users do, for an audit log. */
  readonly record?: (event: ConsoleEvent) => void;
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
  /** Serves the console by itself, on a loopback port. */
  listen(options?: ListenOptions): Promise<ListeningConsole>;
  /** Ends the streams of open pages and the console's own connections, and removes the observer. */
  close(): Promise<void>;
}

/**
 * Creates the console of a server: a page that shows its traffic and calls its tools.
 *
 * @example
 * const console = createConsole(server);
 * const { link } = await console.listen();
 */
export function createConsole(server: Server, options: ConsoleOptions = {}): Console {
  const source = new ServerSource(server, { ...options, version });
  return consoleOf(source, options, options.raw === true);
}

/** The console of any source. */
export function consoleOf(source: ConsoleSource, options: ConsoleAccessOptions, raw: boolean): Console {
  const { path = '/console', readOnly = false, operate = false, authenticate, record, folder } = options;
  if (!/^(\/[\w.~-]+)+$/.test(path)) throw new TypeError(`${JSON.stringify(path)} is not a path such as /console`);
  const token = options.token === false ? undefined : (options.token ?? randomBytes(32).toString('base64url'));
  const routes = new Routes({
    source,
    access: new Access({ token, readOnly, operate, authenticate }),
    files: new StaticFiles(folder),
    path,
    version,
    raw,
    record,
  });
  const link = (origin: string): string => `${origin}${path}/${token === undefined ? '' : `#t=${token}`}`;
  const listening = new Set<ListeningConsole>();
  return {
    token,
    link,
    mount: { path, handle: (exchange) => routes.handle(exchange), close: () => routes.close() },
    async listen(where = {}) {
      const { origin, port, close } = await listen(path, (exchange) => routes.handle(exchange), where);
      const served: ListeningConsole = { port, origin, link: link(origin), close };
      listening.add(served);
      return served;
    },
    async close() {
      routes.close();
      await Promise.all([source.close(), ...[...listening].map((each) => each.close())]);
    },
  };
}
