// The processes of a deployment, in Redis: each renews its entry every second, and one that does not has ended. Also what they
// must have in common: the name of the server, a key, and the epoch.

import { createHmac, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { monotonicMs } from '../../protocol/clock.ts';
import type { Logger } from '../../protocol/logger.ts';
import type { SealKey } from '../../protocol/ports.ts';
import { mailboxMs } from './bus-writer.ts';
import type { RedisConnection } from './connection.ts';
import type { RedisScript } from './script.ts';

const renewMs = 1_000;
/** A process that has not renewed its entry for this long has ended, or cannot reach Redis. */
const absentMs = 5_000;

/**
 * Renews the entry of a process, and returns the epoch and the other processes. An entry: when it was renewed, the name of the
 * server as JSON, digests of its keys, and where the process runs, on one line each. KEYS: entries, epoch, mailbox. ARGV: process,
 * name, digests, the rest, time after which a process is absent, a new epoch, lifetime of the mailbox.
 */
const renew: RedisScript = {
  text: `
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local entries = redis.call('HGETALL', KEYS[1])
    local others = {}
    for at = 1, #entries, 2 do
      local seen, name, digests, place = string.match(entries[at + 1], '^(%d+)\\n([^\\n]*)\\n([^\\n]*)\\n(.*)$')
      if entries[at] == ARGV[1] then
      elseif not seen or now - tonumber(seen) > tonumber(ARGV[5]) then
        redis.call('HDEL', KEYS[1], entries[at])
      else
        local shared = digests == ARGV[3]
        for digest in string.gmatch(ARGV[3], '[^,]+') do
          if string.find(',' .. digests .. ',', ',' .. digest .. ',', 1, true) then shared = true end
        end
        if name ~= ARGV[2] or not shared then return {'other', name, place} end
        table.insert(others, entries[at])
      end
    end
    redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now) .. '\\n' .. ARGV[2] .. '\\n' .. ARGV[3] .. '\\n' .. ARGV[4])
    redis.call('SET', KEYS[2], ARGV[6], 'NX')
    redis.call('PEXPIRE', KEYS[3], ARGV[7])
    return {'ok', redis.call('GET', KEYS[2]), unpack(others)}`,
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
  epoch = '';
  /** When the entry was last renewed, on the monotonic clock. */
  renewedAtMs = Number.NEGATIVE_INFINITY;

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

  /** Renews the entry from now on, and reports the other processes each time. */
  start(onProcesses: (others: readonly string[]) => void): void {
    this.#timer = setInterval(() => {
      if (this.#isRenewing) return;
      this.#isRenewing = true;
      this.#renew()
        .then(onProcesses)
        .catch((error: unknown) => {
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
    const place = JSON.stringify({ host: hostname(), pid: process.pid, ...(version === undefined ? {} : { version }) });
    // A new one each time: the process that set the epoch must not set the same one again when it was lost.
    const newEpoch = randomBytes(12).toString('base64url');
    const [outcome, ...found] = (await this.#redis.run(
      renew,
      [`${prefix}processes`, `${prefix}epoch`, mailbox],
      [this.#process, JSON.stringify(name), this.#digests, place, absentMs, newEpoch, mailboxMs],
    )) as readonly string[];
    if (outcome === 'other') throw otherDeployment(prefix, name, found[0] as string, found[1] as string);
    const [epoch, ...others] = found;
    this.epoch = epoch as string;
    this.renewedAtMs = monotonicMs();
    return others;
  }
}

/** Tells keys apart, and nothing more. */
function digestOf(key: SealKey): string {
  return createHmac('sha256', key).update('mooring key digest').digest('base64url').slice(0, 16);
}

/** Another server, or the same one with another key, uses the prefix. */
class OtherDeploymentError extends Error {}

function otherDeployment(prefix: string, name: string, otherName: string, otherPlace: string): Error {
  const { host, pid } = JSON.parse(otherPlace) as { readonly host: string; readonly pid: number };
  const isSameName = JSON.parse(otherName) === name;
  const who = `the server ${otherName} (process ${pid} on ${host})`;
  const why = isSameName ? `with another key: ${who}` : `by another server: ${who}`;
  const advice = isSameName ? 'Give both the same key, or choose another prefix' : 'Choose another prefix';
  return new OtherDeploymentError(
    `The prefix ${JSON.stringify(prefix)} is used ${why}. ${advice} for ${JSON.stringify(name)}`,
  );
}
