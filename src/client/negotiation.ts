// Opens a connection to a server whose revision is not known: tries the newest one first, then what the response suggests.
// Follows the section on versioning of 2026-07-28, and what deployed servers really do.

import { errorRows } from '../protocol/errors.ts';
import { methods } from '../protocol/methods.ts';
import type { JsonObject } from '../protocol/model.ts';
import type { ClientCodec, ClientRevisions, Opened } from '../protocol/revisions/client-revisions.ts';
import { OutgoingCall } from './calls/outgoing-call.ts';
import type { ClientConnection } from './connection.ts';
import type { EraCache, ServerEra } from './era-cache.ts';
import { ClientError, type ClientErrorCode, clientErrors } from './errors.ts';
import type { ClientLimits } from './options.ts';

/** What is needed to open, and to open again. */
export interface NegotiationOptions {
  readonly address: string;
  readonly revisions: ClientRevisions;
  readonly limits: ClientLimits;
  readonly eraCache: EraCache | undefined;
  /** The key of the server in that cache. */
  readonly eraKey: string | undefined;
  /** Connects a fresh transport; the second kind is the old transport of two endpoints, where the target may have it. */
  readonly dial: (kind: 'usual' | 'sse') => Promise<ClientConnection>;
  readonly hasSse: boolean;
  /** What was attempted before at the address that was given, when this is about another path of the same origin. */
  readonly tried: readonly string[];
  /** The other URL, for the error message; empty for the address that was given. */
  readonly path: string;
  readonly signal: AbortSignal;
}

/** How long a server may take to end, and again after SIGTERM, when there is no time left. */
export const hurriedGraceMs = 250;

type NegotiationProbe = 'open' | 'handshake' | 'silent' | 'gone';

/** Statuses after which a URL may still belong to the old transport of two endpoints. */
const sseStatuses = [400, 404, 405];
/** Statuses with which a web server reports that a path accepts no messages. */
const absentStatuses = [404, 405];
/** Failures that do not show which revisions a server supports: negotiating again would only repeat them. */
const unrelatedToEra: readonly ClientErrorCode[] = [
  'configuration',
  'spawn-failed',
  'connect-failed',
  'redirect-rejected',
  'unauthorized',
];

/** One attempt to open a connection, with everything that may be tried on the way. */
export class Negotiation {
  readonly #options: NegotiationOptions;
  readonly #tried: string[];
  #absent = false;
  #current: ClientConnection | undefined;
  /** The previous connection, which may still be closing. */
  #ending: ClientConnection | undefined;
  /** Why the probe failed. */
  #probeError: ClientError | undefined;

  constructor(options: NegotiationOptions) {
    this.#options = options;
    this.#tried = [...options.tried];
  }

  /** What was attempted so far, in order. */
  get tried(): readonly string[] {
    return this.#tried;
  }

  /** Whether the last message was rejected as if this URL accepted no messages. */
  get absent(): boolean {
    return this.#absent;
  }

  /** The open connection; rejects with a `ClientError` that lists what was tried. */
  async run(): Promise<ClientConnection> {
    const { signal } = this.#options;
    const stop = (): void => {
      for (const each of [this.#current, this.#ending]) void each?.close(signal.reason as ClientError, hurriedGraceMs);
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      const known = this.#rememberedEra();
      try {
        return await this.#open(known);
      } catch (error) {
        if (known === undefined || signal.aborted || !mayDependOnEra(error)) throw error;
        // What was true once need not be any more: find out from the beginning.
        this.#rememberedEra(null);
        await this.#close();
        return await this.#open(undefined);
      }
    } catch (error) {
      const stderr = this.#current?.transport.stderr;
      await this.#close();
      throw signal.aborted ? this.#interrupted(signal.reason, stderr) : this.#explain(error, stderr);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async #open(remembered: ServerEra | undefined): Promise<ClientConnection> {
    const connection = await this.#find(remembered);
    // An abort during the last step has closed it already.
    if (this.#options.signal.aborted) throw this.#options.signal.reason;
    return connection;
  }

  async #find(remembered: ServerEra | undefined): Promise<ClientConnection> {
    const { revisions, hasSse } = this.#options;
    // A client without handshake revisions tries the newest revision whatever is remembered of the server.
    const known = revisions.handshake.length === 0 ? undefined : remembered;
    if (known === 'sse' && hasSse) return this.#openSse();
    let connection = await this.#dial('usual');
    const [newest] = revisions.stateless;
    let probe: NegotiationProbe | undefined;
    if (newest !== undefined && known !== 'handshake') {
      probe = await this.#probe(connection, newest);
      if (probe === 'open') {
        this.#rememberedEra('stateless');
        return connection;
      }
      if (revisions.handshake.length === 0) throw this.#noHandshake(newest, probe);
      if (probe === 'gone') connection = await this.#redial();
    }
    try {
      await this.#initialize(connection, probe === 'silent' ? this.#options.limits.probeTimeoutMs * 2 : undefined);
    } catch (error) {
      if (hasSse && error instanceof ClientError && sseStatuses.includes(error.serverError?.status ?? 0)) {
        await this.#close();
        return this.#openSse();
      }
      // Some servers neither answer nor survive a first request they do not know, and some close the connection after they have
      // rejected it: once more, without it.
      const isLost = probe !== undefined && error instanceof ClientError && error.code === 'connection-lost';
      if ((probe !== 'silent' && !isLost) || this.#options.signal.aborted) throw error;
      connection = await this.#redial();
      await this.#initialize(connection);
    }
    // A client that could not use a newer revision has found out nothing about it.
    if (newest !== undefined) this.#rememberedEra('handshake');
    return connection;
  }

  /** What is remembered of the server; `null` forgets it. */
  #rememberedEra(found?: ServerEra | null): ServerEra | undefined {
    const { eraCache, eraKey: key } = this.#options;
    if (eraCache === undefined || key === undefined) return undefined;
    if (found === null) eraCache.forget(key);
    else if (found !== undefined) eraCache.remember(key, found);
    return eraCache.get(key);
  }

  async #openSse(): Promise<ClientConnection> {
    const connection = await this.#dial('sse').catch((error: unknown) => {
      if (error instanceof ClientError) this.#tried.push(`GET${this.#at} (HTTP+SSE): ${error.message}`);
      throw error;
    });
    await this.#initialize(connection);
    this.#rememberedEra('sse');
    return connection;
  }

  /** Tries the newest revision and classifies the response. */
  async #probe(connection: ClientConnection, codec: ClientCodec, again = true): Promise<NegotiationProbe> {
    const { revisions, limits } = this.#options;
    const isHttp = connection.transport.setBinding !== undefined;
    connection.transport.setBinding?.(codec.http);
    try {
      const timeoutMs = isHttp ? limits.timeoutMs : limits.probeTimeoutMs;
      const opened = revisions.readDiscover(await this.#ask(connection, codec, methods.discover.name, timeoutMs));
      if (!opened.ok) {
        this.#note(methods.discover.name, codec, opened.why);
        return 'handshake';
      }
      this.#settle(connection, opened);
      return 'open';
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      return this.#classifyError(connection, codec, error, again, isHttp);
    }
  }

  async #classifyError(
    connection: ClientConnection,
    codec: ClientCodec,
    error: ClientError,
    again: boolean,
    isHttp: boolean,
  ): Promise<NegotiationProbe> {
    const { revisions, address } = this.#options;
    const { code: kind, serverError } = error;
    this.#note(methods.discover.name, codec, this.#outcome(connection, error), error);
    this.#probeError = error;
    if (kind === 'server-error' && serverError?.code !== undefined) {
      const hint = revisions.hint({
        code: serverError.code,
        message: serverError.message ?? '',
        data: serverError.data,
      });
      if (hint.kind === 'retry' && again) return this.#probe(connection, hint.codec, false);
      if (hint.kind === 'no-overlap') {
        const why = `the server supports ${hint.supported.join(', ')}`;
        throw clientErrors.unsupportedRevision(address, why, this.#tried, serverError);
      }
      if (hint.kind === 'handshake') return 'handshake';
      throw error;
    }
    if (!isHttp) {
      if (connection.over !== undefined) return 'gone';
      return kind === 'timeout' ? 'silent' : 'handshake';
    }
    // An error without a code of the newest revision is how older servers report that they do not know it. Anything
    // else (a network that fails, a server that is down) says nothing about the revision.
    const rejected = kind === 'http-error' && (serverError?.status ?? 500) < 500 && serverError?.status !== 429;
    // Some gateways answer 401 or 403 to a method that they do not know, whatever the credentials. What authorizers can do
    // about a challenge has been done.
    if (rejected || kind === 'unauthorized' || kind.startsWith('invalid-')) return 'handshake';
    throw error;
  }

  async #initialize(connection: ClientConnection, timeoutMs?: number): Promise<void> {
    const { revisions, address, limits } = this.#options;
    const [newest] = revisions.handshake as readonly [ClientCodec];
    const { transport } = connection;
    // The version header is negotiated by initialize, so it is not sent with it.
    transport.setBinding?.({ ...newest.http, headers: [] });
    const wait = timeoutMs ?? limits.connectTimeoutMs;
    const result = await this.#ask(connection, newest, methods.initialize.name, wait).catch((error: unknown) => {
      if (error instanceof ClientError) {
        this.#note(methods.initialize.name, newest, this.#outcome(connection, error), error);
      }
      throw error;
    });
    const opened = revisions.readInitialize(result);
    if (!opened.ok) {
      this.#note(methods.initialize.name, newest, opened.why);
      throw clientErrors.unsupportedRevision(address, opened.why, this.#tried);
    }
    this.#settle(connection, opened);
    connection.notify('notifications/initialized');
    await transport.ready?.();
  }

  #settle(connection: ClientConnection, { codec, facts }: Extract<Opened, { ok: true }>): void {
    connection.codec = codec;
    connection.facts = facts;
    connection.transport.setBinding?.(codec.http);
  }

  #ask(connection: ClientConnection, codec: ClientCodec, method: string, timeoutMs: number): Promise<JsonObject> {
    const call = new OutgoingCall({ name: method }, codec.openingFields(), (result) => result, { timeoutMs });
    const answer = call.begin<JsonObject>(undefined, () => {});
    connection.send(call, codec);
    return answer;
  }

  async #dial(kind: 'usual' | 'sse'): Promise<ClientConnection> {
    const { dial, signal } = this.#options;
    if (signal.aborted) throw signal.reason;
    const connection = await dial(kind);
    this.#current = connection;
    if (!signal.aborted) return connection;
    await this.#close();
    throw signal.reason;
  }

  async #redial(): Promise<ClientConnection> {
    await this.#close();
    return this.#dial('usual');
  }

  async #close(): Promise<void> {
    const connection = this.#current;
    this.#current = undefined;
    this.#ending = connection;
    await connection?.close(undefined, this.#options.signal.aborted ? hurriedGraceMs : undefined);
  }

  // Errors.

  /** The outcome of an attempt: the error, or that there was no response in time. */
  #outcome(connection: ClientConnection, error: ClientError): string {
    return this.#options.signal.aborted ? `no response${connection.hint}` : error.message;
  }

  #note(method: string, codec: ClientCodec, outcome: string, error?: ClientError): void {
    const attempt = `${method}${this.#at} (${codec.date}): `;
    // What is tried again on a new connection is listed once, with its last outcome.
    const before = this.#tried.findIndex((each) => each.startsWith(attempt));
    if (before >= 0) this.#tried.splice(before, 1);
    this.#tried.push(attempt + outcome);
    const { status = 0, code } = error?.serverError ?? {};
    // A server that lists allowed methods exists.
    this.#absent = absentStatuses.includes(status) && code !== errorRows.methodNotFound.code && !this.#isUnauthorized;
  }

  /** The newest revision was rejected for want of credentials. */
  get #isUnauthorized(): boolean {
    return this.#probeError?.code === 'unauthorized';
  }

  get #at(): string {
    const { path } = this.#options;
    return path === '' ? '' : ` at ${path}`;
  }

  #noHandshake({ date }: ClientCodec, probe: NegotiationProbe): ClientError {
    if (this.#probeError !== undefined && (probe !== 'handshake' || this.#isUnauthorized)) return this.#probeError;
    const why = `it does not support ${date}, and older revisions are not enabled; tried ${this.#tried.join('; ')}`;
    return clientErrors.unsupportedRevision(this.#options.address, why, this.#tried);
  }

  #interrupted(reason: unknown, stderr: string | undefined): unknown {
    const isLate = reason instanceof ClientError && reason.code === 'connect-timeout';
    return isLate ? clientErrors.connectTimeout(this.#options.address, this.#tried, stderr) : reason;
  }

  #explain(error: unknown, stderr: string | undefined): unknown {
    const { address } = this.#options;
    const tried = this.#tried;
    if (!(error instanceof ClientError)) return error;
    switch (error.code) {
      case 'timeout':
        return clientErrors.connectTimeout(address, tried, stderr);
      case 'server-error':
      case 'http-error':
      case 'invalid-message':
      case 'invalid-result':
        // A server of the newest revision only rejects older ones in some way, and what the user has to do is to sign in.
        if (this.#isUnauthorized) return this.#probeError;
        // Without an attempt the connection itself was rejected, and the error says why.
        if (tried.length === 0) {
          return new ClientError('not-mcp', error.message, { serverError: error.serverError, cause: error });
        }
        return error.code === 'server-error' && !absentStatuses.includes(error.serverError?.status ?? 0)
          ? clientErrors.rejected(address, tried, error.serverError, stderr, error)
          : clientErrors.notMcp(address, tried, error.serverError, stderr, error);
      case 'server-exited':
      case 'connection-lost':
        return new ClientError(error.code, error.message, { tried, stderr: error.stderr, cause: error });
      default:
        return error;
    }
  }
}

/** Whether what failed may have failed because the server is not (any more) what it was taken for. */
function mayDependOnEra(error: unknown): boolean {
  return error instanceof ClientError && !unrelatedToEra.includes(error.code);
}
