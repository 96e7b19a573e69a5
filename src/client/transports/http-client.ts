// One server over HTTP: credentials, redirects within its origin, bounded bodies, and failures as errors of ours. Both
// HTTP transports send through it; what travels is theirs.

import { isObject, type JsonRpcErrorObject } from '../../protocol/json-rpc.ts';
import { type AuthorizationHeaders, type Authorizer, headerOf } from '../auth/authorizer.ts';
import { withAuthorization } from '../auth/with-authorization.ts';
import { ClientError, clientErrors, type ServerSaid } from '../errors.ts';
import { clean } from '../foreign-text.ts';
import type { ConnectOptions } from '../options.ts';
import { createWire, type HttpExchange, type HttpReply, type HttpRequest, type HttpWire } from './http-wire.ts';

/** A request as a transport words it; host, credentials and fixed headers are added here. */
export interface Errand extends Omit<HttpRequest, 'url'> {
  /** What is being done, for messages. */
  readonly what: string;
  /** Default: the endpoint. */
  readonly url?: URL;
  /** Told how to give up, each time something is sent. */
  readonly onSent?: (abort: () => void) => void;
}

/** Enough for a trailing slash and a move; a loop ends here. */
const maxRedirects = 3;
/** Error bodies are read for what they say, not for their own sake. */
const maxErrorBytes = 64 * 1024;

export class HttpClient {
  #url: URL;
  readonly #wire: HttpWire;
  readonly #authorizer: Authorizer | undefined;
  readonly #headers: readonly string[];

  private constructor(url: URL, wire: HttpWire, options: ConnectOptions) {
    this.#url = url;
    this.#wire = wire;
    this.#authorizer = options.authorizer;
    this.#headers = Object.entries(options.headers ?? {}).flat();
  }

  static async create(url: URL, options: ConnectOptions): Promise<HttpClient> {
    return new HttpClient(url, await createWire(url, options.fetch), options);
  }

  /** The endpoint, which may have moved within its origin. */
  get url(): URL {
    return this.#url;
  }

  /** Sends a request; rejects with a `ClientError` or an `AuthError`. A reply of any status but a redirect resolves. */
  async send(errand: Errand): Promise<HttpReply> {
    try {
      const authorizer = this.#authorizer;
      if (authorizer === undefined) return await this.#sendTo(errand.url ?? this.#url, errand, []);
      const url = errand.url ?? this.#url;
      return await withAuthorization(
        authorizer,
        url,
        { method: errand.method },
        (credentials) => this.#sendTo(url, errand, toList(credentials)),
        (reply) => reply.discard(),
      );
    } catch (error) {
      throw this.#explain(error);
    }
  }

  close(): void {
    this.#wire.close();
  }

  async #sendTo(start: URL, errand: Errand, credentials: readonly string[]): Promise<HttpReply> {
    const { method, body, long, onSent } = errand;
    const headers = [...errand.headers, ...this.#headers, ...credentials];
    let url = start;
    for (let hops = 0; ; hops++) {
      const exchange: HttpExchange = this.#wire.send({
        method,
        url,
        headers,
        ...(body === undefined ? {} : { body }),
        ...(long === undefined ? {} : { long }),
      });
      onSent?.(exchange.abort);
      const reply = await exchange.reply;
      const { status } = reply;
      const location = status >= 300 && status < 400 ? headerOf(reply.headers, 'location') : undefined;
      if (location === undefined) {
        // A permanent move of the endpoint is remembered.
        if (hops > 0 && start === this.#url) this.#url = url;
        return reply;
      }
      reply.discard();
      url = this.#checkRedirect(url, location, status, hops);
    }
  }

  /** Where a redirect may lead: the same origin, with the same method. Credentials and messages go nowhere else. */
  #checkRedirect(from: URL, location: string, status: number, hops: number): URL {
    const server = this.#url.href;
    if (!URL.canParse(location, from.href)) throw clientErrors.redirect(server, location, 'that is not a URL');
    const to = new URL(location, from);
    if (to.origin !== this.#url.origin) {
      throw clientErrors.redirect(
        server,
        to.href,
        'another origin is never followed; connect to it directly if it is meant',
      );
    }
    if (status === 303) throw clientErrors.redirect(server, to.href, 'a message can not be delivered by GET');
    if (hops >= maxRedirects) throw clientErrors.redirect(server, to.href, `more than ${maxRedirects} redirects`);
    return to;
  }

  #explain(error: unknown): unknown {
    if (error instanceof ClientError || isAuthError(error)) return error;
    const { code, cause, message } = error as NodeJS.ErrnoException & { cause?: unknown };
    if (code?.startsWith('ERR_INVALID_') || code === 'ERR_HTTP_INVALID_HEADER_VALUE') {
      return clientErrors.configuration(`A header can not be sent: ${message}`, error);
    }
    const inner = cause instanceof Error ? (cause as NodeJS.ErrnoException) : undefined;
    const known = code ?? inner?.code;
    const why = inner?.message || message || known || 'no reason given';
    const unsent = known !== undefined && neverArrived.includes(known);
    return unsent
      ? clientErrors.unreachable(this.#url.href, why, error)
      : clientErrors.lost(this.#url.href, why, '', error);
  }
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

function isAuthError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AuthError';
}

function toList(headers: AuthorizationHeaders): string[] {
  return Object.entries(headers).flat();
}

/** Reads a body as text; undefined when it is larger than allowed. Rejects when it is not complete. */
export function readText(reply: HttpReply, maxBytes: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    reply.read({
      chunk(bytes) {
        size += bytes.length;
        if (size <= maxBytes) chunks.push(bytes);
        else {
          resolve(undefined);
          chunks.length = 0;
          reply.discard();
        }
      },
      end(error) {
        if (error !== undefined) reject(error);
        else if (chunks.length === 1) resolve(textOf(chunks[0] as Uint8Array));
        else resolve(Buffer.concat(chunks).toString('utf8'));
      },
    });
  });
}

const textOf = (bytes: Uint8Array): string =>
  (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).toString('utf8');

/** The media type of a reply, without parameters. */
export function mediaType({ headers }: HttpReply): string {
  return (headerOf(headers, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** A reply that is a refusal, as an error. `session`: it was sent within one. */
export async function toRefusal(
  server: string,
  what: string,
  reply: HttpReply,
  session: boolean,
): Promise<ClientError> {
  const { status } = reply;
  const body = (await readText(reply, maxErrorBytes).catch(() => undefined)) ?? '';
  const error = errorIn(body);
  const retryAfter = retryAfterMs(headerOf(reply.headers, 'retry-after'));
  const said: ServerSaid = {
    status,
    ...(error === undefined
      ? { message: clean(body, 200) }
      : { code: error.code, message: error.message, data: error.data }),
    ...(retryAfter === undefined ? {} : { retryAfterMs: retryAfter }),
  };
  if (status === 401 || (status === 403 && error === undefined)) return clientErrors.unauthorized(server, said);
  if (status === 404 && session) return clientErrors.sessionLost(server, said);
  return error === undefined ? clientErrors.http(server, what, said) : clientErrors.refused(what, error, status);
}

function errorIn(body: string): JsonRpcErrorObject | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const error = isObject(value) ? value['error'] : undefined;
    const isError = isObject(error) && typeof error['code'] === 'number' && typeof error['message'] === 'string';
    return isError ? (error as unknown as JsonRpcErrorObject) : undefined;
  } catch {
    return undefined; // A page or plain words: shown as they are.
  }
}

function retryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(at - Date.now(), 0);
}
