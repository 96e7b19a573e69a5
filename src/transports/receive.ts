// Hands messages to a channel. Whatever goes wrong in it is an error of that message: it is answered and logged, and
// neither the connection nor the process ends. Every transport receives through these functions.

import { wireErrors } from '../protocol/errors.ts';
import type { Channel, Inbound } from '../protocol/exchange.ts';
import { isRequestId } from '../protocol/json-rpc.ts';
import type { Logger } from '../protocol/logger.ts';
import type { RequestId } from '../protocol/model.ts';

/** Hands over the text of a message. False when it was lost: the outlet will not hear of it. */
export function receiveText(channel: Channel, text: string, logger: Logger, inbound?: Inbound): boolean {
  try {
    channel.receiveText(text, inbound);
    return true;
  } catch (error) {
    return answerFailure(channel, error, idOfText(text), logger, inbound);
  }
}

/** Hands over a message that is parsed already. False when it was lost. */
export function receive(channel: Channel, message: unknown, logger: Logger, inbound?: Inbound): boolean {
  try {
    channel.receive(message, inbound);
    return true;
  } catch (error) {
    return answerFailure(channel, error, idOf(message), logger, inbound);
  }
}

/** Answers what never became a message. False when it was lost. */
export function refuse(channel: Channel, error: Error, id: RequestId | undefined, logger: Logger): boolean {
  try {
    channel.reject(error, id);
    return true;
  } catch (cause) {
    logger.error('an error could not be answered', { error: cause });
    return false;
  }
}

function answerFailure(
  channel: Channel,
  cause: unknown,
  id: RequestId | undefined,
  logger: Logger,
  inbound: Inbound | undefined,
): boolean {
  logger.error('a message could not be handled', { error: cause });
  const outlet = inbound?.outlet;
  // On a connection that goes on, only a request waits for an answer.
  if (id === undefined && outlet === undefined) return false;
  try {
    channel.reject(wireErrors.unhandled(cause), id, inbound);
    return true;
  } catch (again) {
    logger.error('an error could not be answered', { error: again });
    // An exchange has an end, and its client waits for that.
    outlet?.end(undefined, 500);
    return outlet !== undefined;
  }
}

/** The id of a request; an error with that of a response would be taken for the answer to another request. */
function idOf(message: unknown): RequestId | undefined {
  const { id, method } = (message ?? {}) as { readonly id?: unknown; readonly method?: unknown };
  return method !== undefined && isRequestId(id) ? id : undefined;
}

function idOfText(text: string): RequestId | undefined {
  try {
    return idOf(JSON.parse(text));
  } catch {
    // What is not JSON has no id.
    return undefined;
  }
}
