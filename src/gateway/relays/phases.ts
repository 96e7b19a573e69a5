// A call that needs input before the upstream can answer it. What the upstream wants is recorded as a step, so that a client
// that gets input requests as a result can repeat its request: the handler runs again and continues from the last phase. For
// clients that are asked during the call, the same code simply waits.

import { ClientError, InputRequiredError, type InputRetry, type SignInLink } from '../../client/index.ts';
import type { Context } from '../../engine/context.ts';
import type { InputRequest } from '../../engine/input-requests/input-request.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Root } from '../../protocol/model.ts';
import type { WireInputRequest } from '../../protocol/revisions/client-revisions.ts';
import { signInOf } from '../upstreams/start-error.ts';
import type { HeldCallRef } from './held-call.ts';
import { decodeInputRequest, encodeInputResponse, isWebUrl, urlRequest, withServerName } from './input-request.ts';

/** Stops an upstream that keeps sending input requests. */
const maxPhases = 10;

/** Input requests at a time; stops an upstream from sending more than a user could answer. */
const maxRequests = 64;

/** What a call waited for, as JSON, because it is part of `requestState`. */
export type Phase =
  /** The upstream returned input requests; the request is repeated with the responses. */
  | { readonly kind: 'input'; readonly requests: Readonly<Record<string, WireInputRequest>>; readonly state?: string }
  /** The upstream wants pages to be visited before it starts; the request is simply repeated. */
  | { readonly kind: 'links'; readonly links: readonly Link[] }
  /** The upstream works on the call and waits for input. */
  | ({ readonly kind: 'held' } & HeldCallRef);

export interface Link {
  readonly message: string;
  readonly url: string;
}

/** The phases that are recorded, in order. */
export function recordedPhases(ctx: Context): readonly Phase[] {
  const phases: Phase[] = [];
  for (;;) {
    const phase = ctx.stepResult(stepKey(phases.length));
    if (!isObject(phase)) return phases;
    phases.push(phase as Phase);
  }
}

export async function recordPhase(ctx: Context, index: number, phase: Phase): Promise<void> {
  await ctx.step(stepKey(index), () => phase);
}

const stepKey = (index: number): string => `gateway-${index}`;

/** What a failed request waits for; undefined if it failed for another reason. */
export function phaseOf(error: unknown): Phase | undefined {
  if (error instanceof InputRequiredError) {
    const { requests, state } = error;
    return { kind: 'input', requests, ...(state === undefined ? {} : { state }) };
  }
  const links = linksOf(error);
  return links === undefined ? undefined : { kind: 'links', links };
}

const urlElicitationRequired = -32042;

export function linkTo({ url }: SignInLink): Link {
  return { message: 'Sign in to this server with the browser', url };
}

/** The pages that an upstream wants to be visited before it serves a request, or the one where its user signs in. */
export function linksOf(error: unknown): readonly Link[] | undefined {
  const signIn = signInOf(error);
  if (signIn !== undefined) return [linkTo(signIn)];
  if (!(error instanceof ClientError) || error.serverError?.code !== urlElicitationRequired) return undefined;
  const { data } = error.serverError;
  const given = isObject(data) && Array.isArray(data['elicitations']) ? data['elicitations'] : [];
  const links = given.flatMap((each): Link[] => {
    const { message, url } = isObject(each) ? each : { message: undefined, url: undefined };
    return typeof message === 'string' && typeof url === 'string' && isWebUrl(url) ? [{ message, url }] : [];
  });
  return links.length === 0 || links.length !== given.length ? undefined : links;
}

/** The ids of the pages that an error names: the upstream uses them to announce that the user has finished there. */
export function linkIdsOf(error: unknown): readonly string[] {
  const data = error instanceof ClientError ? error.serverError?.data : undefined;
  const given = isObject(data) && Array.isArray(data['elicitations']) ? data['elicitations'] : [];
  return given.flatMap((each) =>
    isObject(each) && typeof each['elicitationId'] === 'string' ? [each['elicitationId']] : [],
  );
}

/** An upstream needs input that the client of the call does not support. */
export class InputNotPossible extends Error {
  readonly requests: readonly InputRequest[];

  constructor(requests: readonly InputRequest[]) {
    super('The client cannot be asked for this input');
    this.requests = requests;
  }
}

export interface PhaseOptions {
  /** Put in front of what users read; undefined: nothing. */
  readonly serverName: string | undefined;
  /** Whether the caller can be asked. */
  canAsk(request: InputRequest): boolean;
  /** Called with each input request that is sent to the caller. */
  asked?(request: InputRequest): void;
  /** Returned if the caller has no folders. */
  readonly roots: readonly Root[];
}

/** Gets the input of a phase; on revisions where an input request ends the run, it does not resolve in this run. */
export async function inputOf(
  ctx: Context,
  index: number,
  phase: Exclude<Phase, { kind: 'held' }>,
  options: PhaseOptions,
): Promise<InputRetry | 'declined' | undefined> {
  const requests = requestsOf(phase);
  const impossible = Object.values(requests).filter((request) => request.kind !== 'roots' && !options.canAsk(request));
  if (impossible.length > 0) throw new InputNotPossible(impossible);
  const entries = Object.entries(requests);
  const asked = entries.filter(([, request]) => options.canAsk(request));
  for (const [, request] of asked) options.asked?.(request);
  // The upstream may use a key again for another input request.
  const used = usedKeys(ctx, index);
  const keyOf = (key: string): string => (used.has(key) ? `${index}.${key}` : key);
  const responses = await ctx.requestInputs(
    Object.fromEntries(asked.map(([key, request]) => [keyOf(key), withServerName(request, options.serverName)])),
  );
  if (phase.kind === 'links') {
    const isAccepted = asked.every(([key]) => (responses[keyOf(key)] as { action?: unknown }).action === 'accept');
    return isAccepted ? undefined : 'declined';
  }
  const encoded = entries.map(([key, request]) => {
    const value = options.canAsk(request) ? responses[keyOf(key)] : options.roots;
    return [key, encodeInputResponse(request, value)] as const;
  });
  return { responses: Object.fromEntries(encoded), state: phase.state };
}

/** The keys of the phases before one. */
function usedKeys(ctx: Context, index: number): ReadonlySet<string> {
  const earlier = recordedPhases(ctx).slice(0, index);
  return new Set(earlier.flatMap((phase) => (phase.kind === 'input' ? Object.keys(phase.requests) : [])));
}

function requestsOf(phase: Exclude<Phase, { kind: 'held' }>): Readonly<Record<string, InputRequest>> {
  if (phase.kind === 'links') {
    return Object.fromEntries(phase.links.map(({ message, url }, i) => [`link-${i}`, urlRequest(message, url)]));
  }
  const entries = Object.entries(phase.requests);
  if (entries.length > maxRequests) {
    throw new ClientError('invalid-result', `It has more than ${maxRequests} input requests`);
  }
  return Object.fromEntries(
    entries.map(([key, request]) => {
      const decoded = decodeInputRequest(request);
      if (decoded === undefined) throw new ClientError('invalid-result', `The input request ${key} is not valid`);
      return [key, decoded];
    }),
  );
}

/** Throws if a call has waited for input too often. */
export function checkPhases(count: number): void {
  if (count >= maxPhases) throw new ClientError('too-many-input-retries', `It asked for input ${maxPhases} times`);
}
