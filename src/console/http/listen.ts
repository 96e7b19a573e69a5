// A loopback port of its own for the console: beside a server on stdio, a relay, or `mooring inspect`. Only what the page needs;
// the HTTP transport of the package is for MCP clients.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nodeHttp } from '../../common/builtins.ts';
import { JoinedBytes } from '../../common/joined-bytes.ts';
import { assertKnownOptions } from '../../common/known-options.ts';
import { toBuffer } from '../../common/to-buffer.ts';
import { HostOriginCheck, hostsOf, isLoopback, originsOf } from '../../transports/http/access.ts';
import type { ConsoleExchange, ConsoleSink } from '../contract.ts';

/** Where a console listens. */
export interface ListenOptions {
  /** Default 0: a free port. */
  readonly port?: number;
  /** A loopback address. Default `127.0.0.1`. */
  readonly host?: string;
}

const known: Record<keyof ListenOptions, true> = { port: true, host: true };

/** A console on a port of its own. */
export interface ListeningConsole {
  /** The port, also if `port: 0` chose it. */
  readonly port: number;
  /** Such as `http://127.0.0.1:41000`. */
  readonly origin: string;
  /** The address to open, with the token in its fragment. */
  readonly link: string;
  /**
   * The same, with a code instead of the token: it works once, within a minute. For the argument of a program that opens a
   * browser, which other users of the machine can read.
   */
  oneTimeLink(): string;
  /** Ends its connections and closes the port. */
  close(): Promise<void>;
}

/** Stops other programs from using up the descriptors of the process. */
const maxConnections = 128;

/** Serves `handle` on everything at and below a path. */
export async function listen(
  path: string,
  handle: (exchange: ConsoleExchange) => void,
  options: ListenOptions,
): Promise<Omit<ListeningConsole, 'link' | 'oneTimeLink'>> {
  assertKnownOptions('listen', options, known);
  const { port = 0, host = '127.0.0.1' } = options;
  if (!isLoopback(host)) throw new TypeError(`The console listens on loopback addresses only, not on ${host}`);
  const server = nodeHttp().createServer({ joinDuplicateHeaders: true, requestTimeout: 30_000 });
  server.maxConnections = maxConnections;
  const bound = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
  server.removeAllListeners('error').on('error', () => {}); // A connection that could not be accepted; others continue.
  // The port of the console must not keep a process alive whose work is done.
  server.unref();
  const own = { host, port: bound, scheme: 'http' } as const;
  const access = new HostOriginCheck({ hosts: hostsOf(own), ownOrigins: originsOf(own), corsOrigins: new Set() });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const exchange = new ConsoleNodeExchange(request, response);
    const denial = access.check({ ...headersOnly(exchange) });
    if (denial !== undefined) exchange.respond(403, ['Content-Type', 'application/json'], forbidden(denial));
    else if (exchange.path === path || exchange.path.startsWith(`${path}/`)) handle(exchange);
    else if (exchange.path === '/') exchange.respond(307, ['Location', `${path}/`]);
    else exchange.respond(404, ['Content-Type', 'text/plain; charset=utf-8'], 'Not found\n');
  });
  return {
    port: bound,
    origin: `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${bound}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function headersOnly(exchange: ConsoleNodeExchange) {
  const { method, path, query, address } = exchange;
  return { method, path, query, address, get: (name: string) => exchange.get(name) };
}

function forbidden(denial: string): string {
  return JSON.stringify({ error: { code: denial, message: `This ${denial} has no access to the console` } });
}

class ConsoleNodeExchange implements ConsoleExchange {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly path: string;
  readonly query: string;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    this.path = mark === -1 ? url : url.slice(0, mark);
    this.query = mark === -1 ? '' : url.slice(mark + 1);
    response.on('error', () => {}); // The page was closed.
  }

  get method(): string {
    return this.#request.method as string;
  }

  get address(): string | undefined {
    return this.#request.socket.remoteAddress;
  }

  get(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  readBody(maxBytes: number, done: (body: string | { readonly reason: string }) => void): void {
    const body = new JoinedBytes();
    let size = 0;
    this.#request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) body.add(chunk);
      else if (size - chunk.length <= maxBytes) {
        body.clear();
        done({ reason: 'too-large' });
      }
    });
    this.#request.on('end', () => {
      if (size <= maxBytes) done(toBuffer(body.join()).toString('utf8'));
    });
  }

  respond(status: number, headers: readonly string[], body?: string | Uint8Array): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return;
    // The rest of an unread body would be parsed as the next request.
    if (!this.#request.complete) response.shouldKeepAlive = false;
    const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))];
    response.writeHead(status, [...headers, ...length]).end(body);
  }

  openStream(headers: readonly string[]): ConsoleSink {
    const response = this.#response;
    response.writeHead(200, [...headers]);
    response.flushHeaders();
    return {
      write: (text) => void response.write(text),
      end: () => void response.end(),
      destroy: () => void response.destroy(),
      get queued() {
        return response.writableLength;
      },
    };
  }

  onGone(listener: () => void): void {
    this.#response.on('close', listener);
  }
}
