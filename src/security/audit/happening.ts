// What happened, kept for the moment until its line is written: the few values the line will have, and nothing of the
// request itself, whose connection would have to be kept with it.

import type { Ended, Refused } from '../../engine/ports.ts';
import { monotonicMs } from '../../protocol/clock.ts';
import type { Peer, Principal } from '../../protocol/exchange.ts';
import { refusalOf } from '../refusals.ts';
import type { AuditRecord } from './contract.ts';

/** The end of a request. */
export interface CallHappening {
  readonly kind: 'call';
  /** When, on the monotonic clock. */
  readonly atMs: number;
  readonly method: string;
  readonly name: string | undefined;
  args: unknown;
  /** The arguments as the line will have them, where they were too long to be kept. */
  spelledArgs: string | undefined;
  readonly principal: Principal | undefined;
  readonly session: string | undefined;
  readonly transport: string;
  readonly address: string | undefined;
  readonly outcome: string;
  readonly code: number | undefined;
  readonly durationMs: number;
  /** Why a guard refused it, where the answer is a result. */
  readonly why: string | undefined;
}

export function callHappening({ request, outcome, code, durationMs, endedAtMs }: Ended): CallHappening {
  const { method, name, params, peer } = request;
  const why = outcome === 'failed' ? refusalOf(request) : undefined;
  return {
    kind: 'call',
    atMs: endedAtMs,
    method,
    name,
    args: params['arguments'],
    spelledArgs: undefined,
    principal: peer.principal,
    session: request.ctx.session?.key,
    transport: peer.transport,
    address: peer.address,
    outcome: why === undefined ? outcome : 'refused',
    code,
    durationMs,
    why,
  };
}

/** A message that was turned away before it became a request. */
export interface RefusalHappening {
  readonly kind: 'refusal';
  readonly atMs: number;
  readonly method: string | undefined;
  readonly name: string | undefined;
  readonly peer: Pick<Peer, 'principal' | 'transport' | 'address'>;
  readonly code: number;
  readonly why: string;
}

export function refusalHappening({ message, peer, error, code }: Refused): RefusalHappening {
  const { method, params } = (message ?? {}) as { readonly method?: unknown; readonly params?: { name?: unknown } };
  const name = params?.name;
  const { principal, transport, address } = peer;
  return {
    kind: 'refusal',
    atMs: monotonicMs(),
    method: typeof method === 'string' ? method : undefined,
    name: typeof name === 'string' ? name : undefined,
    peer: { principal, transport, address },
    code,
    why: error.message,
  };
}

/** Something that is no request. */
export interface RecordHappening {
  readonly kind: 'record';
  readonly atMs: number;
  readonly record: AuditRecord;
}

export const recordHappening = (record: AuditRecord): RecordHappening => ({
  kind: 'record',
  atMs: monotonicMs(),
  record,
});

export type Happening = CallHappening | RefusalHappening | RecordHappening;
