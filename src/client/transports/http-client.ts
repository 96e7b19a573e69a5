// Requests to one server over HTTP: credentials, redirects within its origin, bounded bodies, failures as client errors. Both
// HTTP transports send through it; what travels is theirs.

import { JoinedBytes } from '../../common/joined-bytes.ts';
import { parseJson } from '../../common/parse-json.ts';
import { retryAfterMs } from '../../common/retry-after.ts';
import { toBuffer } from '../../common/to-buffer.ts';
import { isErrorObject, isObject, type JsonRpcErrorObject } from '../../protocol/json-rpc.ts';
import { ProxyError } from '../../transports/proxy/environment.ts';
import type { AuthorizationHeaders, Authorizer } from '../auth/authorizer.ts';
import { type ClientError, clientErrors, type ServerErrorInfo } from '../errors.ts';
import type { ConnectOptions } from '../options.ts';
import { clean } from '../untrusted-text.ts';
import { sendAuthorized } from './authorized.ts';
import { createWire, type HttpReply, type HttpWire, type OutgoingHttpRequest } from './http-wire.ts';
import { decodeLongBody, LongBodies, type LongBody } from './long-bodies.ts';
import { isNoTls, noTls } from './no-tls.ts';
import type { TransportListener } from './transport.ts';

/** Messages without a response that are being posted, beyond which those that are droppable are left out. */
export const maxPosted = 256;

/** A request of a transport; host, credentials and fixed headers are added here. */
export interface HttpSend extends Omit<OutgoingHttpRequest, 'url'> {
  /** What is being done, for messages. */
  readonly what: string;
  /** Default: the endpoint. */
  readonly url?: URL;
  /** Is called with a function that aborts, each time something is sent. */
  readonly onSent?: (abort: () => void) => void;
}

/** Enough for a trailing slash and a move; a loop ends here. */
const maxRedirects = 3;
/** Error bodies are only read for their message. */
const maxErrorBytes = 64 * 1024;

/** Sends to one server. */
export class HttpClient {
  #url: URL;
  readonly #wire: HttpWire;
  readonly #authorizer: Authorizer | undefined;
  readonly #headers: readonly string[];
  readonly #listener: TransportListener;
  readonly #name: string | undefined;

  private constructor(url: URL, wire: HttpWire, options: ConnectOptions, listener: TransportListener) {
    this.#url = url;
    this.#wire = wire;
    this.#listener = listener;
    this.#authorizer = options.authorizer;
    this.#name = options.serverName;
    this.#headers = Object.entries(options.headers ?? {}).flat();
  }

  static async create(url: URL, options: ConnectOptions, listener: TransportListener): Promise<HttpClient> {
    try {
      return new HttpClient(url, await createWire(url, options.fetch), options, listener);
    } catch (error) {
      if (error instanceof ProxyError) throw clientErrors.configuration(error.message, error);
      throw error;
    }
  }

  /** The version of HTTP; undefined if the application brings its own `fetch`, which does not say. */
  get httpVersion(): string | undefined {
    return this.#wire.httpVersion;
  }

  /** The endpoint, which may have moved within its origin. */
  get url(): URL {
    return this.#url;
  }

  /** What messages call the server. */
  get #server(): string {
    return this.#name ?? this.#url.href;
  }

  /** Sends a request; rejects with a `ClientError` or an `AuthError`. A reply of any status but a redirect resolves. */
  send(outgoing: HttpSend): Promise<HttpReply> {
    const authorizer = this.#authorizer;
    const url = outgoing.url ?? this.#url;
    if (authorizer === undefined) return this.#sendTo(url, outgoing, this.#headers);
    return sendAuthorized<HttpReply>({
      authorizer,
      url,
      method: outgoing.method,
      hold: () => this.#listener.pauseTimeouts(),
      onSent: outgoing.onSent,
      send: (credentials, onSent) =>
        this.#sendTo(url, { ...outgoing, onSent }, [...this.#headers, ...toList(credentials)]),
      discard: (reply) => reply.discard(),
    });
  }

  close(): void {
    this.#wire.close();
  }

  #sendTo(start: URL, outgoing: HttpSend, further: readonly string[]): Promise<HttpReply> {
    const { method, body, long } = outgoing;
    const headers = further.length === 0 ? outgoing.headers : [...outgoing.headers, ...further];
    return new Promise((resolve, reject) => {
      const attempt = (url: URL, hops: number): void => {
        const abort = this.#wire.send(
          { method, url, headers, body, long },
          {
            reply: (reply) => {
              const { status } = reply;
              const location = status >= 300 && status < 400 ? reply.header('location') : undefined;
              if (location === undefined) {
                // A move of the endpoint is remembered.
                if (hops > 0 && start === this.#url) this.#url = url;
                resolve(reply);
                return;
              }
              reply.discard();
              try {
                attempt(this.#checkRedirect(url, location, status, hops), hops + 1);
              } catch (error) {
                reject(error);
              }
            },
            error: (error) => reject(this.#explain(error)),
          },
        );
        outgoing.onSent?.(abort);
      };
      attempt(start, 0);
    });
  }

  /** Where a redirect may lead: the same origin, with the same method. Credentials and messages go nowhere else. */
  #checkRedirect(from: URL, location: string, status: number, hops: number): URL {
    const server = this.#server;
    if (!URL.canParse(location, from.href)) throw clientErrors.redirect(server, location, 'that is not a URL');
    const to = new URL(location, from);
    if (to.origin !== this.#url.origin) {
      throw clientErrors.redirect(
        server,
        to.href,
        'redirects to another origin are not followed; connect to that URL directly if you trust it',
      );
    }
    if (status === 303) throw clientErrors.redirect(server, to.href, 'a message cannot be delivered by GET');
    if (hops >= maxRedirects) throw clientErrors.redirect(server, to.href, `more than ${maxRedirects} redirects`);
    return to;
  }

  #explain(error: unknown): ClientError {
    if (error instanceof ProxyError) return clientErrors.unreachable(this.#server, error.message, error);
    const { cause, message } = error as Error & { cause?: unknown };
    const code = codeOf(error);
    if (code?.startsWith('ERR_INVALID_') || code === 'ERR_HTTP_INVALID_HEADER_VALUE') {
      return clientErrors.configuration(`A header cannot be sent: ${message}`, error);
    }
    const inner = cause instanceof Error ? cause : undefined;
    const known = code ?? codeOf(inner);
    const why = inner?.message || message || known || 'no reason given';
    if (isNoTls(error)) return clientErrors.unreachable(this.#server, noTls(this.#url), error);
    const unsent = known !== undefined && neverArrived.includes(known);
    return unsent
      ? clientErrors.unreachable(this.#server, why, error)
      : clientErrors.lost(this.#server, why, '', error);
  }
}

/** The code of an error of Node; what `fetch` throws when it is aborted has a number. */
function codeOf(error: unknown): string | undefined {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Failures before anything could have reached the server. */
const neverArrived = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
];

function toList(headers: AuthorizationHeaders): string[] {
  return Object.entries(headers).flat();
}

/** Reads a body as text; undefined when it is larger than allowed. Rejects when it is not complete. */
export function readText(
  reply: HttpReply,
  maxBytes: number,
  longBodies = new LongBodies(),
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    /** The only chunk, as most bodies have one. */
    let whole: Uint8Array | undefined;
    let joined: JoinedBytes | undefined;
    let size = 0;
    let long: LongBody | undefined;
    reply.read({
      chunk(bytes) {
        if (size > maxBytes) return undefined;
        size += bytes.length;
        if (size > maxBytes) {
          resolve(undefined);
          whole = joined = undefined;
          long?.end();
          long = undefined;
          reply.discard();
          return undefined;
        }
        if (size === bytes.length) whole = bytes;
        else {
          joined ??= new JoinedBytes();
          if (whole !== undefined) joined.add(whole);
          whole = undefined;
          joined.add(bytes);
        }
        if (long !== undefined || !longBodies.isLong(size)) return undefined;
        long = longBodies.begin();
        return long.turn;
      },
      end(error) {
        if (error !== undefined) {
          long?.end();
          reject(error);
          return;
        }
        const bytes = toBuffer(whole ?? joined?.join() ?? new Uint8Array(0));
        if (long === undefined) resolve(bytes.toString('utf8'));
        else void decodeLongBody(bytes).then(resolve, reject).finally(long.end);
      },
    });
  });
}

/** The media type of a reply, without parameters. */
export function mediaType(reply: HttpReply): string {
  const type = reply.header('content-type') ?? '';
  return type === 'application/json' ? type : (type.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** The error for a response with an error status. `session`: the request was sent within a session. */
export async function toErrorInfo(
  server: string,
  what: string,
  reply: HttpReply,
  session: boolean,
): Promise<ClientError> {
  const { status } = reply;
  const body = (await readText(reply, maxErrorBytes).catch(() => undefined)) ?? '';
  const error = errorIn(body);
  const retryAfter = retryAfterMs(reply.header('retry-after'));
  const info: ServerErrorInfo = {
    status,
    ...(error === undefined
      ? { message: clean(body, 200) }
      : { code: error.code, message: error.message, data: error.data }),
    ...(retryAfter === undefined ? {} : { retryAfterMs: retryAfter }),
  };
  if (status === 401 || (status === 403 && error === undefined)) return clientErrors.unauthorized(server, info);
  if (session && (status === 404 || rejectsSession(info))) return clientErrors.sessionLost(server, info);
  return error === undefined ? clientErrors.http(server, what, info) : clientErrors.serverRejected(what, error, info);
}

/** Examples and earlier versions of the official SDKs respond with 400, not 404, to a session that they do not know. */
function rejectsSession({ status, message = '' }: ServerErrorInfo): boolean {
  return status === 400 && unknownSession.test(message);
}

const unknownSession =
  /no valid session|(invalid|unknown)( or missing)? session|session (id )?(not found|expired)|server not initialized/i;

function errorIn(body: string): JsonRpcErrorObject | undefined {
  // Undefined for an HTML page or plain text, which is shown unchanged.
  const value = parseJson(body);
  const error = isObject(value) ? value['error'] : undefined;
  return isErrorObject(error) ? error : undefined;
}
