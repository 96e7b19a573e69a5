// The names of all options of `connect`.

import { assertKnownOptions } from '../common/known-options.ts';
import type { ConnectOptions } from './options.ts';

const known: Record<keyof ConnectOptions, true> = {
  client: true,
  serverName: true,
  revision: true,
  revisions: true,
  handlers: true,
  capabilities: true,
  onLog: true,
  onListChanged: true,
  onNotification: true,
  onState: true,
  onMessage: true,
  onUnexpectedOutput: true,
  reportsAllOutput: true,
  telemetry: true,
  logger: true,
  signal: true,
  onHold: true,
  connectTimeoutMs: true,
  probeTimeoutMs: true,
  timeoutMs: true,
  maxTimeoutMs: true,
  retry: true,
  reconnect: true,
  cache: true,
  eraCache: true,
  validateOutput: true,
  validateArguments: true,
  maxMessageBytes: true,
  maxDepth: true,
  maxInputRetries: true,
  maxPages: true,
  authorizer: true,
  headers: true,
  fetch: true,
  cwd: true,
  env: true,
  inheritEnv: true,
  onStderr: true,
  closeGraceMs: true,
};

/** Throws for an option that does not exist: without it, credentials would not be sent, or a limit would not apply. */
export const assertConnectOptions = (options: ConnectOptions): void => {
  assertKnownOptions('connect', options, known);
  const authorizer: unknown = options.authorizer;
  if (authorizer === undefined) return;
  const isAuthorizer =
    typeof authorizer === 'object' &&
    authorizer !== null &&
    'headers' in authorizer &&
    typeof authorizer.headers === 'function';
  if (isAuthorizer) return;
  throw new TypeError(
    'authorizer of connect: must be made by createAuthorizer or createStaticAuthorizer. ' +
      'For a fixed token, connect(url, { headers: { Authorization: "Bearer …" } }) works too',
  );
};
