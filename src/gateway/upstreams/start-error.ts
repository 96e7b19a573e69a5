// Why an upstream could not be used, as callers and operators read it.

import { AuthError, ClientError, type ClientErrorCode, type ServerEntry, type SignInLink } from '../../client/index.ts';
import { hidePaths } from '../../common/hide-paths.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import { actsAsCaller, signsInItself } from './isolation.ts';

/** An upstream is not connected, so the call did not reach it. */
export class UpstreamUnavailable extends Error {
  readonly slug: string;
  /** When it makes sense to try again. */
  readonly retryAfterMs: number | undefined;

  constructor(slug: string, message: string, retryAfterMs?: number, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'UpstreamUnavailable';
    this.slug = slug;
    this.retryAfterMs = retryAfterMs;
  }
}

/** An upstream takes longer to start than a call waits: nothing has failed so far. */
export class UpstreamStarting extends UpstreamUnavailable {
  constructor(slug: string, retryAfterMs: number) {
    super(slug, `The server ${slug} cannot be used: it is still starting`, retryAfterMs);
  }
}

/** What an authorizer of a gateway throws for a server that has nothing to read without a caller: each of them signs in. */
export class CallersSignIn extends AuthError {
  constructor() {
    super('interaction-required', 'its users sign in when they first use it');
  }
}

/** The error of a call that could not be sent. */
export function cannotBeUsed(slug: string, why: string, retryAfterMs?: number, cause?: unknown): UpstreamUnavailable {
  return new UpstreamUnavailable(slug, `The server ${slug} cannot be used: ${why}`, retryAfterMs, cause);
}

/** Whether starting it again cannot help until the operator changes something. */
export function isPermanent(error: unknown): boolean {
  if (needsLogin(error)) return true;
  return error instanceof ClientError && ['configuration', 'spawn-failed', 'unsupported-revision'].includes(error.code);
}

/** The upstream requires credentials that we do not have. */
export function needsLogin(error: unknown): boolean {
  if (error instanceof AuthError) return !error.isTemporary;
  return error instanceof ClientError && error.code === 'unauthorized';
}

/** Why nothing could be read is that no caller has signed in yet. */
export function needsCaller(error: unknown): boolean {
  return error instanceof CallersSignIn || (error instanceof UpstreamUnavailable && needsCaller(error.cause));
}

/** The sign-in of the caller, if that is what is missing. */
export function signInOf(error: unknown): SignInLink | undefined {
  return error instanceof AuthError ? error.signIn : undefined;
}

/** The same, or the authorization server does not respond as it should: then it may work later. */
export function isAuthorizationError(error: unknown): boolean {
  return error instanceof AuthError || needsLogin(error);
}

/**
 * No connection to the upstream could be opened, by any caller. If it acts as its callers, a request without a response says nothing
 * about others.
 */
export function isUnreachable(config: Pick<UpstreamConfig, 'auth'>, error: unknown): boolean {
  if (!(error instanceof ClientError)) return false;
  return error.code === 'connect-failed' || (error.code === 'connect-timeout' && !actsAsCaller(config));
}

/** It concerns one caller: what a server that acts as its callers, or its authorization server, responds says nothing about others. */
export function isCallerError(
  config: Pick<UpstreamConfig, 'auth' | 'isolation'>,
  error: unknown,
  principalKey: string,
): boolean {
  if (signInOf(error) !== undefined || error instanceof CallersSignIn) return true;
  if (actsAsCaller(config)) return !isUnreachable(config, error);
  // What the configuration does not allow is the same for all.
  const isOfOwnSignIn = error instanceof AuthError && error.code !== 'configuration';
  return isOfOwnSignIn && signsInItself(config, principalKey);
}

/** What failed, for operators. Secrets in URLs are left out. */
export function messageOf(error: unknown): string {
  // Its own message is for callers, and says less.
  if (error instanceof UpstreamUnavailable && error.cause !== undefined) return messageOf(error.cause);
  const text = error instanceof Error ? error.message : String(error);
  return withoutUrlSecrets(error instanceof ClientError ? withGatewayOptions(error.code, text) : text);
}

/** The advice of the client names its own options, which users of the gateway do not have. */
function withGatewayOptions(code: ClientErrorCode, text: string): string {
  if (code === 'message-too-large')
    return text.replace('raise maxMessageBytes', 'raise "maxResultBytes" of the server');
  return code === 'invalid-result' ? text.replace('; raise maxPages if that is expected', '') : text;
}

/** Where the message of an error would show callers a command, a path or an address. */
const textsForCallers: Partial<Record<ClientErrorCode, string>> = {
  'spawn-failed': 'it could not be started',
  configuration: 'its configuration is not valid',
  'connect-failed': 'it could not be reached',
  'connection-lost': 'the connection to it was lost',
  'redirect-rejected': 'it redirects to another address',
};

/** What failed, for callers: without the command, the paths and the URL of the server. Operators see more in the status. */
export function reasonForCallers(error: unknown, entry: ServerEntry): string {
  if (needsLogin(error)) return 'it requires a login';
  if (error instanceof AuthError) return 'its authorization server does not respond as it should; try again later';
  const text = error instanceof ClientError ? textsForCallers[error.code] : undefined;
  // The message can contain what its process has printed.
  return text ?? hidePaths(withoutValuesOf(entry, messageOf(error)));
}

/** A server may print how it was started. Words such as `serve` reveal nothing. */
function withoutValuesOf({ command, args = [], env = {}, headers = {}, url = '' }: ServerEntry, text: string): string {
  const query = URL.canParse(url) ? [...new URL(url).searchParams.values()] : [];
  const given = [command ?? '', ...args, ...Object.values(env), ...Object.values(headers), ...query, url];
  const values = given
    .flatMap((value) => [value, ...value.split(/[=\s]/)])
    .filter((value) => value.length >= 4 && !/^-*[a-z-]+$/.test(value))
    .sort((a, b) => b.length - a.length);
  return values.reduce((rest, value) => rest.replaceAll(value, '[hidden]'), text);
}

/** Removes user names, passwords and the values of queries from URLs in a text. */
function withoutUrlSecrets(text: string): string {
  if (!text.includes('://')) return text;
  return text.replace(/\b([a-z][a-z0-9+.-]*:\/\/)([^\s"'<>]+)/gi, (_all, scheme: string, rest: string) => {
    const withoutUser = rest.replace(/^[^/?#]*@/, '');
    return scheme + withoutUser.replace(/([?&][^=&#]*=)[^&#]*/g, '$1[hidden]');
  });
}
