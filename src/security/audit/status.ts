// The status of the log, for programs, health probes and metrics.

import type { Metric, PartStatus } from '../../protocol/monitor.ts';
import type { AuditStatus, FailureMode } from './contract.ts';
import type { AuditWriter } from './writer.ts';

export function statusOf(writer: AuditWriter, failureMode: FailureMode): AuditStatus {
  const { failure, queuedBytes, rejectedCalls, droppedLines } = writer;
  return { failure, failureMode, queuedBytes, rejectedCalls, droppedLines };
}

export function monitorOf(status: AuditStatus): PartStatus {
  const { failure, failureMode, queuedBytes, rejectedCalls, droppedLines } = status;
  const isOpen = failureMode === 'open';
  return {
    status: failure === undefined ? 'healthy' : isOpen ? 'degraded' : 'unavailable',
    metrics: [
      gauge('writable', 'Whether audit lines can be written.', failure === undefined ? 1 : 0),
      gauge('fails_open', 'Whether calls run unrecorded while lines cannot be written.', isOpen ? 1 : 0),
      gauge('queued_bytes', 'Bytes of audit lines that wait to be written.', queuedBytes),
      counter('rejected_calls_total', 'Calls rejected because they could not be recorded.', rejectedCalls),
      counter('dropped_lines_total', 'Audit lines dropped because too many were waiting.', droppedLines),
    ],
  };
}

const gauge = (name: string, help: string, value: number): Metric => ({
  name: `mooring_audit_${name}`,
  type: 'gauge',
  help,
  value,
});

const counter = (name: string, help: string, value: number): Metric => ({
  ...gauge(name, help, value),
  type: 'counter',
});
