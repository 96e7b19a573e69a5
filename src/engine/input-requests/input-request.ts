// Input requests of a handler, as plain values. push.ts and retry.ts send them.

import { assertKnownOptions } from '../../common/known-options.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { ElicitResult, Root, SamplingParams, SamplingResult } from '../../protocol/model.ts';
import { samplingProblem } from '../../protocol/sampling.ts';
import { type CompiledSchema, compileSchema, type InferOutput, type SchemaInput } from '../../schema/index.ts';
import { flatForm } from './form.ts';

/** A form for the user; made by `elicit`. */
export interface FormInputRequest<T = unknown> {
  readonly kind: 'elicit';
  /** Shown to the user above the form. */
  readonly message: string;
  /** The fields of the form. */
  readonly schema: CompiledSchema;
  /** Skipped if the client cannot do it; the response is then undefined. */
  readonly optional?: boolean;
  /** Only carries the type. */
  readonly content?: T;
}

/** An address for the user to visit; made by `elicitUrl`. */
export interface UrlInputRequest {
  readonly kind: 'elicitUrl';
  /** Why the user should visit it. */
  readonly message: string;
  /** The address. */
  readonly url: string;
  /** For `ctx.elicitationCompleted`. Default: a random one. */
  readonly elicitationId?: string;
  /** Skipped if the client cannot do it; the response is then undefined. */
  readonly optional?: boolean;
}

/** A request to the model of the client; made by `sample`. */
export interface SamplingInputRequest {
  readonly kind: 'sample';
  /** The conversation, and what the model may do. */
  readonly params: SamplingParams;
  /** Skipped if the client cannot do it; the response is then undefined. */
  readonly optional?: boolean;
}

/** A request for the folders the client works in; made by `roots`. */
export interface RootsInputRequest {
  readonly kind: 'roots';
  /** Skipped if the client cannot do it; the response is then undefined. */
  readonly optional?: boolean;
}

/** What a handler needs from the client or its user. */
export type InputRequest = FormInputRequest | UrlInputRequest | SamplingInputRequest | RootsInputRequest;
/** Input requests by keys of your own; the responses have the same keys. */
export type InputRequests = { readonly [key: string]: InputRequest };

/** An accepted form carries the validated content; a declined or cancelled one carries none. */
export type TypedElicitResult<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' | 'cancel'; readonly content?: undefined };

type ResponseTo<A> =
  A extends FormInputRequest<infer T>
    ? TypedElicitResult<T>
    : A extends UrlInputRequest
      ? ElicitResult
      : A extends SamplingInputRequest
        ? SamplingResult
        : readonly Root[];

/** The response to each input request of a set. */
export type InputResponses<A extends InputRequests> = {
  readonly [K in keyof A]: A[K] extends { readonly optional: true } ? ResponseTo<A[K]> | undefined : ResponseTo<A[K]>;
};

/** An input request that is skipped if the client cannot do it; its response is then undefined. */
interface Optional {
  readonly optional: true;
}

const knownOptions: Record<keyof Optional, true> = { optional: true };

function requireOptional(callee: InputRequest['kind'], options: Optional | undefined): void {
  if (options !== undefined) assertKnownOptions(callee, options, knownOptions);
}

/** A form for the user. */
export function elicit<const S extends SchemaInput>(message: string, schema: S): FormInputRequest<InferOutput<S>>;
export function elicit<const S extends SchemaInput>(
  message: string,
  schema: S,
  options: Optional,
): FormInputRequest<InferOutput<S>> & Optional;
export function elicit(message: string, schema: SchemaInput, options?: Optional): FormInputRequest {
  requireOptional('elicit', options);
  return { kind: 'elicit', message, schema: compileForm(schema), ...options };
}

/** A URL for the user to visit. */
export function elicitUrl(message: string, url: string): UrlInputRequest;
export function elicitUrl(message: string, url: string, options: Optional): UrlInputRequest & Optional;
export function elicitUrl(message: string, url: string, options?: Optional): UrlInputRequest {
  requireOptional('elicitUrl', options);
  if (!URL.canParse(url)) {
    const given = typeof url === 'string' ? JSON.stringify(url) : `of type ${typeof url}`;
    throw new TypeError(
      `elicitUrl needs a message and an absolute URL: elicitUrl("Sign in", "https://example.com"); the URL is ${given}`,
    );
  }
  return { kind: 'elicitUrl', message, url: new URL(url).href, ...options };
}

/** A request to the client's model. */
export function sample(params: SamplingParams): SamplingInputRequest;
export function sample(params: SamplingParams, options: Optional): SamplingInputRequest & Optional;
export function sample(params: SamplingParams, options?: Optional): SamplingInputRequest {
  requireOptional('sample', options);
  requireSampling(params);
  return { kind: 'sample', params, ...options };
}

function requireSampling(params: SamplingParams | undefined): void {
  const messages: unknown = params?.messages;
  const example = 'sample({ messages: [{ role: "user", content: text("…") }], maxTokens: 100 })';
  if (!Array.isArray(messages)) throw new TypeError(`sample needs a list of messages: ${example}`);
  const wrong = messages.findIndex((each) => !isSamplingMessage(each));
  if (wrong !== -1) {
    throw new TypeError(
      `sample, messages[${wrong}]: needs the role "user" or "assistant", and a content such as text("…"): ${example}`,
    );
  }
  const problem = samplingProblem(messages);
  if (problem !== undefined) throw new TypeError(`sample: ${problem}`);
  if (typeof params?.maxTokens !== 'number') throw new TypeError(`sample needs maxTokens, a number: ${example}`);
}

function isSamplingMessage(message: unknown): boolean {
  if (!isObject(message) || (message['role'] !== 'user' && message['role'] !== 'assistant')) return false;
  return typeof message['content'] === 'object' && message['content'] !== null;
}

/** The folders the client works in. */
export function roots(): RootsInputRequest;
export function roots(options: Optional): RootsInputRequest & Optional;
export function roots(options?: Optional): RootsInputRequest {
  requireOptional('roots', options);
  return { kind: 'roots', ...options };
}

const compiledForms = new WeakMap<object, CompiledSchema>();

/** A form that is written inline is compiled on each run; a schema in a constant is compiled once. */
function compileForm(schema: SchemaInput): CompiledSchema {
  let compiled = compiledForms.get(schema);
  if (compiled === undefined) {
    const { json, validator } = compileSchema(schema, {
      direction: 'input',
      root: 'object',
      where: 'elicitation form',
    });
    compiled = { json: flatForm(json), validator };
    compiledForms.set(schema, compiled);
  }
  return compiled;
}
