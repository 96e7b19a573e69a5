// A proxy that makes the suite negotiate an old revision: the harness always offers its newest, so the version is rewritten on the way.
import type { Bridge } from './bridge.ts';
import { type Forwarded, startProxy } from './proxy.ts';
import { isObject } from './wire.ts';

export type PinnedRevision = '2024-11-05' | '2025-03-26' | '2025-06-18';

/** Starts a proxy in front of `target` whose clients are made to offer `revision` in `initialize`. */
export function startPinProxy(target: string, revision: PinnedRevision): Promise<Bridge> {
  return startProxy(target, { edit: (request) => pin(request, revision) });
}

function pin(request: Forwarded, revision: PinnedRevision): Forwarded {
  if (!request.body.includes('"initialize"')) return request;
  const message: unknown = JSON.parse(request.body.toString('utf8'));
  if (!isObject(message) || message.method !== 'initialize' || !isObject(message.params)) return request;
  const params = { ...message.params, protocolVersion: revision };
  const version = request.headers['mcp-protocol-version'] && { 'mcp-protocol-version': revision };
  return {
    body: Buffer.from(JSON.stringify({ ...message, params })),
    headers: { ...request.headers, ...(version || {}) },
  };
}
