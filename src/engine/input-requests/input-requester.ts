// What push.ts and retry.ts share: which input requests the client supports, how they are encoded, and which of them have
// a response already.

import { type Ability, declares } from '../../protocol/abilities.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { encodeForm, encodeSampling, encodeUrl } from '../../protocol/revisions/input-requests.ts';
import { supports } from '../channels/client-support.ts';
import type { Call, KeyedInputRequest } from '../contract.ts';
import type { InputRequest } from './input-request.ts';
import { InputRequestError } from './input-request-error.ts';
import { kindOf } from './responses.ts';

/** The response to an input request. */
export interface InputResponse {
  readonly value: unknown;
}

export function abilityOf(request: InputRequest): Ability {
  switch (request.kind) {
    case 'elicit':
      return 'elicitation.form';
    case 'elicitUrl':
      return 'elicitation.url';
    case 'sample':
      return request.params.tools === undefined && request.params.toolChoice === undefined
        ? 'sampling'
        : 'sampling.tools';
    case 'roots':
      return 'roots';
  }
}

export const inputRequestMethods = {
  elicit: 'elicitation/create',
  elicitUrl: 'elicitation/create',
  sample: 'sampling/createMessage',
  roots: 'roots/list',
} as const satisfies Record<InputRequest['kind'], string>;

/**
 * Which input requests the client supports. Throws if it does not support one that is not optional; the error names
 * everything that is missing.
 */
export function supportedRequests(call: Call, requests: readonly KeyedInputRequest[]): readonly boolean[] {
  const { codec } = call;
  const missing: Ability[] = [];
  const supported = requests.map(([, request]) => {
    const ability = abilityOf(request);
    if (!codec.supports(ability)) {
      if (request.optional !== true)
        throw new InputRequestError('unsupported', `${ability} does not exist in revision ${codec.date}`);
      return false;
    }
    if (declares(call.capabilities, ability)) return true;
    if (request.optional !== true) missing.push(ability);
    return false;
  });
  if (missing.length > 0) {
    throw new InputRequestError('missing-capability', `The client did not declare ${missing.join(', ')}`, missing);
  }
  return supported;
}

/** Whether an input request is optional and the client does not support it. */
export function isSkipped(call: Call, request: InputRequest): boolean {
  return request.optional === true && !supports(call, abilityOf(request));
}

/** The params of an input request, encoded for the revision of the call. */
export function encodeInputRequest(
  call: Pick<Call, 'codec' | 'capabilities'>,
  request: InputRequest,
  elicitationId: string,
): JsonObject {
  const { dialect } = call.codec;
  if (request.kind === 'roots') return {};
  const encoded =
    request.kind === 'elicit'
      ? encodeForm(request.message, request.schema.json, dialect)
      : request.kind === 'elicitUrl'
        ? encodeUrl(request.message, request.url, request.elicitationId ?? elicitationId, dialect)
        : encodeSampling(request.params, dialect, call.capabilities);
  if (!encoded.ok) throw new InputRequestError('unsupported', encoded.reason);
  return encoded.params;
}

/** The response that an earlier run recorded under a key; undefined if there is none to a request of this kind. */
export function recordedResponse(
  responses: ReadonlyMap<string, InputResponse & { readonly kind: string }>,
  key: string,
  request: InputRequest,
): InputResponse | undefined {
  const recorded = responses.get(key);
  return recorded !== undefined && recorded.kind === kindOf(request) ? recorded : undefined;
}

/**
 * The keys of input requests in one run of a handler. A second request with the same key would get the response to the first one
 * where responses are recorded by key, and its own elsewhere. Roots are the same whenever they are requested.
 */
export class RunKeys {
  /** Created when it is needed: tasks that wait for input are kept by the thousand. */
  #used: Set<string> | undefined;

  /** Throws if the key was used in this run. */
  use(key: string, { kind }: InputRequest): void {
    if (kind === 'roots') return;
    if (this.#used?.has(key)) throw sameKey(key);
    (this.#used ??= new Set()).add(key);
  }

  /** There was no response, and there will be none: the handler may request it again. */
  release(key: string): void {
    this.#used?.delete(key);
  }

  /** The handler runs again. */
  clear(): void {
    this.#used = undefined;
  }
}

/** The error of a second input request with the same key. */
export function sameKey(key: string): InputRequestError {
  return new InputRequestError(
    'not-allowed-here',
    `Two input requests have the key ${JSON.stringify(key)}: give each a key of its own`,
  );
}

/** The values of responses, in the order of their requests; undefined if one is missing that the client could send. */
export function completeResponses(
  call: Call,
  requests: readonly KeyedInputRequest[],
  responses: readonly (InputResponse | undefined)[],
): unknown[] | undefined {
  const isComplete = requests.every(([, request], i) => responses[i] !== undefined || isSkipped(call, request));
  return isComplete ? responses.map((response) => response?.value) : undefined;
}
