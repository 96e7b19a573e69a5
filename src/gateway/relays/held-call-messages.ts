// What processes send each other about held calls, and how input requests are encoded in it.

import type { InputRequest } from '../../engine/input-requests/input-request.ts';
import type { Json, LogLevel, SamplingParams } from '../../protocol/model.ts';
import type { JsonSchema } from '../../schema/index.ts';
import { formRequest, rootsRequest, samplingRequest, urlRequest } from './input-request.ts';

/** From the process that gets the client's retry to the process that holds the call. Sent again until there is an outcome. */
export interface WaitMessage {
  readonly type: 'wait';
  /** The held call. */
  readonly id: string;
  readonly principalKey: string;
  /** The request of the client that waits. */
  readonly run: string;
  /** The client's responses, by the key of the input request. */
  readonly responses: Readonly<Record<string, EncodedInputResponse>>;
}

export type EncodedInputResponse = { readonly value: Json } | { readonly error: string };

/** The response to it. */
export type WaitResponse =
  /** There is no such call, or not for this principal. */
  | { readonly type: 'lost' }
  /** The upstream still works. */
  | { readonly type: 'working' }
  | { readonly type: 'input'; readonly requests: readonly (readonly [key: string, request: EncodedInputRequest])[] }
  | { readonly type: 'done'; readonly outcome: Json };

/** Without a response. */
export type HeldCallNotice =
  /** The request of the client was cancelled while it waited for the outcome. */
  | { readonly type: 'cancel'; readonly id: string; readonly run: string }
  /** Back to the process that waits. */
  | {
      readonly type: 'progress';
      readonly run: string;
      readonly progress: number;
      readonly total?: number | undefined;
      readonly message?: string | undefined;
    }
  | {
      readonly type: 'log';
      readonly run: string;
      readonly level: LogLevel;
      readonly data: Json;
      readonly logger?: string | undefined;
    };

export type HeldCallMessage = WaitMessage | HeldCallNotice;

/** An input request without its validator: the upstream validates the response. */
export type EncodedInputRequest =
  | { readonly kind: 'elicit'; readonly message: string; readonly schema: Json }
  | { readonly kind: 'elicitUrl'; readonly message: string; readonly url: string }
  | { readonly kind: 'sample'; readonly params: Json }
  | { readonly kind: 'roots' };

export function encodeRequest(request: InputRequest): EncodedInputRequest {
  switch (request.kind) {
    case 'elicit':
      return { kind: 'elicit', message: request.message, schema: request.schema.json as Json };
    case 'elicitUrl':
      // Its id is not part of it: clients that calls are held for have none.
      return { kind: 'elicitUrl', message: request.message, url: request.url };
    case 'sample':
      return { kind: 'sample', params: request.params as unknown as Json };
    case 'roots':
      return { kind: 'roots' };
  }
}

export function decodeRequest(request: EncodedInputRequest): InputRequest {
  switch (request.kind) {
    case 'elicit':
      return formRequest(request.message, request.schema as JsonSchema);
    case 'elicitUrl':
      return urlRequest(request.message, request.url);
    case 'sample':
      return samplingRequest(request.params as unknown as SamplingParams);
    case 'roots':
      return rootsRequest();
  }
}
