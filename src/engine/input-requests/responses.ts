// Reads what a client answered to a question, whichever way it came.

import { isObject } from '../../protocol/json-rpc.ts';
import type { ElicitResult, Root, SamplingResult } from '../../protocol/model.ts';
import { formatIssues } from '../../schema/index.ts';
import type { FormInputRequest, InputRequest } from './input-request.ts';

/** `wrong`: not a result of the asked kind at all. `mismatch`: a form whose content does not fit its schema. */
export type DecodedResponse =
  | { readonly state: 'ok'; readonly value: unknown }
  | { readonly state: 'wrong' | 'mismatch'; readonly reason: string };

/** The kind under which an answer is remembered. */
export function kindOf(ask: InputRequest): 'elicit' | 'sample' | 'roots' {
  return ask.kind === 'elicitUrl' ? 'elicit' : ask.kind;
}

export function decodeResponse(ask: InputRequest, answer: unknown): DecodedResponse | Promise<DecodedResponse> {
  if (!isObject(answer)) return wrong('the answer is not an object');
  switch (ask.kind) {
    case 'roots': {
      const { roots } = answer;
      const fine = Array.isArray(roots) && roots.every((each) => isObject(each) && typeof each['uri'] === 'string');
      return fine
        ? { state: 'ok', value: roots as Root[] }
        : wrong('roots/list answers with "roots", each with a "uri"');
    }
    case 'sample': {
      const { role, content, model } = answer;
      const fine = (role === 'user' || role === 'assistant') && typeof content === 'object' && content !== null;
      return fine && typeof model === 'string'
        ? { state: 'ok', value: answer as unknown as SamplingResult }
        : wrong('sampling answers with "role", "content" and "model"');
    }
    default: {
      const { action } = answer;
      if (action !== 'accept' && action !== 'decline' && action !== 'cancel') {
        return wrong('elicitation answers with action "accept", "decline" or "cancel"');
      }
      if (ask.kind === 'elicitUrl' || action !== 'accept')
        return { state: 'ok', value: { action } satisfies ElicitResult };
      return readForm(ask, answer['content'] ?? {});
    }
  }
}

function readForm(ask: FormInputRequest, content: unknown): DecodedResponse | Promise<DecodedResponse> {
  const judge = (
    validation: Awaited<ReturnType<FormInputRequest['schema']['validator']['validate']>>,
  ): DecodedResponse =>
    validation.ok
      ? { state: 'ok', value: { action: 'accept', content: validation.value } }
      : { state: 'mismatch', reason: formatIssues(validation.issues) };
  const validation = ask.schema.validator.validate(content);
  return validation instanceof Promise ? validation.then(judge) : judge(validation);
}

function wrong(reason: string): DecodedResponse {
  return { state: 'wrong', reason };
}
