// Decodes the client's response to an input request, pushed or sent with a retry.

import { isObject } from '../../protocol/json-rpc.ts';
import type { ElicitResult, Root, SamplingResult } from '../../protocol/model.ts';
import { formatIssues } from '../../schema/index.ts';
import type { FormInputRequest, InputRequest } from './input-request.ts';

/** `wrong`: not a result of the requested kind. `mismatch`: a form whose content does not match its schema. */
export type DecodedResponse =
  | { readonly state: 'ok'; readonly value: unknown }
  | { readonly state: 'wrong' | 'mismatch'; readonly reason: string };

/** The kind under which a response is recorded. */
export function kindOf({ kind }: InputRequest): 'elicit' | 'sample' | 'roots' {
  return kind === 'elicitUrl' ? 'elicit' : kind;
}

export function decodeResponse(request: InputRequest, response: unknown): DecodedResponse | Promise<DecodedResponse> {
  if (!isObject(response)) return wrong('the response is not an object');
  switch (request.kind) {
    case 'roots': {
      const { roots } = response;
      const isValid = Array.isArray(roots) && roots.every((each) => isObject(each) && typeof each['uri'] === 'string');
      return isValid ? { state: 'ok', value: roots as Root[] } : wrong('roots/list needs "roots", each with a "uri"');
    }
    case 'sample': {
      const { role, content, model } = response;
      const isValid = (role === 'user' || role === 'assistant') && typeof content === 'object' && content !== null;
      return isValid && typeof model === 'string'
        ? { state: 'ok', value: response as unknown as SamplingResult }
        : wrong('sampling needs "role", "content" and "model"');
    }
    default: {
      const { action } = response;
      if (action !== 'accept' && action !== 'decline' && action !== 'cancel') {
        return wrong('elicitation needs an action: "accept", "decline" or "cancel"');
      }
      if (request.kind === 'elicitUrl' || action !== 'accept')
        return { state: 'ok', value: { action } satisfies ElicitResult };
      return decodeForm(request, response['content'] ?? {});
    }
  }
}

function decodeForm(request: FormInputRequest, content: unknown): DecodedResponse | Promise<DecodedResponse> {
  const toResponse = (
    validation: Awaited<ReturnType<FormInputRequest['schema']['validator']['validate']>>,
  ): DecodedResponse =>
    validation.ok
      ? { state: 'ok', value: { action: 'accept', content: validation.value } }
      : { state: 'mismatch', reason: formatIssues(validation.issues) };
  const validation = request.schema.validator.validate(content);
  return validation instanceof Promise ? validation.then(toResponse) : toResponse(validation);
}

function wrong(reason: string): DecodedResponse {
  return { state: 'wrong', reason };
}
