// Input required: a result with input requests is passed to the handlers, and the request is sent again with
// their responses. All input requests of a result are handled at once.

import { pause } from '../../common/wait.ts';
import { errorRows } from '../../protocol/errors.ts';
import { isObject, type Params } from '../../protocol/json-rpc.ts';
import { methods } from '../../protocol/methods.ts';
import type { ClientCodec, WireInputRequest } from '../../protocol/revisions/client-revisions.ts';
import type { ClientError } from '../errors.ts';
import { clientErrors } from '../errors.ts';
import { type InputContext, InputFailure, type InputResponder } from '../input-requests.ts';

/** The pause before a retry that a server wants without any input. */
const emptyRetryMs = 250;
/** Stops a result from opening more dialogs than a user could answer. */
const maxInputRequests = 64;

interface InputRequiredResult {
  readonly requests: Readonly<Record<string, WireInputRequest>>;
  readonly state: string | undefined;
}

/** The rejection of a call with `inputRequired: 'throw'` whose result has input requests. */
export class InputRequiredError extends Error {
  /** The input requests by key, as the server sent them. */
  readonly requests: Readonly<Record<string, WireInputRequest>>;
  /** To be sent back with the responses, unchanged. */
  readonly state: string | undefined;

  constructor(method: string, requests: Readonly<Record<string, WireInputRequest>>, state: string | undefined) {
    super(`${method} needs input`);
    this.name = 'InputRequiredError';
    this.requests = requests;
    this.state = state;
  }
}

/** The params of the retry, as JSON without braces. Rejects with a `ClientError`. */
export async function respondToInputRequests(
  method: string,
  { requests, state }: InputRequiredResult,
  inputs: InputResponder,
  codec: ClientCodec,
  context: InputContext,
): Promise<string> {
  const entries = Object.entries(requests);
  if (entries.length > maxInputRequests) {
    throw clientErrors.invalidResult(method, `it has ${entries.length} input requests at once`);
  }
  const fields: string[] = [];
  if (entries.length === 0) await pause(emptyRetryMs, context.signal);
  else {
    const responses = await Promise.all(
      entries.map(async ([key, request]) => {
        const response = await inputs.answer(request.method, request.params, codec, context).catch((error: unknown) => {
          throw explainInputFailure(method, request.method, error);
        });
        return [key, response] as const;
      }),
    );
    fields.push(`"inputResponses":${JSON.stringify(Object.fromEntries(responses))}`);
  }
  // Exactly what the server sent; nothing if it sent none.
  if (state !== undefined) fields.push(`"requestState":${JSON.stringify(state)}`);
  return fields.join(',');
}

/** The URLs that a server wants a user to visit before it serves a request (error -32042). */
export function linksToVisit({ serverError }: ClientError): readonly Params[] | undefined {
  if (serverError?.code !== errorRows.urlElicitationRequired.code || !isObject(serverError.data)) return undefined;
  const { elicitations } = serverError.data;
  const usable = Array.isArray(elicitations) && elicitations.length > 0 && elicitations.length <= maxInputRequests;
  return usable && elicitations.every(isObject) ? elicitations : undefined;
}

/** Has a user visit the URLs; true when all were visited. Rejects with a `ClientError`. */
export async function visitLinks(
  method: string,
  links: readonly Params[],
  inputs: InputResponder,
  codec: ClientCodec,
  context: InputContext,
): Promise<boolean> {
  const visits = await Promise.all(
    links.map((link) => inputs.answer(methods.elicit.name, { ...link, mode: 'url' }, codec, context)),
  ).catch((error: unknown) => {
    throw explainInputFailure(method, methods.elicit.name, error);
  });
  return visits.every(({ action }) => action === 'accept');
}

/** Turns the failure of a handler into an error for the caller. */
export function explainInputFailure(method: string, request: string, error: unknown): unknown {
  if (!(error instanceof InputFailure)) return error;
  if (error.kind === 'unavailable' || error.kind === 'unknown') return clientErrors.inputUnavailable(method, request);
  return clientErrors.inputDeclined(method, error.message, error.cause ?? error);
}
