// The names of all options of `serveHttp`, `toNodeHandler` and `toFetch`.

import { assertKnownOptions } from '../../common/known-options.ts';
import type { EndpointOptions, HttpOptions } from './options.ts';

const ofEndpoints: Record<keyof EndpointOptions, true> = {
  path: true,
  publicUrl: true,
  allowedHosts: true,
  allowedOrigins: true,
  optionNames: true,
  authenticate: true,
  limits: true,
  sessions: true,
  sealer: true,
  store: true,
  eventLog: true,
  sharedEventLog: true,
  sse: true,
  healthPath: true,
  metricsPath: true,
  serverCard: true,
  monitors: true,
  compat: true,
  routes: true,
  hosts: true,
  mounts: true,
  logger: true,
};

const ofServers: Record<keyof HttpOptions, true> = {
  host: true,
  port: true,
  tls: true,
  ...ofEndpoints,
  allowUnauthenticated: true,
  webSocket: true,
  ownProcess: true,
  reload: true,
  drainDelayMs: true,
  graceMs: true,
};

/** Throws for an option that does not exist or cannot work: without it, the server would listen elsewhere, or let more callers in. */
export const assertHttpOptions = (
  callee: 'serveHttp' | 'toNodeHandler' | 'toFetch',
  options: HttpOptions | EndpointOptions,
): void => {
  assertKnownOptions(callee, options, callee === 'serveHttp' ? ofServers : ofEndpoints);
  const { authenticate, path, serverCard = false, publicUrl } = options;
  if (authenticate !== undefined && typeof authenticate !== 'function') {
    throw new TypeError('authenticate: must be a function that identifies the caller; mooring/security has some');
  }
  if (path !== undefined && !/^\//.test(path)) {
    throw new TypeError(`path: must begin with a slash, such as "/mcp"; it is ${JSON.stringify(path)}`);
  }
  // The rest of the card is checked where it is loaded.
  if (callee !== 'serveHttp' && serverCard !== false && publicUrl === undefined) {
    throw new TypeError('serverCard: needs publicUrl, the address that clients use, such as "https://mcp.example.com"');
  }
};
