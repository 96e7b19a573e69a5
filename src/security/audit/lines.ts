// From what happened to the fields of a line. Written by hand rather than by JSON.stringify of an object: a line is made
// for every call, and most of its parts are the same as in the line before.

import type { Ended, Refused } from '../../engine/ports.ts';
import { monotonicMs } from '../../protocol/clock.ts';
import type { Peer, Principal } from '../../protocol/exchange.ts';
import type { Spelling } from './arguments.ts';
import { type Batch, bytesOf } from './batch.ts';
import { closeRecord, point, zero } from './codes.ts';
import type { AuditRecord } from './contract.ts';
import type { Head } from './heads.ts';
import type { KeptCall, Trouble } from './kept-calls.ts';
import { WallClock } from './wall-clock.ts';

/** Methods that are an event by themselves; of the others the line names the method. */
const events: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'call'],
  ['resources/read', 'read'],
  ['prompts/get', 'prompt'],
]);

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
export const isEventful = ({ request: { method }, outcome }: Ended): boolean =>
  method === 'tools/call' || outcome === 'refused' || !uneventful.has(method);

const pieces = {
  ok: bytesOf(',"outcome":"ok","ms":'),
  name: bytesOf(',"name":'),
  method: bytesOf(',"method":'),
  principal: bytesOf(',"principal":'),
  issuer: bytesOf(',"issuer":'),
  address: bytesOf(',"address":'),
  session: bytesOf(',"session":'),
  event: bytesOf(',"event":'),
  outcome: bytesOf(',"outcome":'),
  details: bytesOf(',"details":'),
  why: bytesOf(',"details":{"why":'),
  unspelled: bytesOf(',"event":"unspelled"'),
};

/** Spells the fields of lines, each with its comma before it. */
export class LineWriter {
  readonly #spelling: Spelling;
  readonly #batch: Batch;
  readonly #clock = new WallClock();
  /** Of the line at hand, on the monotonic clock. */
  #momentMs = 0;
  #second = -1;
  #atMs = -1;
  readonly #time = bytesOf(',"time":"0000-00-00T00:00:00.000Z"');

  constructor(spelling: Spelling, batch: Batch) {
    this.#spelling = spelling;
    this.#batch = batch;
  }

  /** Called before every few lines. */
  begin(): void {
    this.#clock.adjust();
  }

  /** A call that has ended. */
  readonly call = ({ head, session, args, trouble, endedAtMs, durationMs }: KeptCall): void => {
    const batch = this.#batch;
    this.#head(head, endedAtMs);
    if (head.inSession) this.#sessionName(session);
    this.#spelling.args(batch, head.name, args);
    if (trouble === undefined) batch.bytes(pieces.ok);
    else batch.ascii(`,"outcome":"${trouble.outcome}","ms":`);
    this.#ms(durationMs);
    if (trouble !== undefined) this.#trouble(trouble);
  };

  /** A message that was turned away before it became a request. */
  readonly refusal = ({ message, peer, error, code }: Refused): void => {
    const { method, params } = (message ?? {}) as { readonly method?: unknown; readonly params?: { name?: unknown } };
    const name = params?.name;
    this.#timeOf(monotonicMs());
    this.#batch.ascii(',"event":"refusal"');
    this.#who(peer.principal);
    this.#where(peer);
    if (typeof method === 'string') this.#text(pieces.method, method);
    if (typeof name === 'string') this.#text(pieces.name, name);
    this.#batch.ascii(`,"outcome":"refused","code":${code}`);
    this.#why(error.message);
  };

  /** Something that is no request. */
  readonly record = ({ event, ctx, details, outcome, durationMs }: AuditRecord): void => {
    const batch = this.#batch;
    this.#timeOf(monotonicMs());
    this.#text(pieces.event, event);
    this.#who(ctx?.principal);
    const { key = '' } = ctx?.session ?? {};
    if (key !== '') {
      batch.bytes(pieces.session);
      this.#sessionName(key);
    }
    if (outcome !== undefined) this.#text(pieces.outcome, outcome);
    if (durationMs !== undefined) {
      batch.ascii(',"ms":');
      this.#ms(durationMs);
    }
    if (details !== undefined) {
      batch.bytes(pieces.details);
      this.#spelling.value(batch, details);
    }
  };

  /** In place of a line that could not be spelled: it still has its moment. */
  readonly unspelled = (): void => {
    this.#timeOf(this.#momentMs);
    this.#batch.bytes(pieces.unspelled);
  };

  /** Spelling a date takes longer than the rest of a line, so it is done once per second and finished once per ms. */
  #timeOf(momentMs: number): void {
    this.#momentMs = momentMs;
    this.#batch.bytes(this.#spellTime(this.#clock.at(momentMs)));
  }

  #spellTime(atMs: number): Uint8Array {
    if (atMs !== this.#atMs) {
      const time = this.#time;
      const second = Math.floor(atMs / 1000);
      if (second !== this.#second) {
        this.#second = second;
        time.set(bytesOf(new Date(second * 1000).toISOString().slice(0, 20)), timeAt);
      }
      this.#atMs = atMs;
      const ms = atMs - second * 1000;
      time[msAt] = zero + ((ms / 100) | 0);
      time[msAt + 1] = zero + (((ms / 10) | 0) % 10);
      time[msAt + 2] = zero + (ms % 10);
    }
    return this.#time;
  }

  /** Three decimals, none for a whole number. */
  #ms(durationMs: number): void {
    const batch = this.#batch;
    if (!(durationMs >= 0 && durationMs < maxPreciseMs)) return batch.ascii(roundMs(durationMs));
    const us = (durationMs * 1000 + 0.5) | 0;
    const ms = (us / 1000) | 0;
    const rest = us - ms * 1000;
    batch.digits(ms);
    if (rest === 0) return;
    batch.byte(point);
    if (rest < 100) batch.byte(zero);
    if (rest < 10) batch.byte(zero);
    batch.digits(rest);
  }

  #trouble({ code, why }: Trouble): void {
    if (code !== undefined) this.#batch.ascii(`,"code":${code}`);
    if (why !== undefined) this.#why(why);
  }

  /** What lines of one caller and tool begin with. The time is a part of it: one piece is put down sooner than two. */
  #head(head: Head, momentMs: number): void {
    this.#momentMs = momentMs;
    const atMs = this.#clock.at(momentMs);
    head.bytes ??= this.#spellHead(head);
    if (head.atMs !== atMs) {
      head.atMs = atMs;
      head.bytes.set(this.#spellTime(atMs));
    }
    this.#batch.bytes(head.bytes);
  }

  #spellHead(head: Head): Uint8Array {
    const batch = this.#batch;
    const { method, name, principal } = head;
    const begin = batch.end;
    batch.bytes(this.#time);
    const event = events.get(method);
    batch.ascii(`,"event":"${event ?? 'request'}"`);
    if (event === undefined) this.#text(pieces.method, method);
    this.#who(principal);
    this.#where(head);
    if (name !== '') this.#text(pieces.name, name);
    if (head.inSession) batch.bytes(pieces.session);
    const bytes = Uint8Array.from(batch.from(begin));
    batch.cut(begin);
    return bytes;
  }

  #text(field: Uint8Array, text: string): void {
    this.#batch.bytes(field);
    this.#batch.bytes(this.#spelling.text(text));
  }

  #why(why: string): void {
    this.#text(pieces.why, why);
    this.#batch.byte(closeRecord);
  }

  #where({ transport, address }: Pick<Peer, 'transport' | 'address'>): void {
    this.#batch.ascii(`,"transport":"${transport}"`);
    if (address !== undefined) this.#text(pieces.address, address);
  }

  /** A random name, no credential: what clients send as session id is sealed and stays out of every log. */
  #sessionName(key: string): void {
    if (!this.#batch.quoted(key)) this.#batch.bytes(this.#spelling.text(key));
  }

  #who(principal: Principal | undefined): void {
    if (principal === undefined) return;
    this.#text(pieces.principal, principal.id);
    if (principal.issuer !== undefined) this.#text(pieces.issuer, principal.issuer);
  }
}

/** Where the date stands in the time of a line, and where its last digits. */
const timeAt = ',"time":"'.length;
const msAt = timeAt + 20;

/** Half an hour. Up to here µs are whole numbers of the kind that is quick to divide. */
const maxPreciseMs = 30 * 60_000;
const roundMs = (durationMs: number): string => (durationMs > 0 ? JSON.stringify(Math.round(durationMs)) : '0');
