// Passes messages to a channel. An exception there is an error of that message: it is answered and logged, and neither
// the connection nor the process ends. Every transport receives through these functions.

import type { Logger } from '../common/logger.ts';
import { parseJson } from '../common/parse-json.ts';
import { wireErrors } from '../protocol/errors.ts';
import type { Channel, Inbound } from '../protocol/exchange.ts';
import { isRequestId } from '../protocol/json-rpc.ts';
import type { RequestId } from '../protocol/model.ts';

/**
 * Passes the text of a message, and what `channel.parse` returned for it, if that was called. False when it was lost: the outlet
 * will not be called for it.
 */
export function receiveText(
  channel: Channel,
  text: string,
  logger: Logger,
  inbound?: Inbound,
  parsed?: unknown,
): boolean {
  try {
    channel.receiveText(text, inbound, parsed);
    return true;
  } catch (error) {
    return respondToFailure(channel, error, idOf(parseJson(text)), logger, inbound);
  }
}

/** Passes a message that is parsed already. False when it was lost. */
export function receive(channel: Channel, message: unknown, logger: Logger, inbound?: Inbound): boolean {
  try {
    channel.receive(message, inbound);
    return true;
  } catch (error) {
    return respondToFailure(channel, error, idOf(message), logger, inbound);
  }
}

/** Responds to a frame that never became a message. False when it was lost. */
export function reject(channel: Channel, error: Error, id: RequestId | undefined, logger: Logger): boolean {
  try {
    channel.reject(error, id);
    return true;
  } catch (cause) {
    logger.error('an error response could not be sent', { error: cause });
    return false;
  }
}

function respondToFailure(
  channel: Channel,
  cause: unknown,
  id: RequestId | undefined,
  logger: Logger,
  inbound: Inbound | undefined,
): boolean {
  logger.error('a message could not be handled', { error: cause });
  const outlet = inbound?.outlet;
  // On a connection that stays open, only a request waits for a response.
  if (id === undefined && outlet === undefined) return false;
  try {
    channel.reject(wireErrors.unhandled(cause), id, inbound);
    return true;
  } catch (again) {
    logger.error('an error response could not be sent', { error: again });
    // The client of an HTTP exchange waits for its end.
    outlet?.end(undefined, 500);
    return outlet !== undefined;
  }
}

/** The id of a request. An error with the id of a response would be taken for the response to another request. */
function idOf(message: unknown): RequestId | undefined {
  const { id, method } = (message ?? {}) as { readonly id?: unknown; readonly method?: unknown };
  return method !== undefined && isRequestId(id) ? id : undefined;
}
