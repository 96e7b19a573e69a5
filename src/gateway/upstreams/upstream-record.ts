// What is recorded about one upstream for its operators: its restarts, how long its calls take, and what it did wrong.

import type { UpstreamConnection } from './connection.ts';
import type { UpstreamStatus } from './contract.ts';
import { InvalidMessages } from './invalid-messages.ts';
import { Latencies } from './latencies.ts';
import { messageOf, needsCaller, UpstreamStarting } from './start-error.ts';

const stderrTail = 4_096;

type RecordedFields = Omit<UpstreamStatus, 'name' | 'slug' | 'state' | 'since' | 'reason' | 'withheldTools'>;

export class UpstreamRecord {
  /** Why it could not be connected, has ended, or its lists could not be read, the last time. */
  failure: unknown;
  readonly latencies = new Latencies();
  readonly invalid: InvalidMessages;
  /** Output that is not a message; the first is shown. */
  noise: string | undefined;
  isAmbiguous = false;
  #revision: string | undefined;
  #restarts = 0;
  /** The keys of connections that have ended before they were not needed any more. */
  readonly #ended = new Set<string>();
  #stderr = '';

  constructor(countedInvalid: () => void) {
    this.invalid = new InvalidMessages(countedInvalid);
  }

  opened({ key, client }: UpstreamConnection): void {
    if (this.#ended.delete(key)) this.#restarts++;
    this.#revision = client.revision;
  }

  /** If another connection takes its place, that is a restart. */
  ended({ key }: UpstreamConnection, error?: unknown): void {
    this.#ended.add(key);
    this.failed(error);
    // The client has logged it: lists that could not be read for this reason are not another failure.
    if (error !== undefined) this.failure = error;
  }

  /** No connection is needed. */
  idle(): void {
    this.#ended.clear();
  }

  /** Remembers what a process that has ended wrote to stderr. */
  failed(error: unknown): void {
    const { stderr } = (error ?? {}) as { readonly stderr?: unknown };
    if (typeof stderr === 'string') this.#stderr = stderr;
  }

  /**
   * Records why it cannot be used. Returns false for the same reason as the last time, and if it has not failed: if it is still starting,
   * or only a caller is missing.
   */
  isNewFailure(error: unknown): boolean {
    if (needsCaller(error)) return false;
    const before = this.failure;
    this.failure = error;
    if (error instanceof UpstreamStarting) return false;
    return before === undefined || messageOf(before) !== messageOf(error);
  }

  /** As operators see it. */
  fields(all: readonly UpstreamConnection[]): RecordedFields {
    const pid = all.find(({ open }) => open?.pid !== undefined)?.open?.pid;
    const stderr = all.find(({ open }) => (open?.stderr ?? '') !== '')?.open?.stderr ?? this.#stderr;
    return {
      ...(this.#revision === undefined ? {} : { revision: this.#revision }),
      restarts: this.#restarts,
      inFlight: all.reduce((sum, { inFlight }) => sum + inFlight, 0),
      queued: all.reduce((sum, { inFlight, open }) => sum + (open === undefined ? inFlight : 0), 0),
      ...this.latencies.percentiles,
      ...(pid === undefined ? {} : { pid }),
      connections: all.filter(({ open }) => open !== undefined).length,
      ...(this.noise === undefined ? {} : { noise: this.noise }),
      ...(this.invalid.total === 0 ? {} : { invalidMessages: this.invalid.total }),
      ...(this.isAmbiguous ? { ambiguousInput: true } : {}),
      ...(stderr === '' ? {} : { stderr: stderr.slice(-stderrTail) }),
    };
  }
}
