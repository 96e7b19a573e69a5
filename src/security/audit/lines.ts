// From what happened to the fields of a line. Written by hand rather than by JSON.stringify of an object: a line is made
// for every call, and most of its parts are the same as in the line before.

import type { Ended } from '../../engine/ports.ts';
import type { Peer, Principal } from '../../protocol/exchange.ts';
import type { Spelling } from './arguments.ts';
import type { AuditRecord } from './contract.ts';
import { spellMs, threeDigits } from './digits.ts';
import type { CallHappening, Happening, RefusalHappening } from './happening.ts';
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
export const isEventful = ({ request, outcome }: Ended): boolean =>
  outcome === 'refused' || !uneventful.has(request.method);

/** The part of a line that is the same for call after call of one tool by one caller, and what it is made of. */
interface Head extends Pick<CallHappening, 'method' | 'principal' | 'transport' | 'address'> {
  readonly text: string;
}

/** A text of this length is not kept until its line is written. */
const bulkyChars = 1024;

/** Heads that are kept; stops made-up names from filling memory. */
const maxHeads = 500;

export class LineWriter {
  readonly #spelling: Spelling;
  readonly #heads = new Map<string, Head>();
  readonly #clock = new WallClock();
  #second = -1;
  #secondText = '';
  #atMs = -1;
  #time = '';

  constructor(spelling: Spelling) {
    this.#spelling = spelling;
  }

  /** Called before every few lines. */
  begin(): void {
    this.#clock.adjust();
  }

  /** Lets go of long arguments: kept until their line is written, the garbage collector would copy them around. */
  lighten(happening: Happening): void {
    if (happening.kind !== 'call' || !isBulky(happening.args)) return;
    try {
      happening.spelledArgs = this.#args(happening);
      happening.args = undefined;
    } catch {
      // It will fail again when its line is written, and be told of then.
    }
  }

  /** The inside of a line. What can not be spelled still has its moment. */
  fields(happening: Happening, failed: (error: unknown) => void): string {
    const time = this.#timeOf(this.#clock.at(happening.atMs));
    try {
      return time + this.#rest(happening);
    } catch (error) {
      failed(error);
      return `${time},"event":"unspelled"`;
    }
  }

  #rest(happening: Happening): string {
    switch (happening.kind) {
      case 'call':
        return this.#call(happening);
      case 'refusal':
        return this.#refusal(happening);
      case 'record':
        return this.#record(happening.record);
    }
  }

  /** Spelling a date takes longer than the rest of a line, so it is done once per second and finished once per ms. */
  #timeOf(atMs: number): string {
    if (atMs === this.#atMs) return this.#time;
    const second = Math.floor(atMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = `"time":"${new Date(second * 1000).toISOString().slice(0, 20)}`;
    }
    this.#atMs = atMs;
    this.#time = `${this.#secondText}${threeDigits[atMs - second * 1000]}Z"`;
    return this.#time;
  }

  #call(call: CallHappening): string {
    const { session, spelledArgs = this.#args(call), outcome, code, durationMs, why } = call;
    const came = outcome === 'ok' ? ',"outcome":"ok","ms":' : `,"outcome":"${outcome}","ms":`;
    let line = this.#head(call) + inSession(session) + spelledArgs + came + spellMs(durationMs);
    if (code !== undefined) line += `,"code":${code}`;
    return why === undefined ? line : `${line},"details":{"why":${this.#spelling.text(why)}}`;
  }

  #args({ name = '', args }: CallHappening): string {
    const spelled = args === undefined ? undefined : this.#spelling.args(name, args);
    return spelled === undefined ? '' : `,"arguments":${spelled}`;
  }

  #head(call: CallHappening): string {
    const { method, name = '', principal, transport, address } = call;
    const known = this.#heads.get(name);
    if (known !== undefined && isAlike(known, call)) return known.text;
    const event = events.get(method);
    const what = event === undefined ? `"request","method":${this.#spelling.text(method)}` : `"${event}"`;
    const named = name === '' ? '' : `,"name":${this.#spelling.text(name)}`;
    const text = `,"event":${what}${this.#who(principal)}${this.#where(call)}${named}`;
    if (this.#heads.size >= maxHeads) this.#heads.clear();
    if (name.length <= 256) this.#heads.set(name, { method, principal, transport, address, text });
    return text;
  }

  #refusal({ peer, method, name, code, why }: RefusalHappening): string {
    let line = `,"event":"refusal"${this.#who(peer.principal)}${this.#where(peer)}`;
    if (method !== undefined) line += `,"method":${this.#spelling.text(method)}`;
    if (name !== undefined) line += `,"name":${this.#spelling.text(name)}`;
    return `${line},"outcome":"refused","code":${code},"details":{"why":${this.#spelling.text(why)}}`;
  }

  #record({ event, ctx, details, outcome, durationMs }: AuditRecord): string {
    let line = `,"event":${this.#spelling.text(event)}`;
    if (ctx !== undefined) line += this.#who(ctx.principal) + inSession(ctx.session?.key);
    if (outcome !== undefined) line += `,"outcome":${this.#spelling.text(outcome)}`;
    if (durationMs !== undefined) line += `,"ms":${spellMs(durationMs)}`;
    if (details !== undefined) line += `,"details":${this.#spelling.value(details)}`;
    return line;
  }

  #where({ transport, address }: { readonly transport: string; readonly address?: Peer['address'] }): string {
    const from = address === undefined ? '' : `,"address":${this.#spelling.text(address)}`;
    return `,"transport":"${transport}"${from}`;
  }

  #who(principal: Principal | undefined): string {
    if (principal === undefined) return '';
    const issuer = principal.issuer === undefined ? '' : `,"issuer":${this.#spelling.text(principal.issuer)}`;
    return `,"principal":${this.#spelling.text(principal.id)}${issuer}`;
  }
}

/** A random name, no credential: what clients send as session id is sealed and stays out of every log. */
const inSession = (key: string | undefined): string => (key === undefined || key === '' ? '' : `,"session":"${key}"`);

const isAlike = (one: Head, other: CallHappening): boolean =>
  one.principal === other.principal &&
  one.address === other.address &&
  one.method === other.method &&
  one.transport === other.transport;

function isBulky(args: unknown): boolean {
  if (typeof args !== 'object') return false;
  for (const key in args) {
    const value: unknown = (args as Record<string, unknown>)[key];
    if (typeof value === 'string' && value.length > bulkyChars) return true;
  }
  return false;
}
