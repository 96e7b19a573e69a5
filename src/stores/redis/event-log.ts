// Copies of the events of all processes: a Redis stream for each event stream of a session. Events that cannot be written
// are kept in memory for a while and written later, in order.

import type { Logger } from '../../common/logger.ts';
import { setSteppedTimeout } from '../../common/stepped-timeout.ts';
import type { RequestId } from '../../protocol/model.ts';
import type { LoggedEvent, SharedEventLog, SharedStream } from '../../protocol/ports.ts';
import type { RedisConnection } from './connection.ts';
import type { Reply } from './driver.ts';

/** How long the events of a stream are kept after the last one. */
const maxAgeMs = 5 * 60_000;
/** How long a response waits for its copy, and the first event of a stream for its opening. */
const maxWaitMs = 250;
/** Commands and characters that wait while Redis is not reachable; stops them from filling the memory. */
const maxWaiting = 20_000;
const maxWaitingLength = 32 * 1024 * 1024;
/** Commands that are sent together. */
const maxBatch = 500;
const retryMs = 200;

type RedisCommand = readonly string[];

export class RedisEventLog implements SharedEventLog {
  readonly #redis: RedisConnection;
  readonly #prefix: string;
  readonly #logger: Logger;
  #waiting: RedisCommand[] = [];
  #waitingLength = 0;
  /** How many commands were ever added, and how many of them are done. */
  #added = 0;
  #done = 0;
  #isWriting = false;
  #closed = false;
  readonly #waiters: { readonly until: number; readonly resolve: () => void }[] = [];
  /** Streams of which some events could not be written: later ones are not written either. */
  readonly #incomplete = new Set<string>();
  /** Streams that have not ended: the requests that they answer, as JSON, and the last event. */
  readonly #open = new Map<string, { readonly requests: string; last: number }>();
  /** The last attempt to write has failed. */
  #isFailing = false;
  /** Responses that were sent although their copy was not stored in time. */
  unconfirmed = 0;

  constructor(redis: RedisConnection, prefix: string, logger: Logger) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#logger = logger;
  }

  /** A stream begins with an event without text, whether its client gets one or not. */
  async begin(session: string, stream: string, requests: readonly RequestId[]): Promise<void> {
    const key = this.#key(session, stream);
    this.#open.set(key, { requests: JSON.stringify(requests), last: 0 });
    this.#write(key, { sequence: 0, text: '' });
    await this.#written();
  }

  append(session: string, stream: string, event: LoggedEvent): void {
    const key = this.#key(session, stream);
    if (this.#incomplete.has(key)) return;
    const open = this.#open.get(key);
    if (open !== undefined) {
      // Stored by `begin`.
      if (event.sequence === 0) return;
      open.last = event.sequence;
    }
    this.#write(key, event);
  }

  #write(key: string, { sequence, text }: LoggedEvent): void {
    // Redis rejects an id that is not larger than the one before, so an event that is written twice is there once.
    this.#add(['XADD', key, `${sequence}-1`, 't', text, 'r', this.#open.get(key)?.requests ?? '[]']);
    this.#add(['PEXPIRE', key, String(maxAgeMs)]);
  }

  async finish(session: string, stream: string): Promise<void> {
    const key = this.#key(session, stream);
    const open = this.#open.get(key);
    this.#open.delete(key);
    if (open !== undefined && !this.#incomplete.delete(key)) this.#add(['XADD', key, `${open.last}-2`, 'end', '1']);
    if (!(await this.#written())) this.unconfirmed++;
  }

  remove(session: string, stream: string, sequence: number): void {
    const key = this.#key(session, stream);
    if (sequence === Number.POSITIVE_INFINITY) this.#add(['DEL', key]);
    else this.#add(['XTRIM', key, 'MINID', `${sequence + 1}-0`]);
  }

  async read(session: string, stream: string): Promise<SharedStream | undefined> {
    const entries = (await this.#redis.send('XRANGE', this.#key(session, stream), '-', '+')) as readonly Reply[];
    const events: LoggedEvent[] = [];
    let requests: readonly RequestId[] = [];
    let finished = false;
    for (const entry of entries) {
      const [id, fields] = entry as unknown as [string, readonly string[]];
      if (fields[0] === 'end') finished = true;
      else {
        events.push({ sequence: Number(id.split('-')[0]), text: fields[1] ?? '' });
        requests = JSON.parse(fields[3] ?? '[]') as readonly RequestId[];
      }
    }
    return events.length === 0 ? undefined : { events, requests, finished };
  }

  close(): void {
    this.#closed = true;
    for (const { resolve } of this.#waiters.splice(0)) resolve();
  }

  #key(session: string, stream: string): string {
    return `${this.#prefix}events:${session}:${stream}`;
  }

  #add(command: RedisCommand): void {
    if (this.#closed) return;
    this.#waiting.push(command);
    this.#waitingLength += lengthOf(command);
    this.#added++;
    if (this.#waiting.length > maxWaiting || this.#waitingLength > maxWaitingLength) this.#giveUp();
    if (this.#isWriting) return;
    this.#isWriting = true;
    // All events of this turn are written together.
    queueMicrotask(() => void this.#writeAll());
  }

  /** Deletes the streams whose events are discarded: a stream that lacks some of them must not be resumed. */
  #giveUp(): void {
    const keys = new Set(this.#waiting.filter(([name]) => name === 'XADD').map(([, key]) => key as string));
    this.#logger.error('events of streams were discarded: Redis was not reachable for too long', {
      streams: keys.size,
    });
    this.#waiting = [...keys].map((key) => ['DEL', key]);
    this.#waitingLength = 0;
    this.#done = this.#added - this.#waiting.length;
    // Streams that have ended stay here; there are not many of them, and their names are not used again.
    if (this.#incomplete.size > maxWaiting) this.#incomplete.clear();
    for (const key of keys) this.#incomplete.add(key);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#closed) {
      const batch = this.#waiting.slice(0, maxBatch);
      const results = await Promise.allSettled(batch.map((command) => this.#redis.send(...command)));
      const failed = results.find((result) => result.status === 'rejected' && !isRepeated(result.reason));
      this.#isFailing = failed !== undefined;
      if (failed !== undefined) {
        this.#logger.debug('events of streams could not be written and are written again', { error: failed });
        await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
        continue;
      }
      // They may have been discarded meanwhile.
      if (this.#waiting[0] !== batch[0]) continue;
      this.#waiting = this.#waiting.slice(batch.length);
      this.#waitingLength -= batch.reduce((sum, command) => sum + lengthOf(command), 0);
      this.#done += batch.length;
      while (this.#waiters[0] !== undefined && this.#waiters[0].until <= this.#done) this.#waiters.shift()?.resolve();
    }
    this.#isWriting = false;
  }

  /** Waits until everything so far is stored. False: it is not, or not yet. */
  #written(): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#isFailing) return resolve(false);
      const cancel = setSteppedTimeout(maxWaitMs, () => resolve(false));
      const stop = (): void => {
        cancel();
        resolve(true);
      };
      this.#waiters.push({ until: this.#added, resolve: stop });
    });
  }
}

const lengthOf = (command: RedisCommand): number => command.reduce((sum, part) => sum + part.length, 0);

/** An event that was written before, when its reply was lost. */
const isRepeated = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('equal or smaller than the target stream top item');
