// The answers of the endpoint that are no event streams: one JSON text, one event, or nothing at all.

import { type WireError, wireErrors } from '../../protocol/errors.ts';
import type { SessionHost } from '../../protocol/exchange.ts';
import { errorText, isRequestId } from '../../protocol/json-rpc.ts';
import type { Logger } from '../../protocol/logger.ts';
import type { RequestId } from '../../protocol/model.ts';
import type { ExceededLimit } from './endpoint-state.ts';
import type { BodyError, HeaderList, HttpExchange } from './exchange.ts';
import type { Post } from './post.ts';
import { eventStreamHeaders, eventText } from './streams/event-stream.ts';

export const jsonHeaders: HeaderList = ['Content-Type', 'application/json'];
const noHeaders: HeaderList = [];

/** Whether a message, or one of a batch, is a request: then silence means that it was cancelled. */
export function expectsResponse(message: unknown): boolean {
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

/** Turns requests away before the engine sees them. */
export class ErrorResponses {
  readonly #host: SessionHost;
  readonly #logger: Logger;
  readonly #ownHeaders: boolean;
  readonly #sessionHeaders: readonly string[];

  /** `aliases`: sessions are named by headers of the profile too, whose clients know nothing of ours. */
  constructor(host: SessionHost, logger: Logger, aliases?: readonly string[]) {
    this.#host = host;
    this.#logger = logger;
    this.#ownHeaders = aliases !== undefined;
    this.#sessionHeaders = ['mcp-session-id', ...(aliases ?? []).map((alias) => alias.toLowerCase())];
  }

  /** Answers with an error that belongs to no request. */
  sendError(exchange: HttpExchange, status: number, error: WireError, headers: HeaderList = noHeaders): void {
    const text = this.#host.errorText(error, (name) => exchange.get(name));
    exchange.respond(status, [...jsonHeaders, 'Cache-Control', 'no-store', ...headers], text);
  }

  notFound(exchange: HttpExchange): void {
    this.sendError(exchange, 404, wireErrors.transport('Not Found: there is nothing at this path'));
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

  /** A body in an encoding we do not read; RFC 9110 §15.5.16 asks to name those that we do. */
  encoded(exchange: HttpExchange, encoding: string): void {
    const said = encoding.length > 40 ? `${encoding.slice(0, 40)}…` : encoding;
    const message = `Unsupported Media Type: Content-Encoding ${said} is not supported; send the body as it is`;
    this.sendError(exchange, 415, wireErrors.transport(message), ['Accept-Encoding', 'identity']);
  }

  /** A body that could not be read. */
  unreadable(exchange: HttpExchange, { reason }: BodyError, maxBytes: number): void {
    if (reason === 'too-large') this.sendError(exchange, 413, wireErrors.tooLarge(maxBytes));
    else if (reason === 'busy') this.busy(exchange, 'too many bytes wait in memory');
    else this.sendError(exchange, 400, wireErrors.parse('the body is not UTF-8'));
  }

  limitExceeded(exchange: HttpExchange, limit: ExceededLimit): void {
    this.busy(exchange, limit === 'requests' ? 'too many requests are in flight' : 'too many answers wait to be read');
  }

  sessionRequired(exchange: HttpExchange): void {
    const deployed = wireErrors.transport('Bad Request: Mcp-Session-Id header is required');
    this.sendError(exchange, 400, this.#ownHeaders ? wireErrors.notInitialized() : deployed);
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
    const said = version.length > 40 ? `${version.slice(0, 40)}…` : version;
    const message = `Bad Request: Unsupported protocol version ${said}; this session may speak ${known.join(', ')}`;
    this.sendError(exchange, 400, wireErrors.transport(message));
  }

  busy(exchange: HttpExchange, why: string): void {
    this.sendError(exchange, 503, wireErrors.transport(`Service Unavailable: ${why}`), ['Retry-After', '1']);
  }

  /** There is no room to remember more ended sessions of this caller. */
  tooManyEnded(exchange: HttpExchange, waitMs: number | undefined, effect: string): void {
    const why = 'too many ended sessions of this client have to be remembered until they would have expired';
    const seconds = Math.max(1, Math.ceil((waitMs ?? 0) / 1000));
    const error = wireErrors.transport(`Service Unavailable: ${effect}: ${why}`);
    this.sendError(exchange, 503, error, ['Retry-After', String(seconds)]);
  }

  /** Sends an error when asynchronous work for a request fails. */
  catchRejection(exchange: HttpExchange, work: void | Promise<void>): void {
    if (work instanceof Promise) work.catch((error: unknown) => this.failed(exchange, error));
  }

  /** A request that could not be served because something broke: the client gets a 500, the log gets the cause. */
  failed(exchange: HttpExchange, error: unknown): void {
    this.#logger.error('a request could not be served', { path: exchange.path, error });
    try {
      this.sendError(exchange, 500, wireErrors.internal());
    } catch (again) {
      this.#logger.error('a failure could not be answered', { path: exchange.path, error: again });
    }
    exchange.abort();
  }
}
