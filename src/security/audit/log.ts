// The audit log of a server: an observer of every call, refusal and read, with doors for authentication and for starts
// of programs. What a line says: lines.ts; how it gets to the disk: writer.ts.

import { gate } from '../../engine/layers.ts';
import type { Ended, Middleware, RequestInfo } from '../../engine/ports.ts';
import { isThenable } from '../../engine/run-call.ts';
import type { Server } from '../../engine/server.ts';
import { monotonicMs } from '../../protocol/clock.ts';
import { WireError, wireErrors } from '../../protocol/errors.ts';
import { type Authenticate, isDenied, type Verdict } from '../auth/contract.ts';
import { isExempt } from '../limits/scope.ts';
import { createSpelling } from './arguments.ts';
import type { AuditHead, AuditLog, AuditOptions, AuditRecord } from './contract.ts';
import { isEventful } from './lines.ts';
import { openLog } from './open.ts';
import { auditSandbox } from './spawns.ts';
import { Valve } from './valve.ts';

const retryMs = 1_000;

/**
 * Opens an audit log and takes up its chain.
 *
 * @example
 * await server.use(await openAuditLog({ directory: '/var/log/mooring' }));
 */
export async function openAuditLog(options: AuditOptions): Promise<AuditLog> {
  const { directory, name = 'audit', sync = 'interval', maxFileBytes = 64 * 1024 * 1024, logger } = options;
  const { maxFiles = Number.POSITIVE_INFINITY, maxQueuedLines = 100_000 } = options;
  const spelling = createSpelling(options);
  const { writer, claim } = await openLog({ directory, name, sync, maxFileBytes, maxFiles, logger }, spelling);
  let closing: Promise<void> | undefined;

  const record = (entry: AuditRecord): void => writer.record(entry);

  // Garbage and wrong tokens cost their sender nothing; they must not be able to fill the disk.
  const valve = new Valve((event, count) => record({ event: 'suppressed', details: { event, count } }));

  /** Requests that have their line already, and what it says. */
  const told = new WeakMap<RequestInfo, Ended['outcome']>();

  /** No line, no call: a log that does not keep up closes the door rather than an eye. */
  const guard = gate((request) => {
    if (writer.queued > maxQueuedLines && !isExempt(request)) throw wireErrors.overloaded(retryMs);
  });

  /** Lets an answer go only when its line is on the disk. */
  const hold: Middleware = (request, next) => {
    const startedAt = monotonicMs();
    const settle = async (outcome: Ended['outcome'], failure?: unknown): Promise<void> => {
      const endedAtMs = monotonicMs();
      const ended = { request, outcome, durationMs: endedAtMs - startedAt, endedAtMs };
      if (!isEventful(ended)) return;
      const code = failure instanceof WireError ? failure.code : undefined;
      writer.call(code === undefined ? ended : { ...ended, code });
      told.set(request, outcome);
      await writer.flush();
    };
    const answered = async (result: unknown): Promise<unknown> => {
      await settle((result as { isError?: unknown } | undefined)?.isError === true ? 'failed' : 'ok');
      return result;
    };
    const refused = async (error: unknown): Promise<never> => {
      await settle('refused', error);
      throw error;
    };
    try {
      const result = next();
      return isThenable(result) ? result.then(answered, refused) : answered(result);
    } catch (error) {
      return refused(error);
    }
  };

  return {
    name: 'audit',
    get path(): string {
      return writer.path;
    },
    get head(): AuditHead {
      return writer.head;
    },
    record,
    flush: () => writer.flush(),

    install(server: Server): void {
      server.around(guard);
      if (sync === 'always') server.around(hold);
      const tell = (ended: Ended): void => {
        if (isEventful(ended)) writer.call(ended);
      };
      const tellOnce = (ended: Ended): void => {
        if (told.get(ended.request) !== ended.outcome) tell(ended);
      };
      server.observe({
        ended: sync === 'always' ? tellOnce : tell,
        refused: (refused) => {
          if (valve.admits('refusal')) writer.refusal(refused);
        },
      });
    },

    authentication(authenticate: Authenticate): Authenticate {
      return (request) => {
        const tell = (verdict: Verdict): Verdict => {
          if ((verdict === undefined || isDenied(verdict)) && valve.admits('auth')) {
            const { method, path, address } = request;
            const { status = 401, message } = verdict ?? {};
            record({ event: 'auth', outcome: 'refused', details: { status, method, path, address, why: message } });
          }
          return verdict;
        };
        const verdict = authenticate(request);
        return verdict instanceof Promise ? verdict.then(tell) : tell(verdict);
      };
    },

    sandbox: (sandbox, ctx) => auditSandbox(sandbox, record, ctx),

    close(): Promise<void> {
      closing ??= (async () => {
        valve.close();
        record({ event: 'close' });
        await writer.close();
        claim.release();
      })();
      return closing;
    },
  };
}
