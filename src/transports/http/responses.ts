// The responses of the endpoint that are not long-lived event streams: a JSON text, one event, nothing, or an error.

import type { Logger } from '../../common/logger.ts';
import { WireError, wireErrors } from '../../protocol/errors.ts';
import type { SessionHost } from '../../protocol/exchange.ts';
import { errorText, isRequestId } from '../../protocol/json-rpc.ts';
import type { RequestId } from '../../protocol/model.ts';
import type { ExceededLimit } from './endpoint-state.ts';
import type { BodyError, HeaderList, HttpExchange } from './exchange.ts';
import type { Post } from './post.ts';
import { eventStreamHeaders, eventText } from './streams/event-stream.ts';

export const jsonHeaders: HeaderList = ['Content-Type', 'application/json'];
const noHeaders: HeaderList = [];

/** Whether a message, or one of a batch, is a request. If it gets no response, it was cancelled. */
function expectsResponse(message: unknown): boolean {
  if (Array.isArray(message)) return message.some(expectsResponse);
  const { id, method } = (message ?? {}) as { readonly id?: unknown; readonly method?: unknown };
  return id !== undefined && method !== undefined;
}

/** The ids of the requests in a message, or in a batch of them. */
export function requestIds(message: unknown): RequestId[] {
  if (Array.isArray(message)) return message.flatMap(requestIds);
  const { id, method } = (message ?? {}) as { readonly id?: unknown; readonly method?: unknown };
  return method !== undefined && isRequestId(id) ? [id] : [];
}

/** Responds to a POST that has no stream. `text` undefined: there is nothing to respond. */
export function respond(post: Post, text: string | undefined, status = 200, more: HeaderList = noHeaders): void {
  const { exchange, accepts, message } = post;
  if (text !== undefined && !exchange.hasRoomFor(text.length)) {
    exchange.respond(503, [...jsonHeaders, 'Retry-After', '1'], unreadText(message));
  } else if (text === undefined) {
    // A cancelled request gets no response, but its POST has to end: with an empty stream.
    if (expectsResponse(message)) exchange.respond(200, eventStreamHeaders, '');
    else exchange.respond(202, noHeaders);
  } else if (accepts === 'stream' && status === 200) {
    exchange.respond(200, more.length === 0 ? eventStreamHeaders : [...eventStreamHeaders, ...more], eventText(text));
  } else exchange.respond(status, more.length === 0 ? jsonHeaders : [...jsonHeaders, ...more], text);
}

/** In place of a response that is not buffered, because the client has not read those before it. */
function unreadText(message: unknown): string {
  const [id = null] = Array.isArray(message) ? [] : requestIds(message);
  return errorText(id, wireErrors.tooMuchUnread());
}

/** Error responses to requests that do not reach the engine. */
export class ErrorResponses {
  readonly #host: SessionHost;
  readonly #logger: Logger;
  readonly #hasAliases: boolean;
  readonly #sessionHeaders: readonly string[];

  /** `aliases`: additional names of the session id header, for clients of a profile that do not know the official one. */
  constructor(host: SessionHost, logger: Logger, aliases?: readonly string[]) {
    this.#host = host;
    this.#logger = logger;
    this.#hasAliases = aliases !== undefined;
    this.#sessionHeaders = ['mcp-session-id', ...(aliases ?? []).map((alias) => alias.toLowerCase())];
  }

  /** Responds with an error that belongs to no request. */
  sendError(exchange: HttpExchange, status: number, error: WireError, headers: HeaderList = noHeaders): void {
    const text = this.#host.errorText(error, (name) => exchange.get(name));
    exchange.respond(status, [...jsonHeaders, 'Cache-Control', 'no-store', ...headers], text);
  }

  notFound(exchange: HttpExchange): void {
    this.sendError(exchange, 404, wireErrors.transport('Not Found: nothing is served at this path'));
  }

  notAllowed(exchange: HttpExchange, allow: string): void {
    this.sendError(exchange, 405, wireErrors.transport('Method not allowed.'), ['Allow', allow]);
  }

  notAcceptable(exchange: HttpExchange, types: string): void {
    this.sendError(exchange, 406, wireErrors.transport(`Not Acceptable: Client must accept ${types}`));
  }

  notJson(exchange: HttpExchange): void {
    this.sendError(
      exchange,
      415,
      wireErrors.transport('Unsupported Media Type: Content-Type must be application/json'),
    );
  }

  /** A body with an unsupported encoding; RFC 9110 §15.5.16 requires to name the supported ones. */
  unsupportedEncoding(exchange: HttpExchange, encoding: string): void {
    const shown = encoding.length > 40 ? `${encoding.slice(0, 40)}…` : encoding;
    const message = `Unsupported Media Type: Content-Encoding ${shown} is not supported; send the body uncompressed`;
    this.sendError(exchange, 415, wireErrors.transport(message), ['Accept-Encoding', 'identity']);
  }

  /** A body that could not be read. */
  unreadable(exchange: HttpExchange, { reason }: BodyError, maxBytes: number): void {
    if (reason === 'too-large') this.sendError(exchange, 413, wireErrors.tooLarge(maxBytes));
    else if (reason === 'busy') this.busy(exchange, 'too many bytes are buffered');
    else if (reason === 'read-before') this.#readBefore(exchange);
    else this.sendError(exchange, 400, wireErrors.parse('the body is not UTF-8'));
  }

  /** A body that the application has read, so that nothing is left of it. */
  #readBefore(exchange: HttpExchange): void {
    this.#logger.error(
      'a request could not be served: the application has read its body. Pass on what it has parsed as request.body ' +
        '(toNodeHandler), or read only a copy, request.clone() (toFetch)',
      { path: exchange.path },
    );
    const message = 'Internal Server Error: the application has read the body of this request';
    this.sendError(exchange, 500, wireErrors.transport(message));
  }

  limitExceeded(exchange: HttpExchange, limit: ExceededLimit): void {
    this.busy(
      exchange,
      limit === 'requests' ? 'too many requests are in flight' : 'too many responses wait to be read',
    );
  }

  sessionRequired(exchange: HttpExchange): void {
    const isBrowser = exchange.method === 'GET' && exchange.get('accept')?.includes('text/html') === true;
    const hint = isBrowser ? '. This is the endpoint of an MCP server: connect to it with an MCP client' : '';
    const missing = wireErrors.transport(`Bad Request: Mcp-Session-Id header is required${hint}`);
    this.sendError(exchange, 400, this.#hasAliases ? wireErrors.notInitialized() : missing);
  }

  responseWithoutSession(exchange: HttpExchange): void {
    this.sendError(exchange, 400, wireErrors.responseWithoutSession());
  }

  unknownSession(exchange: HttpExchange): void {
    const ids = this.#sessionHeaders.flatMap((name) => exchange.get(name)?.split(',') ?? []);
    if (new Set(ids.map((id) => id.trim())).size > 1) return this.twoSessions(exchange);
    this.sendError(exchange, 404, wireErrors.unknownSession());
  }

  twoSessions(exchange: HttpExchange): void {
    this.sendError(exchange, 400, wireErrors.transport('Bad Request: the request has different session ids; send one'));
  }

  unknownVersion(exchange: HttpExchange, version: string, known: readonly string[]): void {
    const shown = version.length > 40 ? `${version.slice(0, 40)}…` : version;
    const message = `Bad Request: Unsupported protocol version ${shown}; a session may use ${known.join(', ')}`;
    this.sendError(exchange, 400, wireErrors.transport(message));
  }

  busy(exchange: HttpExchange, why: string): void {
    this.sendError(exchange, 503, wireErrors.transport(`Service Unavailable: ${why}`), ['Retry-After', '1']);
  }

  /** The limit of ended sessions that are stored for this caller is reached. */
  tooManyEnded(exchange: HttpExchange, waitMs: number | undefined, effect: string): void {
    const why = 'this client has ended too many sessions, which are stored until they would have expired';
    const seconds = Math.max(1, Math.ceil((waitMs ?? 0) / 1000));
    const error = wireErrors.transport(`Service Unavailable: ${effect}: ${why}`);
    this.sendError(exchange, 503, error, ['Retry-After', String(seconds)]);
  }

  /** Sends an error when asynchronous work for a request fails. */
  catchRejection(exchange: HttpExchange, work: void | Promise<void>): void {
    if (work instanceof Promise) work.catch((error: unknown) => this.failed(exchange, error));
  }

  /** The same for work that runs in a later turn of the event loop, where an exception would end the process. */
  catchError(exchange: HttpExchange, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.failed(exchange, error);
    }
  }

  /** A request that could not be served because of an unexpected error: the client gets a 500, the log gets the cause. */
  failed(exchange: HttpExchange, error: unknown): void {
    const { http } = error instanceof WireError ? error : {};
    if (http === undefined) this.#logger.error('a request could not be served', { path: exchange.path, error });
    else this.#logger.debug('a request could not be served', { path: exchange.path, error });
    try {
      if (http !== undefined) return this.sendError(exchange, http.status, error as WireError, http.headers);
      this.sendError(exchange, 500, wireErrors.internal());
    } catch (again) {
      this.#logger.error('an error response could not be sent', { path: exchange.path, error: again });
    }
    exchange.abort();
  }
}
