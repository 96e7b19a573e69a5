// Why a request was refused where the answer alone does not show it, for whoever keeps records.

import type { RequestInfo } from '../engine/ports.ts';

const reasons = new WeakMap<RequestInfo, string>();

/** Notes that a guard refused a request although its answer is a result. */
export function markRefused(request: RequestInfo, why: string): void {
  reasons.set(request, why);
}

/** Why a guard refused a request; undefined when none did. */
export const refusalOf = (request: RequestInfo): string | undefined => reasons.get(request);
