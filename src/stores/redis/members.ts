// The processes of a deployment, in Redis: each renews its entry twice a second, and one that does not has ended. Also what they
// must have in common: the name of the server, a key, and the epoch.

import { createHmac, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { monotonicMs } from '../../common/clock.ts';
import type { Logger } from '../../common/logger.ts';
import type { SealKey } from '../../protocol/ports.ts';
import { mailboxMs } from './bus-writer.ts';
import type { RedisConnection } from './connection.ts';
import type { RedisScript } from './script.ts';

const renewMs = 500;
/** A process that has not renewed its entry for this long has ended, or cannot reach Redis. */
const absentMs = 5_000;
/** The same if Redis has lost its connection: one that was killed. A process that only lost the connection has a new one by then. */
const disconnectedMs = 1_500;
/** How far ahead of the last renewal `freshAtMs` of the bus may be. Until then the others must know this process. */
const reliedOnMs = 1_000;

/**
 * Renews the entry of a process, and returns the epoch, whether the entry was still there, and the other processes: the name of
 * each, and where it runs if its entry is old. An entry: when it was renewed, the name of the server as JSON, digests
 * of its keys, and where the process runs, on one line each. KEYS: entries, epoch, mailbox. ARGV: process, name,
 * digests, the rest, time after which a process is absent, a new epoch, lifetime of the mailbox, time after which an
 * entry is old.
 */
const renew: RedisScript = {
  text: `
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local entries = redis.call('HGETALL', KEYS[1])
    local others = {}
    local known = 0
    for at = 1, #entries, 2 do
      local seen, name, digests, place = string.match(entries[at + 1], '^(%d+)\\n([^\\n]*)\\n([^\\n]*)\\n(.*)$')
      if entries[at] == ARGV[1] then
        known = 1
      elseif not seen or now - tonumber(seen) > tonumber(ARGV[5]) then
        redis.call('HDEL', KEYS[1], entries[at])
      else
        local shared = digests == ARGV[3]
        for digest in string.gmatch(ARGV[3], '[^,]+') do
          if string.find(',' .. digests .. ',', ',' .. digest .. ',', 1, true) then shared = true end
        end
        if name ~= ARGV[2] or not shared then return {'other', name, place} end
        table.insert(others, entries[at])
        table.insert(others, now - tonumber(seen) > tonumber(ARGV[8]) and place or '')
      end
    end
    redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now) .. '\\n' .. ARGV[2] .. '\\n' .. ARGV[3] .. '\\n' .. ARGV[4])
    redis.call('SET', KEYS[2], ARGV[6], 'NX')
    redis.call('PEXPIRE', KEYS[3], ARGV[7])
    return {'ok', redis.call('GET', KEYS[2]), known, unpack(others)}`,
};

/** Removes the entries of processes that are still old, and returns which. KEYS: entries. ARGV: that time, processes. */
const removeOld: RedisScript = {
  text: `
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local removed = {}
    for at = 2, #ARGV do
      local seen = string.match(redis.call('HGET', KEYS[1], ARGV[at]) or '', '^(%d+)')
      if not seen or now - tonumber(seen) > tonumber(ARGV[1]) then
        redis.call('HDEL', KEYS[1], ARGV[at])
        table.insert(removed, ARGV[at])
      end
    end
    return removed`,
};

export interface MembersOptions {
  /** The name of the server. */
  readonly name: string;
  readonly version?: string | undefined;
  /** The key of the server, and earlier ones. */
  readonly keys: readonly SealKey[];
  readonly prefix: string;
  readonly mailbox: string;
}

export class Members {
  readonly #redis: RedisConnection;
  readonly #options: MembersOptions;
  readonly #process: string;
  readonly #logger: Logger;
  readonly #digests: string;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isRenewing = false;
  #onForgotten: (() => void) | undefined;
  epoch = '';
  /** The others know this process, and `freshAtMs` of the bus may be as late as this. */
  freshUntilMs = Number.NEGATIVE_INFINITY;
  /** The id of this connection in Redis; empty if it does not tell, undefined if it may be another one now. */
  #connection: string | undefined;
  /** Since when this connection has not been lost, and Redis not emptied. */
  #connectedAtMs = monotonicMs();
  #known: () => Iterable<string> = () => [];

  constructor(redis: RedisConnection, process: string, options: MembersOptions, logger: Logger) {
    this.#redis = redis;
    this.#process = process;
    this.#options = options;
    this.#logger = logger;
    this.#digests = options.keys.map(digestOf).join(',');
  }

  /** Enters this process. Throws if another server uses the same prefix. Returns the other processes. */
  join(): Promise<readonly string[]> {
    return this.#renew();
  }

  /** The connection was lost, or a command was not answered. */
  connectionLost(): void {
    this.#connection = undefined;
    this.#connectedAtMs = monotonicMs();
  }

  /**
   * Renews the entry from now on, and reports the other processes each time. `onForgotten`: the others have taken this
   * process for one that has ended. `known`: the other processes as far as they are known.
   */
  start(
    onProcesses: (others: readonly string[]) => void,
    onForgotten: () => void,
    known: () => Iterable<string>,
  ): void {
    this.#onForgotten = onForgotten;
    this.#known = known;
    this.#timer = setInterval(() => {
      if (this.#isRenewing) return;
      this.#isRenewing = true;
      this.#renew()
        .then(onProcesses)
        .catch((error: unknown) => {
          this.connectionLost();
          const level = error instanceof OtherDeploymentError ? 'error' : 'debug';
          this.#logger[level]('the entry of this process in Redis was not renewed', { error });
        })
        .finally(() => {
          this.#isRenewing = false;
        });
    }, renewMs);
    this.#timer.unref();
  }

  async leave(): Promise<void> {
    clearInterval(this.#timer);
    await this.#redis.send('HDEL', `${this.#options.prefix}processes`, this.#process);
  }

  async #renew(): Promise<readonly string[]> {
    const { name, version, prefix, mailbox } = this.#options;
    this.#connection ??= await this.#connectionId();
    const place: ProcessInfo = {
      ...{ host: hostname(), pid: process.pid },
      ...(version === undefined ? {} : { version }),
      ...(this.#connection === '' ? {} : { connection: this.#connection }),
    };
    // A new one each time: the process that set the epoch must not set the same one again when it was lost.
    const newEpoch = randomBytes(12).toString('base64url');
    const sentAtMs = monotonicMs();
    const digests = this.#digests;
    const [outcome, ...found] = (await this.#redis.run(
      renew,
      [`${prefix}processes`, `${prefix}epoch`, mailbox],
      [
        ...[this.#process, JSON.stringify(name), digests, JSON.stringify(place)],
        ...[absentMs, newEpoch, mailboxMs, disconnectedMs],
      ],
    )) as readonly (string | number)[];
    if (outcome === 'other') throw otherDeployment(prefix, name, found[0] as string, found[1] as string);
    const [epoch, known, ...others] = found as [string, number, ...string[]];
    // It was emptied: the entries of the others are missing until each of them has renewed its own.
    if (epoch !== this.epoch) this.#connectedAtMs = monotonicMs();
    this.epoch = epoch;
    if (known === 0) this.#onForgotten?.();
    this.freshUntilMs = sentAtMs + disconnectedMs - reliedOnMs;
    return this.#withoutKilled(others);
  }

  /** `others`: each process, and where it runs if its entry is old. Returns those that have not been killed. */
  async #withoutKilled(others: readonly string[]): Promise<readonly string[]> {
    const names = others.filter((_, at) => at % 2 === 0);
    // After a failover or a restart of Redis, the others need time to connect again too. Their entries may be missing or too old.
    if (monotonicMs() - this.#connectedAtMs < absentMs) return [...new Set([...names, ...this.#known()])];
    const old = new Map<string, string>();
    for (const [at, name] of names.entries()) {
      const { connection } = JSON.parse(others[at * 2 + 1] || '{}') as Partial<ProcessInfo>;
      if (connection !== undefined) old.set(connection, name);
    }
    if (old.size === 0) return names;
    for (const connection of await this.#connectionsOf([...old.keys()])) old.delete(connection);
    if (old.size === 0) return names;
    const { prefix } = this.#options;
    const removed = await this.#redis.run(removeOld, [`${prefix}processes`], [disconnectedMs, ...old.values()]);
    return names.filter((name) => !(removed as readonly string[]).includes(name));
  }

  /** Which of these connections Redis still has; all of them if it does not tell. */
  async #connectionsOf(ids: readonly string[]): Promise<readonly string[]> {
    try {
      const list = (await this.#redis.send('CLIENT', 'LIST', 'ID', ...ids)) as string;
      return Array.from(list.matchAll(/^id=(\d+) /gm), ([, id]) => id as string);
    } catch (error) {
      if (isNotOffered(error)) return ids;
      throw error;
    }
  }

  async #connectionId(): Promise<string> {
    try {
      return String(await this.#redis.send('CLIENT', 'ID'));
    } catch (error) {
      if (isNotOffered(error)) return '';
      throw error;
    }
  }
}

/** A command is not permitted or not known. Without it, the end of a killed process is noticed after `absentMs`. */
function isNotOffered(error: unknown): boolean {
  return error instanceof Error && /^(NOPERM|ERR) /.test(error.message);
}

/** Where a process runs. */
interface ProcessInfo {
  readonly host: string;
  readonly pid: number;
  readonly version?: string;
  /** The id of its connection in Redis. */
  readonly connection?: string;
}

/** Tells keys apart, and nothing more. */
function digestOf(key: SealKey): string {
  return createHmac('sha256', key).update('mooring key digest').digest('base64url').slice(0, 16);
}

/** Another server, or the same one with another key, uses the prefix. */
class OtherDeploymentError extends Error {}

function otherDeployment(prefix: string, name: string, otherName: string, otherPlace: string): Error {
  const { host, pid } = JSON.parse(otherPlace) as ProcessInfo;
  const isSameName = JSON.parse(otherName) === name;
  const who = `the server ${otherName} (process ${pid} on ${host})`;
  const why = isSameName ? `with another key: ${who}` : `by another server: ${who}`;
  const advice = isSameName ? 'Give both the same key, or choose another prefix' : 'Choose another prefix';
  return new OtherDeploymentError(
    `The prefix ${JSON.stringify(prefix)} is used ${why}. ${advice} for ${JSON.stringify(name)}`,
  );
}
