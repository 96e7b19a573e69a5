// How requests reach a server with Node's HTTP client: directly, through a tunnel that a proxy opens (https), or by a
// proxy that is sent the whole URL and forwards the request (http).

import type { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { nodeHttp } from '../../common/builtins.ts';
import { findProxy, type HttpProxy, withoutBrackets } from './environment.ts';

/** The parts of a URL as Node's client needs them. */
export interface RequestTarget {
  readonly url: URL;
  readonly host: string;
  readonly port: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

export interface HttpRoute {
  readonly request: typeof requestHttp;
  readonly Agent: typeof HttpAgent;
  toTarget(url: URL): RequestTarget;
  /** The error if a proxy has rejected a request itself. */
  rejection?(url: URL, status: number): Error | undefined;
  /** The error for a request without a response. */
  explain?(error: Error): Error;
}

type HttpModule = Pick<HttpRoute, 'request' | 'Agent'>;
const plain: HttpModule = nodeHttp();

/** The route to a server. TLS and proxies are loaded only if they are used. */
export async function findRoute(url: URL): Promise<HttpRoute> {
  const proxy = findProxy(url);
  const secure = url.protocol === 'https:';
  if (proxy !== undefined && !secure) return forwardingRoute(proxy);
  const { request, Agent } = secure ? await loadHttps() : plain;
  if (proxy === undefined) return { request, Agent, toTarget };
  const { tunnelAgent } = await import('./agent.ts');
  return { request, Agent: await tunnelAgent(proxy, secure), toTarget };
}

function toTarget(url: URL): RequestTarget {
  return {
    url,
    host: withoutBrackets(url.hostname),
    port: url.port,
    path: `${url.pathname}${url.search}`,
    headers: ['Host', url.host],
  };
}

async function forwardingRoute(proxy: HttpProxy): Promise<HttpRoute> {
  const { proxyAddress, proxyAuthenticationRequired, proxyHeaders, rejectedByProxy, unreachableProxy } = await import(
    './agent.ts'
  );
  const { request, Agent } = proxy.url.protocol === 'https:' ? await loadHttps() : plain;
  return {
    request,
    Agent,
    toTarget: (url) => ({
      url,
      ...proxyAddress(proxy),
      path: `${url.origin}${url.pathname}${url.search}`,
      headers: ['Host', url.host, ...proxyHeaders(proxy)],
    }),
    // Other statuses may be those of the server.
    rejection: ({ host }, status) =>
      status === proxyAuthenticationRequired ? rejectedByProxy(proxy, host, status) : undefined,
    // A connection that is lost later may have delivered the request.
    explain: (error) =>
      ['connect', 'getaddrinfo'].includes((error as NodeJS.ErrnoException).syscall ?? '')
        ? unreachableProxy(proxy, error)
        : error,
  };
}

async function loadHttps(): Promise<HttpModule> {
  return (await import('node:https')) as unknown as HttpModule;
}
