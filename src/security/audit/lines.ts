// From what happened to the fields of a line, as the inside of a JSON object. Number, hash and end of a line: chain.ts.

import type { Ended, Refused } from '../../engine/ports.ts';
import type { Peer, Principal } from '../../protocol/exchange.ts';
import type { Logger } from '../../protocol/log.ts';
import { refusalOf } from '../refusals.ts';
import type { AuditRecord } from './contract.ts';
import { toAscii, type ValueEncoder } from './values.ts';

/** Methods that are an event by themselves; for the others the line names the method. */
const events: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'call'],
  ['resources/read', 'read'],
  ['prompts/get', 'prompt'],
]);

/** Requests that have no line unless they are refused: they only ask what there is. */
const unrecorded: ReadonlySet<string> = new Set([
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'prompts/list',
  'logging/setLevel',
  'completion/complete',
]);

/** Whether a request of this method has a line when all goes well. */
export const isRecorded = (method: string): boolean => !unrecorded.has(method);

/** Room for the number and the hash that the chain adds to a line. */
const chainBytes = 128;

/** Encodes the fields of lines. */
export class LineEncoder {
  readonly #values: ValueEncoder;
  readonly #maxBytes: number;
  readonly #logger: Logger;
  /** The last time that was encoded: formatting a date takes longer than the rest of a line. */
  #timeMs = Number.NaN;
  #time = '';

  constructor(values: ValueEncoder, maxBytes: number, logger: Logger) {
    this.#values = values;
    this.#maxBytes = maxBytes;
    this.#logger = logger;
  }

  /** The end of a request. */
  call(ended: Ended): string {
    try {
      return this.#call(ended);
    } catch (error) {
      return this.#unencodable(error);
    }
  }

  /** A message that was rejected before it became a request. */
  refusal(refused: Refused): string {
    try {
      return this.#refusal(refused);
    } catch (error) {
      return this.#unencodable(error);
    }
  }

  /** Something that is not a request. */
  record(record: AuditRecord): string {
    try {
      return this.#record(record);
    } catch (error) {
      return this.#unencodable(error);
    }
  }

  #call({ request, outcome, code, durationMs }: Ended): string {
    const { method, name, peer, session } = request;
    const event = events.get(method);
    const begin =
      this.#begin(event ?? 'request') +
      (event === undefined ? this.#text('method', method) : '') +
      this.#principal(peer.principal) +
      this.#peer(peer) +
      this.#text('name', name) +
      this.#session(session?.key);
    const why = outcome === 'failed' ? refusalOf(request) : undefined;
    const end =
      `,"outcome":"${why === undefined ? outcome : 'refused'}","ms":${roundMs(durationMs)}` +
      (code === undefined ? '' : `,"code":${code}`) +
      this.#why(why);
    const args = this.#values.arguments(name ?? '', request.params['arguments'], this.#roomBeside(begin, end));
    return args === undefined ? begin + end : `${begin},"arguments":${args}${end}`;
  }

  #refusal({ message, peer, error, code }: Refused): string {
    const { method, params } = (message ?? {}) as { readonly method?: unknown; readonly params?: { name?: unknown } };
    const name = params?.name;
    return (
      this.#begin('refusal') +
      this.#principal(peer.principal) +
      this.#peer(peer) +
      this.#text('method', typeof method === 'string' ? method : undefined) +
      this.#text('name', typeof name === 'string' ? name : undefined) +
      `,"outcome":"refused","code":${code}` +
      this.#why(error.message)
    );
  }

  #record({ event, ctx, details, outcome, durationMs }: AuditRecord): string {
    const fields =
      this.#begin(event) +
      this.#principal(ctx?.principal) +
      this.#session(ctx?.session?.key) +
      this.#text('outcome', outcome) +
      (durationMs === undefined ? '' : `,"ms":${roundMs(durationMs)}`);
    if (details === undefined) return fields;
    return `${fields},"details":${this.#values.value(details, this.#roomBeside(fields))}`;
  }

  /** In place of a line that cannot be encoded: something happened, and when. */
  #unencodable(error: unknown): string {
    this.#logger.error('a line of the audit log cannot be encoded', { error });
    return this.#begin('unencodable');
  }

  /** How much is left of a line for arguments or details. */
  #roomBeside(begin: string, end = ''): number {
    return this.#maxBytes - chainBytes - begin.length - end.length;
  }

  #begin(event: string): string {
    const nowMs = Date.now();
    if (nowMs !== this.#timeMs) {
      this.#timeMs = nowMs;
      this.#time = new Date(nowMs).toISOString();
    }
    return `"time":"${this.#time}","event":${this.#values.text(event)}`;
  }

  #text(field: string, text: string | undefined): string {
    return text === undefined || text === '' ? '' : `,"${field}":${this.#values.text(text)}`;
  }

  #why(why: string | undefined): string {
    return why === undefined ? '' : `,"details":{"why":${this.#values.text(why)}}`;
  }

  #peer({ transport, address }: Peer): string {
    return this.#text('transport', transport) + this.#text('address', address);
  }

  /** A random name, not a credential: the id that clients send is sealed and is in no log. */
  #session(key: string | undefined): string {
    return key === undefined || key === '' ? '' : `,"session":${toAscii(key)}`;
  }

  #principal(principal: Principal | undefined): string {
    if (principal === undefined) return '';
    return this.#text('principal', principal.id) + this.#text('issuer', principal.issuer);
  }
}

const roundMs = (durationMs: number): number => (durationMs > 0 ? Math.round(durationMs * 1000) / 1000 : 0);
