// The names of all options of `serveHttp`: TypeScript reports a mistyped one, JavaScript does not.

import type { HttpOptions } from './options.ts';

const known: Record<keyof HttpOptions, true> = {
  host: true,
  port: true,
  path: true,
  tls: true,
  publicUrl: true,
  allowedHosts: true,
  allowedOrigins: true,
  optionNames: true,
  authenticate: true,
  allowUnauthenticated: true,
  limits: true,
  sessions: true,
  sealer: true,
  store: true,
  eventLog: true,
  sharedEventLog: true,
  sse: true,
  webSocket: true,
  healthPath: true,
  metricsPath: true,
  monitors: true,
  compat: true,
  routes: true,
  hosts: true,
  mounts: true,
  logger: true,
  ownProcess: true,
  reload: true,
  drainDelayMs: true,
  graceMs: true,
};

/** Throws for an option that does not exist: without it, the server would listen elsewhere, or let more callers in. */
export function assertKnownOptions(options: HttpOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (Object.hasOwn(known, name) || value === undefined) continue;
    throw new TypeError(`Unknown option ${name} of serveHttp; use one of ${Object.keys(known).join(', ')}`);
  }
}
