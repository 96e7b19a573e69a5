// The audit log of a server: records every call, rejection and read, failed authentication and starts of programs.
// The content of lines: line-encoder.ts; writing them: writer.ts.

import { monotonicMs } from '../../common/clock.ts';
import { assertKnownOptions } from '../../common/known-options.ts';
import { silentLogger } from '../../common/logger.ts';
import { checkMiddleware } from '../../engine/calls/middleware.ts';
import type { Middleware, RequestEnd, RequestInfo } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import { WireError, wireErrors } from '../../protocol/errors.ts';
import { type Authenticate, type AuthenticationResult, isDenied } from '../auth/contract.ts';
import { isExempt } from '../limits/scope.ts';
import type { AuditHead, AuditLog, AuditOptions, AuditRecord, AuditStatus } from './contract.ts';
import { EventLimit } from './event-limit.ts';
import { endedCall, isRecorded, LineEncoder } from './line-encoder.ts';
import { openLog } from './open.ts';
import { createRedaction } from './redaction.ts';
import { auditSandbox } from './spawns.ts';
import { monitorOf, statusOf } from './status.ts';
import { taskLine } from './task-lines.ts';
import type { AuditWriter } from './writer.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
/** Enough for the fields that are never truncated. */
const minLineBytes = 16 * kibibyte;

/** When a rejected client may retry; the disk is checked as often. */
const retryMs = 1_000;

const known: Record<keyof AuditOptions, true> = {
  directory: true,
  name: true,
  sync: true,
  failureMode: true,
  maxFileBytes: true,
  maxTotalBytes: true,
  maxFiles: true,
  maxLineBytes: true,
  maxQueuedBytes: true,
  minFreeBytes: true,
  arguments: true,
  fields: true,
  secretKeys: true,
  secretPatterns: true,
  logger: true,
};

/**
 * Opens an audit log and continues its chain.
 *
 * @example
 * await server.use(await openAuditLog({ directory: '/var/log/mooring' }));
 */
export async function openAuditLog(options: AuditOptions): Promise<AuditLog> {
  assertKnownOptions('openAuditLog', options, known);
  const { name = 'audit', sync = 'interval', failureMode = 'closed', maxFiles = Number.POSITIVE_INFINITY } = options;
  const { maxLineBytes = 32 * kibibyte, maxQueuedBytes = 16 * mebibyte, minFreeBytes = mebibyte } = options;
  const maxTotalBytes = options.maxTotalBytes ?? Math.max(1024 * mebibyte, 2 * (options.maxFileBytes ?? 0));
  const maxFileBytes = options.maxFileBytes ?? Math.min(64 * mebibyte, maxTotalBytes / 4);
  if (maxLineBytes < minLineBytes) throw new RangeError(`maxLineBytes must be at least ${minLineBytes}`);
  if (maxTotalBytes < 2 * maxFileBytes) throw new RangeError('maxTotalBytes must be at least twice maxFileBytes');
  const { directory, logger } = options;
  const lines = new LineEncoder(createRedaction(options), maxLineBytes, logger ?? silentLogger);
  const files = { directory, name, maxFileBytes, maxTotalBytes, maxFiles };
  const { writer, claim } = await openLog({ ...files, sync, failureMode, maxQueuedBytes, minFreeBytes, logger }, lines);
  let closing: Promise<void> | undefined;

  const record = (entry: AuditRecord): void => writer.record(entry);
  const limit = new EventLimit((event, count) => record({ event: 'suppressed', details: { event, count } }));

  return {
    name: 'audit',
    get path(): string {
      return writer.path;
    },
    get head(): AuditHead {
      return writer.head;
    },
    get status(): AuditStatus {
      return statusOf(writer, failureMode);
    },
    monitor: () => monitorOf(statusOf(writer, failureMode)),
    record,
    flush: () => writer.flush(),

    install(server: Server, upstreamOf?: UpstreamOf): void {
      const calls = new CallRecorder(writer, failureMode === 'closed', upstreamOf);
      server.around(sync === 'always' ? calls.recordBeforeResponse : calls.admit);
      server.observe({
        ended: (ended) => calls.record(ended),
        rejected: (rejected) => {
          if (limit.admits('invalid-message')) writer.add(lines.rejection(rejected));
        },
        taskChanged: (event) => {
          const line = taskLine(event);
          if (line !== undefined) record(line);
        },
      });
    },

    authentication(authenticate: Authenticate): Authenticate {
      return (request) => {
        const recordFailure = (result: AuthenticationResult): AuthenticationResult => {
          if ((result === undefined || isDenied(result)) && limit.admits('auth')) {
            const { method, path, address } = request;
            const { status = 401, message } = result ?? {};
            record({ event: 'auth', outcome: 'rejected', details: { status, method, path, address, why: message } });
          }
          return result;
        };
        const result = authenticate(request);
        return result instanceof Promise ? result.then(recordFailure) : recordFailure(result);
      };
    },

    sandbox: (sandbox, ctx) => auditSandbox(sandbox, record, ctx),

    close(): Promise<void> {
      closing ??= (async () => {
        limit.close();
        record({ event: 'close' });
        await writer.close();
        claim.release();
      })();
      return closing;
    },
  };
}

type UpstreamOf = (request: RequestInfo) => string | undefined;

/** Records calls, and rejects those that could not be recorded. */
class CallRecorder {
  readonly #writer: AuditWriter;
  readonly #failsClosed: boolean;
  readonly #upstreamOf: UpstreamOf | undefined;
  /** Requests that are recorded already, or will not be, and their outcome. */
  readonly #settled = new WeakMap<RequestInfo, RequestEnd['outcome']>();

  constructor(writer: AuditWriter, failsClosed: boolean, upstreamOf: UpstreamOf | undefined) {
    this.#writer = writer;
    this.#failsClosed = failsClosed;
    this.#upstreamOf = upstreamOf;
  }

  record(ended: RequestEnd): void {
    const { request, outcome } = ended;
    if (outcome !== 'rejected' && !isRecorded(request.method)) return;
    if (this.#settled.get(request) === outcome) return;
    this.#writer.addCall(endedCall(ended, this.#upstreamOf?.(request)));
  }

  /** Middleware: rejects a call before it runs while lines cannot be written. */
  readonly admit: Middleware = checkMiddleware((request) => {
    if (this.#writer.failure !== undefined && this.#mustRecord(request)) this.#reject(request);
  });

  /** Middleware for `sync: 'always'`: checks the disk before a call runs, and delays its response until it is recorded. */
  readonly recordBeforeResponse: Middleware = async (request, next) => {
    const mustRecord = this.#mustRecord(request);
    if (mustRecord) {
      if (this.#writer.failure === undefined) await this.#writer.check();
      if (this.#writer.failure !== undefined) this.#reject(request);
    }
    let result: unknown;
    try {
      result = await next();
    } catch (error) {
      // The client gets an error in any case; a failure to record it changes nothing.
      await this.#recordNow(request, 'rejected', error).catch(() => undefined);
      throw error;
    }
    if (!isRecorded(request.method)) return result;
    const isError = (result as { isError?: unknown } | undefined)?.isError === true;
    try {
      await this.#recordNow(request, isError ? 'failed' : 'ok');
    } catch (cause) {
      if (!mustRecord) return result;
      this.#settled.set(request, 'rejected');
      throw wireErrors.unrecorded(cause);
    }
    return result;
  };

  /** `initialize` and `ping` are always admitted. */
  #mustRecord(request: RequestInfo): boolean {
    return this.#failsClosed && isRecorded(request.method) && !isExempt(request);
  }

  async #recordNow(request: RequestInfo, outcome: RequestEnd['outcome'], failure?: unknown): Promise<void> {
    const endedAtMs = monotonicMs();
    const code = failure instanceof WireError ? failure.code : undefined;
    const ended = { request, outcome, durationMs: endedAtMs - request.startedAtMs, endedAtMs };
    this.#writer.addCall(endedCall(code === undefined ? ended : { ...ended, code }, this.#upstreamOf?.(request)));
    this.#settled.set(request, outcome);
    await this.#writer.flush(true);
  }

  /** The rejection cannot be recorded either; it is counted. */
  #reject(request: RequestInfo): never {
    this.#writer.countRejected();
    this.#settled.set(request, 'rejected');
    throw wireErrors.auditUnavailable(retryMs);
  }
}
