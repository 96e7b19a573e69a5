// The client's side of input requests: forms, URLs to visit, sampling, roots. Handlers are given once
// and handle input requests that arrive as requests and those inside a result.

import { assertKnownOptions } from '../common/known-options.ts';
import { type Ability, declares } from '../protocol/abilities.ts';
import { isObject } from '../protocol/json-rpc.ts';
import { methods } from '../protocol/methods.ts';
import type {
  Capabilities,
  ElicitResult,
  JsonObject,
  Root,
  SamplingParams,
  SamplingResult,
} from '../protocol/model.ts';
import type { ClientCodec } from '../protocol/revisions/client-revisions.ts';
import { samplingProblem } from '../protocol/sampling.ts';
import { applyDefaults, compileSchema, formatIssues, type JsonSchema, SchemaError } from '../schema/index.ts';
import { clientErrors } from './errors.ts';

/** What a handler learns about an input request. */
export interface InputContext {
  /** Aborted when the response is no longer needed. */
  readonly signal: AbortSignal;
  /** The options of the call that the server sent the request for. Absent if the transport does not say. */
  readonly call?: object | undefined;
  /** The task that the request belongs to, if the server names it. */
  readonly task?: string | undefined;
}

/** A form to fill in. */
export interface FormRequest {
  /** What the server asks, for the user. */
  readonly message: string;
  /** A flat object schema; what an accepted answer leaves out is filled with its defaults, and the rest has to match it. */
  readonly schema: JsonSchema;
}

/** A page to visit. Show the whole URL and get consent before opening it; `accept` means consent, not completion. */
export interface UrlRequest {
  /** Why the user should visit the page. */
  readonly message: string;
  /** The page. */
  readonly url: string;
  /** Identifies the request in the notification that the user has finished (2025-11-25). */
  readonly elicitationId?: string;
}

type Answer<T> = T | Promise<T>;

/** Handle the server's input requests. What has a handler is declared as a capability. */
export interface InputHandlers {
  /** Shows a form to the user and returns what was entered, or that the user declined. */
  readonly elicit?: (request: FormRequest, context: InputContext) => Answer<ElicitResult>;
  /** Opens a page, with the consent of the user. */
  readonly elicitUrl?: (request: UrlRequest, context: InputContext) => Answer<ElicitResult>;
  /** Returns a response of the model. */
  readonly sample?: (params: SamplingParams, context: InputContext) => Answer<SamplingResult>;
  /** The folders the server may work in, as `file:` URIs. Changeable by `client.setRoots` where it is a list. */
  readonly roots?: readonly Root[] | ((context: InputContext) => Answer<readonly Root[]>);
  /** Called for input requests that have no handler. The server gets an error: they were not declared. */
  readonly undeclared?: (method: string, params: JsonObject, context: InputContext) => void;
  /**
   * The calls that an input request belongs to, as their options: their time limits are paused until it has a response. By
   * default that is the call which the context names, and otherwise all calls.
   */
  readonly callsOf?: (context: InputContext) => Iterable<object>;
}

/** Thrown by a handler to decline: the server, or the caller, receives the reason. */
export class InputDeclined extends Error {
  constructor(reason = 'the user declined') {
    super(reason);
    this.name = 'InputDeclined';
  }
}

/**
 * Why an input request failed. A handler may throw it: the server gets the message, with -32601 for `unavailable`, -32602 for
 * `invalid`, -32603 for `failed`.
 */
export class InputFailure extends Error {
  /** Why there is no response. */
  readonly kind: 'unknown' | 'unavailable' | 'invalid' | 'declined' | 'failed';

  constructor(kind: InputFailure['kind'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }

  /** The code of the error that the server gets. */
  get code(): number {
    return failureCodes[this.kind];
  }
}

/** There is no handler. */
class UndeclaredInput extends InputFailure {
  readonly #code: number;

  /** `isMode`: a mode of a method that the client does support. */
  constructor(ability: Ability, isMode: boolean) {
    super('unavailable', `This client does not support ${ability}`);
    // 2025-11-25, Elicitation, "Error Handling": an undeclared mode is invalid params, not an unknown method.
    this.#code = failureCodes[isMode ? 'invalid' : 'unavailable'];
  }

  override get code(): number {
    return this.#code;
  }
}

/** Codes by kind of failure; -1 is the protocol's code for a user who declined. */
const failureCodes: Readonly<Record<InputFailure['kind'], number>> = {
  unknown: -32601,
  unavailable: -32601,
  invalid: -32602,
  declined: -1,
  failed: -32603,
};

/** The handlers of one client, and the capabilities that follow from them. */
export class InputResponder {
  readonly #handlers: InputHandlers;
  readonly capabilities: Capabilities;
  #roots: InputHandlers['roots'];

  constructor(handlers: InputHandlers, further: Capabilities = {}) {
    this.#handlers = handlers;
    this.#roots = handlers.roots;
    if (Array.isArray(this.#roots)) checkRoots(this.#roots);
    this.capabilities = declare(handlers, further);
  }

  /** Replaces the folders. */
  setRoots(roots: readonly Root[]): void {
    if (this.#roots === undefined) {
      throw clientErrors.configuration(
        'setRoots works only if connect() was given handlers.roots; pass [] if there are none yet',
      );
    }
    checkRoots(roots);
    this.#roots = roots;
  }

  /** The options of the calls that an input request belongs to; undefined: that is not known. */
  callsOf(context: InputContext): ReadonlySet<object> | undefined {
    const { callsOf } = this.#handlers;
    if (callsOf !== undefined) return new Set(callsOf(context));
    return context.call === undefined ? undefined : new Set([context.call]);
  }

  /** Handles one input request; rejects with an `InputFailure`. */
  async answer(method: string, params: JsonObject, codec: ClientCodec, context: InputContext): Promise<JsonObject> {
    try {
      if (method === methods.elicit.name) return await this.#elicit(params, context);
      if (method === methods.sample.name) return await this.#sample(params, codec, context);
      if (method === methods.listRoots.name) return await this.#listRoots(context);
    } catch (error) {
      if (error instanceof UndeclaredInput) this.#handlers.undeclared?.(method, params, context);
      if (error instanceof InputFailure) throw error;
      if (error instanceof InputDeclined) throw new InputFailure('declined', error.message, error);
      throw new InputFailure('failed', `The handler of ${method} failed`, error);
    }
    throw new InputFailure('unknown', `Method not found: ${method.slice(0, 100)}`);
  }

  async #elicit(params: JsonObject, context: InputContext): Promise<JsonObject> {
    const { mode = 'form', message } = params;
    if (typeof message !== 'string') throw new InputFailure('invalid', 'elicitation needs a message');
    if (mode === 'url') return this.#elicitUrl(message, params, context);
    if (mode !== 'form') throw new InputFailure('invalid', 'elicitation mode must be form or url');
    const { elicit } = this.#handlers;
    this.#need('elicitation.form', elicit);
    const schema = params['requestedSchema'];
    if (!isObject(schema)) throw new InputFailure('invalid', 'elicitation needs a requestedSchema');
    const { action, content } = await (elicit as NonNullable<typeof elicit>)({ message, schema }, context);
    if (action !== 'accept') return { action };
    const completed = applyDefaults(schema, content ?? {});
    const problem = await contentProblem(schema, completed);
    if (problem !== undefined) {
      const message = `The content of the form does not match what the server asks for: ${problem}`;
      throw new InputFailure('failed', message, new Error(message));
    }
    return { action, content: completed };
  }

  async #elicitUrl(message: string, params: JsonObject, context: InputContext): Promise<JsonObject> {
    const { elicitUrl } = this.#handlers;
    this.#need('elicitation.url', elicitUrl);
    const { url, elicitationId } = params;
    // Other schemes run code or open files; a page to visit does not need them.
    if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new InputFailure('invalid', 'elicitation by URL needs an http or https URL');
    }
    const request = { message, url, ...(typeof elicitationId === 'string' ? { elicitationId } : {}) };
    const { action } = await (elicitUrl as NonNullable<typeof elicitUrl>)(request, context);
    return { action };
  }

  async #sample(params: JsonObject, codec: ClientCodec, context: InputContext): Promise<JsonObject> {
    const { sample } = this.#handlers;
    this.#need('sampling', sample);
    if (!Array.isArray(params['messages']) || typeof params['maxTokens'] !== 'number') {
      throw new InputFailure('invalid', 'sampling needs messages and maxTokens');
    }
    const problem = samplingProblem(params['messages']);
    if (problem !== undefined) throw new InputFailure('invalid', `sampling: ${problem}`);
    const withTools = params['tools'] !== undefined || params['toolChoice'] !== undefined;
    if (withTools && !declares(this.capabilities, 'sampling.tools')) {
      throw new InputFailure('invalid', 'sampling with tools was not declared by this client');
    }
    const result = await (sample as NonNullable<typeof sample>)(params as unknown as SamplingParams, context);
    const encoded = codec.samplingResult(result);
    if (typeof encoded === 'string') throw new InputFailure('failed', encoded);
    return encoded;
  }

  async #listRoots(context: InputContext): Promise<JsonObject> {
    const given = this.#roots;
    this.#need('roots', given);
    const roots = typeof given === 'function' ? await given(context) : (given as readonly Root[]);
    checkRoots(roots);
    return { roots };
  }

  #need(ability: Ability, handler: unknown): void {
    if (handler !== undefined) return;
    const isMode = ability.startsWith('elicitation.') && isObject(this.capabilities['elicitation']);
    throw new UndeclaredInput(ability, isMode);
  }
}

/** What is wrong with accepted content (2025-11-25 and 2026-07-28, Elicitation, "Form Mode Security"). */
async function contentProblem(schema: JsonSchema, content: unknown): Promise<string | undefined> {
  try {
    const { validator } = compileSchema(schema, { direction: 'input', root: 'any', where: 'elicitation' });
    const validation = await validator.validate(content);
    return validation.ok ? undefined : formatIssues(validation.issues);
  } catch (error) {
    // A schema that is not valid is the server's mistake; whether it can use the content, only the server knows.
    if (error instanceof SchemaError) return undefined;
    throw error;
  }
}

function declare({ elicit, elicitUrl, sample, roots }: InputHandlers, further: Capabilities): Capabilities {
  const declared: Record<string, unknown> = {};
  if (elicit !== undefined || elicitUrl !== undefined) {
    declared['elicitation'] = { ...(elicit && { form: {} }), ...(elicitUrl && { url: {} }) };
  }
  if (sample !== undefined) declared['sampling'] = {};
  if (roots !== undefined) declared['roots'] = { listChanged: true };
  for (const [key, value] of Object.entries(further)) {
    const known = declared[key];
    declared[key] = isObject(known) && isObject(value) ? { ...known, ...value } : value;
  }
  return declared;
}

function checkRoots(roots: readonly Root[]): void {
  const example = '[{ uri: "file:///home/ada/project" }]';
  if (!Array.isArray(roots)) throw clientErrors.configuration(`Roots must be a list: ${example}`);
  for (const root of roots as readonly Partial<Root>[]) {
    const uri: unknown = root?.uri;
    if (typeof uri !== 'string')
      throw clientErrors.configuration(`A root must be an object with a uri, not ${JSON.stringify(root)}: ${example}`);
    if (!uri.startsWith('file://'))
      throw clientErrors.configuration(`A root must be a file:// URI, not ${JSON.stringify(uri)}`);
  }
}

const known: Record<keyof InputHandlers, true> = {
  elicit: true,
  elicitUrl: true,
  sample: true,
  roots: true,
  undeclared: true,
  callsOf: true,
};

/** Throws for a handler that does not exist or is no function: its requests would be declined without a word. */
export function assertHandlers(handlers: InputHandlers): void {
  assertKnownOptions('handlers of connect', handlers, known);
  for (const [name, handler] of Object.entries(handlers)) {
    if (handler === undefined || typeof handler === 'function') continue;
    if (name === 'roots') checkRoots(handler as readonly Root[]);
    else throw new TypeError(`handlers.${name} of connect: must be a function, not of type ${typeof handler}`);
  }
}
