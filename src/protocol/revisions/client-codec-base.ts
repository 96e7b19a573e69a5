// What both client codecs share. They differ in how a conversation starts, in what surrounds the params of a request
// and in how input requests arrive; that is in client-handshake.ts and client-stateless.ts.

import { notificationText } from '../json-rpc.ts';
import { metaKeys } from '../meta.ts';
import type { SamplingResult } from '../model.ts';
import type { ClientCodec, RequestMeta } from './client-codec.ts';
import type { ClientDialect } from './client-dialects.ts';

type SharedMembers =
  | 'date'
  | 'requests'
  | 'serverCapabilities'
  | 'batches'
  | 'tasks'
  | 'notification'
  | 'cancelled'
  | 'samplingResult';

/** The members of a codec that follow from its dialect. */
export function sharedMembers(dialect: ClientDialect): Pick<ClientCodec, SharedMembers> {
  const { shared } = dialect;
  const sendable = new Set(dialect.notifications);
  return {
    date: shared.date,
    requests: new Set(shared.requests),
    serverCapabilities: shared.serverCapabilities,
    batches: shared.batches,
    tasks: shared.tasks,
    notification: (method, params) => (sendable.has(method) ? notificationText(method, params) : undefined),
    cancelled: (requestId, reason) => notificationText('notifications/cancelled', { requestId, reason }),
    samplingResult: (result) => encodeSamplingResult(result, dialect),
  };
}

/** The text of a request with encoded params. */
export function requestWith(id: number, method: string, params: string): string {
  const head = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
  return params === '' ? `${head}}` : `${head},"params":{${params}}}`;
}

/** The members of `_meta` that belong to one request, as JSON without braces. */
export function metaMembers({ progressToken, logLevel, extra }: RequestMeta, perRequestLevel: boolean): string {
  let text = progressToken === undefined ? '' : `"progressToken":${progressToken}`;
  if (logLevel !== undefined && perRequestLevel) text = join(text, `"${metaKeys.logLevel}":"${logLevel}"`);
  if (extra !== undefined) {
    const own = JSON.stringify(extra).slice(1, -1);
    if (own !== '') text = join(text, own);
  }
  return text;
}

/** Two lists of JSON members as one; either may be empty. */
export function join(left: string, right: string): string {
  if (left === '') return right;
  return right === '' ? left : `${left},${right}`;
}

function encodeSamplingResult(result: SamplingResult, { shared }: ClientDialect): { [key: string]: unknown } | string {
  const blocks = (Array.isArray(result.content) ? result.content : [result.content]) as readonly { type: string }[];
  if (!shared.samplingAudio && blocks.some((each) => each.type === 'audio')) {
    return `a sampling response with audio is not supported in ${shared.date}`;
  }
  if (shared.samplingTools || !Array.isArray(result.content)) return { ...result };
  if (blocks.length !== 1) return `a sampling response must have exactly one content block in ${shared.date}`;
  return { ...result, content: blocks[0] };
}
