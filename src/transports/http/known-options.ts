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
  trustedProxies: true,
  ...ofEndpoints,
  allowUnauthenticated: true,
  webSocket: true,
  ownProcess: true,
  reload: true,
  drainDelayMs: true,
  graceMs: true,
};

const sessionModes: readonly unknown[] = ['required', 'optional', 'off'] satisfies EndpointOptions['sessions'][];

/** A text of digits is accepted: environment variables are texts. */
function assertPort(port: unknown): void {
  const number = typeof port === 'string' && /^\d{1,5}$/.test(port) ? Number(port) : port;
  if (port === undefined || (Number.isInteger(number) && (number as number) >= 0 && (number as number) < 65_536))
    return;
  const given = typeof port === 'number' ? String(port) : JSON.stringify(port);
  throw new TypeError(`port: must be a number from 0 to 65535, not ${given}; 0 picks a free port`);
}

/** What is in them is checked where they are used. */
function assertTls(tls: HttpOptions['tls'] | null): void {
  if (tls === undefined) return;
  for (const name of ['cert', 'key'] as const) {
    const value: unknown = tls?.[name];
    if (value instanceof Uint8Array || (typeof value === 'string' && value.includes('-----BEGIN '))) continue;
    throw new TypeError(
      `tls.${name}: must be the contents of a PEM file, which contain "-----BEGIN": await readFile("${name}.pem")`,
    );
  }
}

/** `member`: the function that each of them has. */
function assertRoutes(option: 'routes' | 'mounts', given: unknown, member: string, example: string): void {
  if (given === undefined) return;
  const isRoute = (each: unknown): boolean => {
    const { path, [member]: serve } = (each ?? {}) as Readonly<Record<string, unknown>>;
    return typeof path === 'string' && path.startsWith('/') && typeof serve === 'function';
  };
  if (Array.isArray(given) && given.every(isRoute)) return;
  throw new TypeError(
    `${option}: must be a list of objects with a path, which begins with a slash, and a function "${member}", such as ${example}`,
  );
}

/** Throws for an option that does not exist or cannot work: without it, the server would listen elsewhere, or let more callers in. */
export const assertHttpOptions = (
  callee: 'serveHttp' | 'toNodeHandler' | 'toFetch',
  options: HttpOptions | EndpointOptions,
): void => {
  // Only `serveHttp` listens, but an object with its options can be shared with the others.
  assertKnownOptions(callee, options, callee === 'serveHttp' ? ofServers : ofEndpoints, ofServers);
  const { authenticate, path, serverCard = false, publicUrl, sessions = 'required' } = options;
  if (authenticate !== undefined && typeof authenticate !== 'function') {
    const isOAuth = typeof authenticate === 'object' && authenticate !== null && 'authenticate' in authenticate;
    throw new TypeError(
      isOAuth
        ? `${callee}, authenticate: pass the function and the routes: { authenticate: oauth.authenticate, routes: oauth.routes }`
        : 'authenticate: must be a function that identifies the caller; mooring/security has some',
    );
  }
  if (path !== undefined && !/^\//.test(path)) {
    throw new TypeError(`path: must begin with a slash, such as "/mcp"; it is ${JSON.stringify(path)}`);
  }
  if (!sessionModes.includes(sessions)) {
    throw new TypeError(`sessions: must be one of ${sessionModes.join(', ')}, not ${JSON.stringify(sessions)}`);
  }
  assertRoutes('routes', options.routes, 'answer', 'oauth.routes');
  assertRoutes('mounts', options.mounts, 'handle', '[console.mount]');
  if ('port' in options) assertPort(options.port);
  if ('tls' in options) assertTls(options.tls);
  // The rest of the card is checked where it is loaded.
  if (callee !== 'serveHttp' && serverCard !== false && publicUrl === undefined) {
    throw new TypeError('serverCard: needs publicUrl, the address that clients use, such as "https://mcp.example.com"');
  }
};
