// Every start of a program gets two lines: one before, so that a start which crashes the server is recorded too,
// and one when the program has ended.

import type { Sandbox, SpawnRequest } from '../sandbox/contract.ts';
import type { AuditRecord } from './contract.ts';

export function auditSandbox(
  sandbox: Sandbox,
  record: (record: AuditRecord) => void,
  ctx: AuditRecord['ctx'],
): Sandbox {
  const who = ctx === undefined ? {} : { ctx };

  const begin = ({ program, args = [], cwd }: SpawnRequest): void =>
    record({ event: 'spawn', ...who, outcome: 'begun', details: { program, args, cwd, level: sandbox.level } });

  const recordFailure = ({ program }: SpawnRequest, error: unknown): void =>
    record({ event: 'spawn', ...who, outcome: 'rejected', details: { program, why: String(error) } });

  const end = (
    { program }: SpawnRequest,
    report: { readonly exitCode: number; readonly stopped: string | null; readonly durationMs: number },
  ): void => {
    const { exitCode, stopped, durationMs } = report;
    record({ event: 'spawn', ...who, outcome: stopped ?? 'ended', durationMs, details: { program, exitCode } });
  };

  return {
    level: sandbox.level,
    describe: sandbox.describe,
    async run(request) {
      begin(request);
      try {
        const result = await sandbox.run(request);
        end(request, result);
        return result;
      } catch (error) {
        recordFailure(request, error);
        throw error;
      }
    },
    async spawn(request) {
      begin(request);
      try {
        const child = await sandbox.spawn(request);
        void child.exited.then((report) => end(request, report));
        return child;
      } catch (error) {
        recordFailure(request, error);
        throw error;
      }
    },
    close: () => sandbox.close(),
  };
}
