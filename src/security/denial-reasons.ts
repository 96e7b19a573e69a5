// Why a guard denied a request whose response does not show it, for the audit log.

import type { RequestInfo } from '../engine/ports.ts';

const reasons = new WeakMap<RequestInfo, string>();

/** Records that a guard denied a request although its response is a result. */
export function markDenied(request: RequestInfo, why: string): void {
  reasons.set(request, why);
}

/** Why a guard denied a request; undefined if none did. */
export const denialReason = (request: RequestInfo): string | undefined => reasons.get(request);
