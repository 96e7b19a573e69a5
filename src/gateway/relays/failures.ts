// What a client gets if an upstream fails: a failed tool is a result, everything else an error. Each says which server it
// was, what happened, and whether the call may have run. None contains the command or the address of the server.

import { AuthError, ClientError, type SignInLink } from '../../client/index.ts';
import { cleanText, textLimits } from '../../common/hygiene.ts';
import type { Context } from '../../engine/context.ts';
import type { InputRequest } from '../../engine/input-requests/input-request.ts';
import { type Caller, principalKey } from '../../engine/ports.ts';
import { WireError, wireErrors } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { ToolResult } from '../../protocol/model.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import { actsAsCaller, signsInItself } from '../upstreams/isolation.ts';
import { messageOf, needsLogin, reasonForCallers, signInOf, UpstreamUnavailable } from '../upstreams/start-error.ts';
import { cleanErrorData, cleanMessage, cleanUrl } from './clean-texts.ts';
import { describeInputRequest } from './input-request.ts';
import { InputNotPossible, type Link, linksOf, linkTo } from './phases.ts';
import { LinksDeclined } from './relay.ts';

/** Errors about our own request to the upstream: the client cannot fix them. */
const ownRequestCodes = [-32020, -32022];
const missingCapability = -32021;

/** The connection ended after the request was sent. `closed`: by the gateway, to restart or to remove the server. */
const lostCodes = ['server-exited', 'connection-lost', 'session-lost', 'closed'];

/** The result of a tool whose upstream failed. Throws where the client should get an error. */
export function toolFailure(error: unknown, config: UpstreamConfig, ctx: Context): ToolResult {
  const { slug, entry } = config;
  const links = linksOf(error);
  if (links !== undefined) {
    if (ctx.can('elicitation.url')) throw toWireError(error, config, ctx);
    return failed(linksText(slug, links));
  }
  const missing = missingCapabilities(error);
  if (missing !== undefined && !ctx.inputEndsRun) {
    return failed(`The server ${slug} needs a client that supports ${Object.keys(missing).join(', ')}.`);
  }
  if (error instanceof InputNotPossible) {
    const wanted = error.requests.map(describeInputRequest).join('; ');
    return failed(`The server ${slug} needs ${wanted}. This client cannot be asked for it.`);
  }
  if (error instanceof UpstreamUnavailable || error instanceof LinksDeclined) return failed(error.message);
  if (needsLogin(error)) return failed(loginText(config, error, principalKey(ctx.principal)));
  if (error instanceof AuthError) return failed(`The server ${slug} failed: ${reasonForCallers(error, entry)}`);
  if (!(error instanceof ClientError)) throw error;
  if (lostCodes.includes(error.code)) {
    const text =
      error.code === 'closed'
        ? stoppedText(slug)
        : `The server ${slug} ended while it worked on this call: ${reasonForCallers(error, entry)}`;
    return { ...failed(text), _meta: { 'mooring/mayHaveRun': true } };
  }
  if (isProtocolFailure(error)) throw toWireError(error, config, ctx);
  return failed(`The server ${slug} failed: ${reasonForCallers(error, entry)}`);
}

/** The error for a client whose request failed, for requests other than calls of tools. `uri`: as the client named it. */
export function toWireError(error: unknown, config: UpstreamConfig, caller: Caller, uri?: string): Error {
  const { slug, entry } = config;
  const signIn = signInOf(error);
  if (signIn !== undefined) return signInRequired(slug, signIn);
  if (needsLogin(error)) {
    const text = loginText(config, error, principalKey(caller.principal));
    return new WireError('internal', text, { data: { server: slug } });
  }
  if (error instanceof AuthError) {
    const message = `The server ${slug} failed: ${reasonForCallers(error, entry)}`;
    return new WireError('internal', message, { data: { server: slug }, cause: error });
  }
  if (error instanceof ClientError) {
    if (error.code === 'resource-not-found' && uri !== undefined) return wireErrors.resourceNotFound(uri);
    if (error.code === 'cancelled') return error;
    if (error.code === 'server-error') return passedOn(error, slug);
    const isInvalid = error.code === 'invalid-result' || error.code === 'invalid-message';
    const message = isInvalid
      ? `Invalid response from ${slug}: ${messageOf(error)}`
      : error.code === 'closed'
        ? stoppedText(slug)
        : `The server ${slug} failed: ${reasonForCallers(error, entry)}`;
    const mayHaveRun = lostCodes.includes(error.code) ? { mayHaveRun: true } : {};
    return new WireError('internal', message, { data: { server: slug, ...mayHaveRun }, cause: error });
  }
  if (error instanceof InputNotPossible) {
    const wanted = error.requests.map(describeInputRequest).join('; ');
    return new WireError('internal', `The server ${slug} needs ${wanted}, and this client cannot be asked for it`, {
      data: { server: slug },
    });
  }
  if (error instanceof UpstreamUnavailable) {
    const { retryAfterMs } = error;
    const data = { server: slug, ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.ceil(retryAfterMs) }) };
    return new WireError('internal', error.message, { data });
  }
  if (error instanceof LinksDeclined) return new WireError('internal', error.message, { data: { server: slug } });
  return error instanceof Error ? error : new Error(String(error));
}

function stoppedText(slug: string): string {
  return `The gateway restarted or stopped the server ${slug} while it worked on this call`;
}

function loginText(config: UpstreamConfig, error: unknown, callerKey: string): string {
  const { slug } = config;
  if (actsAsCaller(config))
    return `The server ${slug} requires a login: your token could not be exchanged for one that it accepts. Sign in to the gateway again; the operator finds the reason in its log`;
  if (error instanceof AuthError && error.code === 'configuration')
    return `The server ${slug} requires a login, which its configuration does not allow. The operator of the gateway finds the reason with: mooring gateway status`;
  // A login of the operator would not be used for this caller.
  if (error instanceof AuthError && signsInItself(config, callerKey))
    return `The server ${slug} requires a login, which is not possible or not enough. Try again later; the operator of the gateway finds the reason in its log`;
  return `The server ${slug} requires a login. The operator of the gateway has to sign in, with: mooring gateway login ${slug}`;
}

/** Whether the upstream responded with an error. */
function isProtocolFailure({ code }: ClientError): boolean {
  return ['server-error', 'invalid-result', 'invalid-message', 'cancelled'].includes(code);
}

/** With the link in the message, too: clients of earlier revisions do not know this error. */
export function signInRequired(slug: string, signIn: SignInLink): WireError {
  const link = linkTo(signIn);
  const elicitations = [{ mode: 'url', elicitationId: signIn.id, ...link }];
  return new WireError('urlElicitationRequired', linksText(slug, [link]), { data: { elicitations, server: slug } });
}

/** An error of the upstream as its client gets it. */
function passedOn(error: ClientError, slug: string): WireError {
  const { code = -32603, message: sent = error.message, data: sentData } = error.serverError ?? {};
  const data = cleanErrorData(sentData);
  const message = cleanText(sent, 'strip', textLimits.maxErrorChars);
  const missing = missingCapabilities(error);
  if (missing !== undefined) return wireErrors.missingCapability(missing);
  if (ownRequestCodes.includes(code)) {
    return new WireError('internal', `The server ${slug} rejected our request: ${message}`, {
      data: { server: slug, reason: message },
    });
  }
  const named =
    data === undefined ? { server: slug } : isObject(data) && !('server' in data) ? { ...data, server: slug } : data;
  if (linksOf(error) !== undefined) return new WireError('urlElicitationRequired', message, { data: named });
  return new WireError('application', message, { code, data: named });
}

/** The capabilities that the upstream requires. The gateway declares those of the caller, so only the caller can add one. */
function missingCapabilities(error: unknown): Record<string, unknown> | undefined {
  if (!(error instanceof ClientError) || error.serverError?.code !== missingCapability) return undefined;
  const { data } = error.serverError;
  const required = isObject(data) ? data['requiredCapabilities'] : undefined;
  return isObject(required) ? (cleanErrorData(required) as Record<string, unknown>) : {};
}

/** What a server wanted that the client could not be asked for, for the result of the tool. */
export function notAskedText(slug: string, requests: readonly InputRequest[]): string {
  const links = requests.filter((request) => request.kind === 'elicitUrl');
  const others = requests.filter(({ kind }) => kind !== 'elicitUrl').map(describeInputRequest);
  return [
    ...(links.length === 0 ? [] : [linksText(slug, links)]),
    ...(others.length === 0
      ? []
      : [`This client could not be asked for what the server ${slug} needs: ${others.join('; ')}`]),
  ].join('\n');
}

function linksText(slug: string, links: readonly Link[]): string {
  const pages = links.map(({ message, url }) => `${cleanMessage(message)}\n${cleanUrl(url)}`).join('\n');
  return `The server ${slug} needs the user to open a page first, then call the tool again:\n${pages}`;
}

function failed(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
