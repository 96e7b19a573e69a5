// From what happened to the fields of a line. Written by hand rather than by JSON.stringify of an object: a line is made
// for every call, and most of its parts are the same as in the line before.

import type { Ended, Refused } from '../../engine/ports.ts';
import type { Peer, Principal } from '../../protocol/exchange.ts';
import { refusalOf } from '../refusals.ts';
import type { Spelling } from './arguments.ts';
import type { AuditRecord } from './contract.ts';

/** Something to be written, and when it happened. */
export type Happening = { readonly atMs: number } & (
  | { readonly kind: 'ended'; readonly ended: Ended }
  | { readonly kind: 'refused'; readonly refused: Refused }
  | { readonly kind: 'record'; readonly record: AuditRecord }
);

const events: Readonly<Record<string, string>> = {
  'tools/call': 'call',
  'resources/read': 'read',
  'prompts/get': 'prompt',
};

/** Requests that say nothing about anybody's doings, as long as they are not refused. */
const uneventful: ReadonlySet<string> = new Set([
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'prompts/list',
  'logging/setLevel',
  'completion/complete',
]);

/** Whether the end of a request is worth a line. */
export const isEventful = ({ request, outcome }: Ended): boolean =>
  outcome === 'refused' || !uneventful.has(request.method);

export class LineWriter {
  readonly #spelling: Spelling;
  #lastMs = -1;
  #lastTime = '';

  constructor(spelling: Spelling) {
    this.#spelling = spelling;
  }

  fields(happening: Happening): string {
    const time = `"time":"${this.#time(happening.atMs)}"`;
    switch (happening.kind) {
      case 'ended':
        return time + this.#ended(happening.ended);
      case 'refused':
        return time + this.#refused(happening.refused);
      case 'record':
        return time + this.#record(happening.record);
    }
  }

  /** Calls come many in a millisecond, and spelling a date takes as long as everything else. */
  #time(atMs: number): string {
    if (atMs !== this.#lastMs) {
      this.#lastMs = atMs;
      this.#lastTime = new Date(atMs).toISOString();
    }
    return this.#lastTime;
  }

  #ended({ request, outcome, code, durationMs }: Ended): string {
    const { method, name, params, peer, ctx } = request;
    const event = events[method] ?? 'request';
    let line = `,"event":"${event}"${this.#peer(peer, ctx.session?.key)},"method":${this.#spelling.text(method)}`;
    if (name !== undefined) line += `,"name":${this.#spelling.text(name)}`;
    const args = params['arguments'];
    const spelled = args === undefined ? undefined : this.#spelling.args(name ?? '', args);
    if (spelled !== undefined) line += `,"arguments":${spelled}`;
    const why = outcome === 'failed' ? refusalOf(request) : undefined;
    line += `,"outcome":"${why === undefined ? outcome : 'refused'}"`;
    if (code !== undefined) line += `,"code":${code}`;
    line += `,"ms":${Math.round(durationMs * 1000) / 1000}`;
    return why === undefined ? line : `${line},"details":{"why":${this.#spelling.text(why)}}`;
  }

  #refused({ message, peer, error, code }: Refused): string {
    const { method, params } = (message ?? {}) as { readonly method?: unknown; readonly params?: { name?: unknown } };
    let line = `,"event":"refusal"${this.#peer(peer, undefined)}`;
    if (typeof method === 'string') line += `,"method":${this.#spelling.text(method)}`;
    const name = params?.name;
    if (typeof name === 'string') line += `,"name":${this.#spelling.text(name)}`;
    return `${line},"outcome":"refused","code":${code},"details":{"why":${this.#spelling.text(error.message)}}`;
  }

  #record({ event, ctx, details, outcome, durationMs }: AuditRecord): string {
    let line = `,"event":${this.#spelling.text(event)}`;
    if (ctx !== undefined) line += this.#who(ctx.principal, ctx.session?.key);
    if (outcome !== undefined) line += `,"outcome":${this.#spelling.text(outcome)}`;
    if (durationMs !== undefined) line += `,"ms":${Math.round(durationMs * 1000) / 1000}`;
    if (details !== undefined) line += `,"details":${this.#spelling.value(details)}`;
    return line;
  }

  #peer({ principal, transport, address }: Peer, session: string | undefined): string {
    const from = address === undefined ? '' : `,"address":${this.#spelling.text(address)}`;
    return `${this.#who(principal, session)},"transport":"${transport}"${from}`;
  }

  #who(principal: Principal | undefined, session: string | undefined): string {
    let line = '';
    if (principal !== undefined) {
      line += `,"principal":${this.#spelling.text(principal.id)}`;
      if (principal.issuer !== undefined) line += `,"issuer":${this.#spelling.text(principal.issuer)}`;
    }
    // A random name, no credential: what clients send as session id is sealed and stays out of every log.
    if (session !== undefined && session !== '') line += `,"session":"${session}"`;
    return line;
  }
}
