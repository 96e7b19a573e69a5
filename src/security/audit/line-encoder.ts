// Encodes an event as a line of ASCII JSON without its opening brace. chain.ts adds the brace, the number of the line and
// the hash of the group before it.

import type { Logger } from '../../common/logger.ts';
import type { RejectedMessage, RequestEnd } from '../../engine/ports.ts';
import type { Peer } from '../../protocol/exchange.ts';
import { denialReason } from '../denial-reasons.ts';
import type { AuditRecord } from './contract.ts';
import { type Redaction, toAscii } from './redaction.ts';

/** The event names of methods that have one of their own, as JSON; for others the line contains the method. */
const events: ReadonlyMap<string, string> = new Map([
  ['tools/call', '"call"'],
  ['resources/read', '"read"'],
  ['prompts/get', '"prompt"'],
]);

/** Requests that are recorded only if they are rejected: they only list what exists. */
const unrecorded: ReadonlySet<string> = new Set([
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'prompts/list',
  'logging/setLevel',
  'completion/complete',
  // Clients poll; the line of the event `task` says how it ended.
  'tasks/get',
  'tasks/list',
]);

/** Whether successful requests of this method are recorded. */
export const isRecorded = (method: string): boolean => !unrecorded.has(method);

/** What a line says about the other side of a connection. */
type LineCaller = Pick<Peer, 'principal' | 'transport' | 'address'>;

/** The data for the line of a call. Not its request and its peer, which hold the message and the HTTP exchange in memory. */
export interface EndedCall extends LineCaller, Pick<RequestEnd, 'outcome' | 'code' | 'durationMs'> {
  readonly atMs: number;
  readonly method: string;
  readonly name: string | undefined;
  /** The server behind a gateway that the name belongs to. */
  readonly upstream?: string | undefined;
  readonly arguments: unknown;
  readonly session: string | undefined;
  /** Why a guard denied it, if the response is a result. */
  readonly why: string | undefined;
}

export function endedCall({ request, outcome, code, durationMs }: RequestEnd, upstream?: string): EndedCall {
  const { method, name, params, session } = request;
  const { principal, transport, address } = request.peer;
  const why = outcome === 'failed' ? denialReason(request) : undefined;
  return {
    atMs: Date.now(),
    method,
    name: name || undefined,
    upstream,
    arguments: params['arguments'],
    principal,
    transport,
    address,
    session: session?.key || undefined,
    outcome: why === undefined ? outcome : 'rejected',
    code,
    why,
    durationMs,
  };
}

/** Space for the number and the hash that the chain adds to a line, and for the names of fields. */
const otherBytes = 200;

/** Encodes lines. */
export class LineEncoder {
  readonly #redaction: Redaction;
  readonly #maxBytes: number;
  readonly #logger: Logger;
  /** The beginning and the caller that were encoded last: many lines have the same. */
  #timeMs = Number.NaN;
  #beginning = '';
  #caller: LineCaller | undefined;
  #callerText = '';

  constructor(redaction: Redaction, maxLineBytes: number, logger: Logger) {
    this.#redaction = redaction;
    this.#maxBytes = maxLineBytes - otherBytes;
    this.#logger = logger;
  }

  /** The end of a request. */
  call(call: EndedCall): string {
    try {
      const { method, name, session, outcome, code, why } = call;
      const begin =
        this.#beginAt(call.atMs) +
        (events.get(method) ?? `"request"${this.#field('method', method)}`) +
        this.#encodeCaller(call) +
        this.#field('name', name) +
        this.#field('upstream', call.upstream) +
        (session === undefined ? '' : `,"session":${toAscii(session)}`);
      const end =
        `,"outcome":"${outcome}","ms":${roundMs(call.durationMs)}` +
        (code === undefined ? '' : `,"code":${code}`) +
        (why === undefined ? '' : `,"details":{"why":${this.#redaction.text(why)}}`);
      const args = this.#redaction.arguments(name ?? '', call.arguments);
      return this.#line(begin, 'arguments', args, end);
    } catch (error) {
      return this.#unencodable(error);
    }
  }

  /** A message that was rejected before it became a request. */
  rejection({ message, peer, error, code }: RejectedMessage): string {
    try {
      const { method, params } = (message ?? {}) as { readonly method?: unknown; readonly params?: { name?: unknown } };
      const name = params?.name;
      const begin =
        this.#begin('invalid-message') +
        this.#encodeCaller(peer) +
        this.#field('method', typeof method === 'string' ? method : undefined) +
        this.#field('name', typeof name === 'string' ? name : undefined);
      return this.#line(
        `${begin},"outcome":"rejected","code":${code}`,
        'details',
        this.#redaction.value({ why: error.message }),
      );
    } catch (error) {
      return this.#unencodable(error);
    }
  }

  /** Something that is not a request. */
  record({ event, ctx, details, outcome, durationMs }: AuditRecord): string {
    try {
      const session = ctx?.session?.key;
      const begin =
        this.#begin(event) +
        this.#field('principal', ctx?.principal?.id) +
        this.#field('issuer', ctx?.principal?.issuer) +
        (session === undefined || session === '' ? '' : `,"session":${toAscii(session)}`) +
        this.#field('outcome', outcome) +
        (durationMs === undefined ? '' : `,"ms":${roundMs(durationMs)}`);
      return this.#line(begin, 'details', details === undefined ? undefined : this.#redaction.value(details));
    } catch (error) {
      return this.#unencodable(error);
    }
  }

  /** Written instead of a line that cannot be encoded: at least the time is recorded. */
  #unencodable(error: unknown): string {
    this.#logger.error('a line of the audit log cannot be encoded', { error });
    return `${this.#begin('unencodable')}}`;
  }

  #begin(event: string): string {
    return this.#beginAt(Date.now()) + this.#redaction.text(event);
  }

  #encodeCaller({ principal, transport, address }: LineCaller): string {
    const last = this.#caller;
    if (last?.principal === principal && last?.transport === transport && last.address === address)
      return this.#callerText;
    this.#caller = { principal, transport, address };
    this.#callerText =
      this.#field('principal', principal?.id) +
      this.#field('issuer', principal?.issuer) +
      `,"transport":"${transport}"` +
      this.#field('address', address);
    return this.#callerText;
  }

  #field(name: string, text: string | undefined): string {
    return text === undefined ? '' : `,"${name}":${this.#redaction.text(text)}`;
  }

  /** Only `value` can be too long for a line; it is then replaced by a text with its beginning. */
  #line(begin: string, name: 'arguments' | 'details', value: unknown, end = ''): string {
    if (value === undefined) return `${begin}${end}}`;
    const json = toAscii(value);
    const maxChars = this.#maxBytes - begin.length - end.length;
    if (json.length <= maxChars) return `${begin},"${name}":${json}${end}}`;
    const marker = `... [truncated: ${json.length} bytes]`;
    // In a text, quotes and backslashes take two characters.
    const text = toAscii(json.slice(0, Math.max(0, Math.floor(maxChars / 2) - marker.length)) + marker);
    return `${begin},"${name}":${name === 'details' ? `{"truncated":${text}}` : text}${end}}`;
  }

  /** The beginning of a line, as far as the name of its event. */
  #beginAt(timeMs: number): string {
    if (timeMs !== this.#timeMs) {
      this.#timeMs = timeMs;
      this.#beginning = `"time":"${new Date(timeMs).toISOString()}","event":`;
    }
    return this.#beginning;
  }
}

const roundMs = (durationMs: number): number => (durationMs > 0 ? Math.round(durationMs * 1000) / 1000 : 0);
