// The names of all options of `serveHttp`, `toNodeHandler` and `toFetch`: TypeScript reports a mistyped one, JavaScript does not.

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

/**
 * Throws for an option that does not exist: without it, the server would listen elsewhere, or let more callers in. `callee`: the
 * function that was called with the options.
 */
export function assertKnownOptions(
  callee: 'serveHttp' | 'toNodeHandler' | 'toFetch',
  options: HttpOptions | EndpointOptions,
): void {
  const known = callee === 'serveHttp' ? ofServers : ofEndpoints;
  for (const [name, value] of Object.entries(options)) {
    if (Object.hasOwn(known, name) || value === undefined) continue;
    throw new TypeError(`Unknown option ${name} of ${callee}; use one of ${Object.keys(known).join(', ')}`);
  }
}
