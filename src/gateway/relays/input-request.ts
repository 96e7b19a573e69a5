// Input requests of upstreams as input requests of our handlers, and the responses to them as upstreams expect them.

import type { Context } from '../../engine/context.ts';
import type { InputRequest } from '../../engine/input-requests/input-request.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Root, SamplingParams } from '../../protocol/model.ts';
import type { WireInputRequest } from '../../protocol/revisions/client-revisions.ts';
import type { JsonSchema } from '../../schema/index.ts';
import type { Asks } from '../upstreams/contract.ts';
import { cleanForm, cleanMessage, cleanUrl } from './clean-texts.ts';

/** The upstream validates the responses. */
const unchecked = {
  check: () => undefined,
  validate: (value: unknown) => ({ ok: true, value }) as const,
};

export function formRequest(message: string, schema: JsonSchema): InputRequest {
  return { kind: 'elicit', message: cleanMessage(message), schema: { json: cleanForm(schema), validator: unchecked } };
}

/** `elicitationId`: names it when the user has finished there. */
export function urlRequest(message: string, url: string, elicitationId: string = crypto.randomUUID()): InputRequest {
  return { kind: 'elicitUrl', message: cleanMessage(message), url: cleanUrl(url), elicitationId };
}

export function samplingRequest(params: SamplingParams): InputRequest {
  return { kind: 'sample', params };
}

export function rootsRequest(): InputRequest {
  return { kind: 'roots' };
}

/** Decodes an input request of a result; undefined if it cannot be passed on. */
export function decodeInputRequest({ method, params }: WireInputRequest): InputRequest | undefined {
  if (method === 'roots/list') return rootsRequest();
  if (method === 'sampling/createMessage') {
    const { _meta, ...sampling } = params;
    return Array.isArray(params['messages']) ? samplingRequest(sampling as unknown as SamplingParams) : undefined;
  }
  const { mode = 'form', message, url, requestedSchema } = params;
  if (method !== 'elicitation/create' || typeof message !== 'string') return undefined;
  if (mode === 'url') return typeof url === 'string' && isWebUrl(url) ? urlRequest(message, url) : undefined;
  return isObject(requestedSchema) ? formRequest(message, requestedSchema) : undefined;
}

/** Other schemes run code or open files; a page to visit does not need them. */
export function isWebUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** The result of an input request on the wire. */
export function encodeInputResponse(request: InputRequest, value: unknown): object {
  return request.kind === 'roots' ? { roots: value as readonly Root[] } : (value as object);
}

/** The same request with the name of the server before the text for the user, so that no server can pose as another. */
export function withServerName(request: InputRequest, slug: string | undefined): InputRequest {
  if (slug === undefined) return request;
  if (request.kind !== 'elicit' && request.kind !== 'elicitUrl') return request;
  return { ...request, message: `[${slug}] ${request.message}` };
}

/** A description of an input request for error messages, where the client cannot be asked. */
export function describeInputRequest(request: InputRequest): string {
  switch (request.kind) {
    case 'elicit':
      return `input of the user: ${request.message}`;
    case 'elicitUrl':
      return `the user to open ${request.url}: ${request.message}`;
    case 'sample':
      return 'a response of the client\u2019s model';
    case 'roots':
      return 'the folders that the client works in';
  }
}

/** Whether the caller can be asked. */
export function canAsk(asks: Asks, request: InputRequest): boolean {
  switch (request.kind) {
    case 'elicit':
      return asks.form;
    case 'elicitUrl':
      return asks.url;
    case 'sample':
      return request.params.tools === undefined && request.params.toolChoice === undefined
        ? asks.sampling
        : asks.samplingTools;
    case 'roots':
      return asks.roots;
  }
}

/** Whether there is anything that the caller can be asked. */
export function canBeAsked({ form, url, sampling, samplingTools, roots }: Asks): boolean {
  return form || url || sampling || samplingTools || roots;
}

/** What a client can be asked for, and whether it shows apps. */
export function asksOf(client: Pick<Context, 'can'>): Asks {
  return {
    form: client.can('elicitation.form'),
    url: client.can('elicitation.url'),
    sampling: client.can('sampling'),
    samplingTools: client.can('sampling.tools'),
    roots: client.can('roots'),
    apps: client.can('ui'),
  };
}
