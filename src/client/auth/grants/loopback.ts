// The place a browser comes back to after sign-in: a listener on 127.0.0.1 that answers one path, for one sign-in, and
// closes. Requests with another Host, another path or another state change nothing and do not end the wait.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nodeHttp } from '../../../common/builtins.ts';
import { assertKnownOptions } from '../../../common/known-options.ts';
import { AuthError, authErrors } from '../errors.ts';
import { type OpenUrl, openInBrowser } from './browser.ts';
import { renderPage } from './callback-page.ts';
import type { RedirectListener, Redirector } from './redirect.ts';

/** Options of the listener. */
export interface LoopbackOptions {
  /** Fixed port, for clients registered with one. Default: that of the last registration, else any free one. */
  readonly port?: number;
  /** Host of the redirect URI. Some servers know only `localhost`; the listener is on 127.0.0.1 either way. */
  readonly host?: '127.0.0.1' | 'localhost';
  /** Path of the redirect URI. Default `/callback`. */
  readonly path?: string;
  /** Shows the sign-in address; the default prints it on stderr and opens a browser. */
  readonly open?: OpenUrl;
  /** Shown on the page. */
  readonly clientName?: string;
}

const known: Record<keyof LoopbackOptions, true> = { port: true, host: true, path: true, open: true, clientName: true };

/** Creates a redirector that listens on loopback. */
export function createLoopbackRedirector(options: LoopbackOptions = {}): Redirector {
  assertKnownOptions('createLoopbackRedirector', options, known);
  const host = options.host ?? '127.0.0.1';
  const path = options.path ?? '/callback';
  const open = options.open ?? openInBrowser;
  return {
    async prepare({ preferred }) {
      const server = nodeHttp().createServer({ requestTimeout: 10_000, maxHeaderSize: 16_384 });
      const wanted = options.port ?? portOf(preferred, host, path);
      await listen(server, wanted).catch((error: NodeJS.ErrnoException) => {
        // Another process has the earlier port: take any, which needs a new registration.
        if (options.port === undefined && wanted !== 0 && error.code === 'EADDRINUSE') return listen(server, 0);
        throw authErrors.configuration(`cannot listen on 127.0.0.1:${wanted} (${error.code ?? error.message})`);
      });
      const { port } = server.address() as AddressInfo;
      return createListener(server, { authority: `${host}:${port}`, path, open, clientName: options.clientName });
    },
  };
}

interface StopContext {
  readonly authority: string;
  readonly path: string;
  readonly open: OpenUrl;
  readonly clientName: string | undefined;
}

function createListener(server: Server, context: StopContext): RedirectListener {
  // Absent before and after the visit.
  let receive: ((parameters: URLSearchParams) => CallbackResult) | undefined;

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const reply = (status: number, outcome: 'done' | 'failed' | 'unexpected', settle?: () => void) =>
      answer(response, status, renderPage(outcome, context.clientName), settle);
    // A name that merely resolves to 127.0.0.1 is another origin's page (DNS rebinding).
    if (request.headers.host !== context.authority) return reply(421, 'unexpected');
    const target = targetOf(request, context.authority);
    if (target?.pathname !== context.path) return reply(404, 'unexpected');
    if (request.method !== 'GET') return reply(405, 'unexpected');
    if (receive === undefined) return reply(410, 'unexpected');
    const outcome = receive(target.searchParams);
    // The page is sent before the listener closes, so that the browser does not show a broken connection.
    reply(outcome.status, outcome.outcome, outcome.settle);
  });

  return {
    redirectUri: `http://${context.authority}${context.path}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    visit: ({ url, signal, validate }) =>
      new Promise<URLSearchParams>((resolve, reject) => {
        const onAbort = () => end(() => reject(signal.reason))();
        const end = (settle: () => void) => () => {
          receive = undefined;
          signal.removeEventListener('abort', onAbort);
          settle();
        };
        receive = (parameters) => {
          try {
            validate(parameters);
            return { status: 200, outcome: 'done', settle: end(() => resolve(parameters)) };
          } catch (error) {
            if (isForeign(error)) return { status: 400, outcome: 'unexpected', settle: () => {} };
            return { status: 400, outcome: 'failed', settle: end(() => reject(error)) };
          }
        };
        if (signal.aborted) return onAbort();
        signal.addEventListener('abort', onAbort, { once: true });
        try {
          context.open(url);
        } catch (error) {
          end(() => reject(error))();
        }
      }),
  };
}

/** What a callback is answered with, and what happens once that is sent. */
interface CallbackResult {
  readonly status: number;
  readonly outcome: 'done' | 'failed' | 'unexpected';
  readonly settle: () => void;
}

/** Not a response to our request, so it must not end the wait, however often it arrives. */
function isForeign(error: unknown): boolean {
  return error instanceof AuthError && error.isForeignResponse;
}

/** Only the plain form of a target; "//host/…" and absolute forms are for proxies. */
function targetOf(request: IncomingMessage, authority: string): URL | undefined {
  const path = request.url ?? '';
  return path.startsWith('/') && !path.startsWith('//') && URL.canParse(`http://${authority}${path}`)
    ? new URL(`http://${authority}${path}`)
    : undefined;
}

function answer(response: ServerResponse, status: number, page: string, settle?: () => void): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  // A browser that closes the connection early has still sent its request.
  if (settle !== undefined) response.once('close', settle);
  response.end(page);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

/** The port of an earlier redirect URI, if that URI could be ours. */
function portOf(preferred: string | undefined, host: string, path: string): number {
  if (preferred === undefined || !URL.canParse(preferred)) return 0;
  const url = new URL(preferred);
  return url.protocol === 'http:' && url.hostname === host && url.pathname === path ? Number(url.port) : 0;
}
