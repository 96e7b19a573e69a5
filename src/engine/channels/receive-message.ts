// What happens to a message that a channel receives: it is classified, its codec is found, and a call is started or the
// message is rejected. What a method does is in features/; how it is encoded is in protocol/revisions/.

import { WireError, wireErrors } from '../../protocol/errors.ts';
import type { Inbound, Outlet, ReadHeader } from '../../protocol/exchange.ts';
import type { ReadonlyIdTable } from '../../protocol/id-table.ts';
import {
  classifyMessage,
  isRequestId,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../../protocol/json-rpc.ts';
import { methodRow } from '../../protocol/methods.ts';
import type { RequestId } from '../../protocol/model.ts';
import type { Codec } from '../../protocol/revisions/index.ts';
import { checkLengths, checkPhase, findFeature, isLong } from '../calls/admission.ts';
import { EngineCall, type OwnChannel } from '../calls/call.ts';
import { smallRequest } from '../calls/pending-requests.ts';
import { runCall } from '../calls/run-call.ts';
import type { CallRedirect } from '../ports.ts';
import { BatchOutlet } from './batch.ts';

/** The channel that receives a message. */
export interface ReceivingChannel extends OwnChannel {
  /** Calls that did not end in the turn in which they started. */
  readonly inFlight: ReadonlyIdTable<EngineCall>;
  /** Text length of the message that is being received; in a batch, the average of its messages. */
  messageLength: number;
  /** Starts a call when the limit of calls that run at a time allows. */
  enqueue(call: EngineCall, start: () => void): void;
  /** Settles the request to the client that a response belongs to. */
  settleRequest(message: JsonRpcResponse): void;
}

/** The codec for messages that name no revision: that of the session, or the default before there is one. */
export function currentCodec({ session, server }: ReceivingChannel): Codec {
  return session?.codec ?? server.revisions.defaultCodec;
}

export function receiveMessage(
  channel: ReceivingChannel,
  value: unknown,
  outlet: Outlet,
  inbound: Inbound | undefined,
): void {
  const message = value as JsonRpcRequest;
  // Fast path for the most common message; everything else is classified in full.
  if (
    typeof value === 'object' &&
    value !== null &&
    message.jsonrpc === '2.0' &&
    typeof message.method === 'string' &&
    isRequestId(message.id) &&
    (message.params === undefined ||
      (typeof message.params === 'object' && message.params !== null && !Array.isArray(message.params)))
  ) {
    receiveRequest(channel, message, outlet, inbound);
  } else if (Array.isArray(value)) receiveBatch(channel, value, outlet, inbound?.header);
  else receiveOther(channel, value, outlet, inbound);
}

export function rejectMessage(
  { server, inFlight, peer, session }: ReceivingChannel,
  codec: Codec,
  id: RequestId | undefined,
  error: WireError,
  message: unknown,
  outlet: Outlet,
  text?: string,
): void {
  // A response with the id of a request in flight would settle that request; a long id is not sent back.
  const safeId = id === undefined || isLong(id, server.limits) || inFlight.has(id) ? undefined : id;
  outlet.end(codec.error(safeId, error), codec.statusOf(error), error.http?.headers);
  const code = error.code ?? codec.codeOf(error.kind);
  for (const notify of server.observers.rejected) notify({ message, text, peer, session, error, code });
}

function receiveOther(channel: ReceivingChannel, value: unknown, outlet: Outlet, inbound: Inbound | undefined): void {
  const { revisions } = channel.server;
  const header = inbound?.header;
  const isStateless = header !== undefined && channel.session === undefined;
  const classified = classifyMessage(value);
  switch (classified.kind) {
    case 'request':
      return receiveRequest(channel, classified.message, outlet, inbound);
    case 'notification': {
      const headerError = isStateless && revisions.notificationHeaderError(classified.message, header);
      if (headerError) {
        return rejectMessage(channel, revisions.newestStateless, undefined, headerError, value, outlet);
      }
      receiveNotification(channel, classified.message);
      return outlet.end(undefined);
    }
    case 'response':
      if (isStateless) {
        const error = wireErrors.responseWithoutSession();
        return rejectMessage(channel, revisions.newestStateless, undefined, error, value, outlet);
      }
      channel.settleRequest(classified.message);
      return outlet.end(undefined);
    case 'invalid': {
      const known = channel.session === undefined ? header : undefined;
      const codec = revisions.codecForInvalid(value, known) ?? currentCodec(channel);
      return rejectMessage(channel, codec, classified.id, classified.error, value, outlet);
    }
  }
}

function receiveRequest(
  channel: ReceivingChannel,
  message: JsonRpcRequest,
  outlet: Outlet,
  inbound: Inbound | undefined,
): void {
  const { server } = channel;
  const header = inbound?.header;
  const isSessionRequest = inbound?.route === 'session' || inbound?.route === 'initialize';
  const stateless = isSessionRequest ? undefined : server.revisions.classify(message, header);
  if (stateless instanceof WireError) {
    return rejectMessage(channel, server.revisions.newestStateless, message.id, stateless, message, outlet);
  }
  const session = stateless === undefined ? channel.session : undefined;
  const codec = stateless ?? session?.codec ?? server.revisions.defaultCodec;
  if (stateless === undefined) {
    const phaseError = checkPhase(message, session, codec);
    if (phaseError !== undefined) return rejectMessage(channel, codec, message.id, phaseError, message, outlet);
  }
  const lengthError = checkLengths(message, server.limits);
  if (lengthError !== undefined) return rejectMessage(channel, codec, message.id, lengthError, message, outlet);
  const row = methodRow(message.method);
  // The string of the table: guards compare it many times, and comparing a string with itself is fastest.
  const method = row?.name ?? message.method;
  const feature = findFeature(server, method, row, message.params, codec);
  if (feature instanceof WireError) return rejectMessage(channel, codec, message.id, feature, message, outlet);
  if (channel.messageLength > smallRequest && server.pending.isFull(channel.peer)) {
    return rejectMessage(channel, codec, message.id, wireErrors.tooMuchPending(), message, outlet);
  }
  const { inFlight } = channel;
  if (inFlight.size > 0) {
    const inFlightError = checkInFlight(inFlight, message.id, server.limits.maxInFlight);
    if (inFlightError !== undefined) return rejectMessage(channel, codec, message.id, inFlightError, message, outlet);
  }
  const call = new EngineCall(channel, codec, session, method, message, outlet, header);
  if (server.redirects.length > 0 && method === 'tools/call') {
    const error = redirect(call, server.redirects);
    if (error !== undefined) return rejectMessage(channel, codec, message.id, error, message, outlet);
  }
  if (feature.duration === 'handler' && codec.rules.concurrency !== Number.POSITIVE_INFINITY) {
    channel.enqueue(call, () => runCall(call, feature));
  } else runCall(call, feature, inbound?.atMs);
}

/** Makes the call one of another tool. */
function redirect(call: EngineCall, redirects: readonly CallRedirect[]): WireError | undefined {
  try {
    for (const each of redirects) {
      const other = each(call.params, call);
      if (other === undefined) continue;
      call.params = { ...call.params, name: other.name, arguments: other.arguments };
      call.isRedirected = true;
      break;
    }
    return undefined;
  } catch (error) {
    return error instanceof WireError ? error : wireErrors.internal(error);
  }
}

function checkInFlight(
  inFlight: ReceivingChannel['inFlight'],
  id: RequestId,
  maxInFlight: number,
): WireError | undefined {
  if (inFlight.has(id)) return wireErrors.duplicateId(id);
  return inFlight.size < maxInFlight ? undefined : wireErrors.tooManyInFlight(maxInFlight);
}

function receiveBatch(
  channel: ReceivingChannel,
  messages: readonly unknown[],
  outlet: Outlet,
  header: ReadHeader | undefined,
): void {
  const { server, session } = channel;
  const codec = currentCodec(channel);
  const reject = (id: RequestId | undefined, error: WireError, message: unknown, to: Outlet): void =>
    rejectMessage(channel, codec, id, error, message, to);
  const allowed = session === undefined ? codec.rules.batch === true : codec.batches;
  const { maxBatch, maxBatchResponse } = server.limits;
  const isStateless = messages.some((each) => server.revisions.namesRevision((each as JsonRpcRequest | null)?.params));
  if (!allowed || isStateless) {
    const own = session === undefined ? server.revisions.codecForInvalid(messages, header) : undefined;
    return rejectMessage(channel, own ?? codec, undefined, wireErrors.batchNotSupported(), messages, outlet);
  }
  if (messages.length === 0) return reject(undefined, wireErrors.emptyBatch(), messages, outlet);
  if (messages.length > maxBatch) return reject(undefined, wireErrors.batchTooLarge(maxBatch), messages, outlet);
  const responses = new BatchOutlet(outlet, messages.length, maxBatchResponse);
  channel.messageLength /= messages.length;
  messages.forEach((message, i) => {
    const { id, method } = (message ?? {}) as Partial<JsonRpcRequest>;
    const knownId = isRequestId(id) ? id : undefined;
    const slot = responses.slot(i, () => codec.error(knownId, wireErrors.batchResponseTooLarge(maxBatchResponse)));
    if (method === 'initialize') {
      reject(knownId, wireErrors.initializeInBatch(), message, slot);
    } else if (Array.isArray(message)) {
      reject(undefined, wireErrors.notAMessage('a batch may not contain another batch'), message, slot);
    } else receiveMessage(channel, message, slot, undefined);
  });
}

function receiveNotification(channel: ReceivingChannel, { method, params }: JsonRpcNotification): void {
  if (method === 'notifications/cancelled') {
    const id = params?.['requestId'];
    const reason = params?.['reason'];
    const call = isRequestId(id) ? channel.inFlight.get(id) : undefined;
    // A client must not cancel initialize (handshake revisions, schema of CancelledNotification).
    if (call?.method === 'initialize') return;
    call?.cancel(typeof reason === 'string' ? reason : 'cancelled by the client');
    return;
  }
  const { session, server, peer } = channel;
  if (session === undefined || server.revisions.namesRevision(params)) return;
  if (session.codec.rules.initializedNames.has(method)) session.markInitialized();
  else if (method === 'notifications/roots/list_changed') {
    session.forgetRoots();
    for (const notify of server.observers.rootsChanged) notify(peer, session);
  } else server.otherMethods?.notified(method, params ?? {}, peer, session);
}
