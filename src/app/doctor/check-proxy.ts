// Checks the proxy that the environment names for a URL. The client uses it, as many clients and package managers do.

import {
  type Env,
  type HttpProxy,
  isLoopback,
  ProxyError,
  portOf,
  proxyVariable,
  toProxy,
  withoutBrackets,
} from '../../transports/proxy/environment.ts';
import type { Report } from './findings.ts';
import { probePort } from './probe.ts';

const proxyTimeoutMs = 2_000;

/** The reports about the proxy for this URL. */
export async function checkProxy(url: URL, env: Env): Promise<Report[]> {
  const variable = proxyVariable(url, env);
  if (variable === undefined) return [];
  const { name } = variable;
  if (isLoopback(url.hostname)) {
    return [
      {
        id: 'proxy-for-loopback',
        detail: `${name} is set, and NO_PROXY does not exclude ${url.hostname}: some programs use the proxy for it`,
        remedy: 'Set NO_PROXY=localhost,127.0.0.1,::1.',
      },
    ];
  }
  let proxy: HttpProxy;
  try {
    proxy = toProxy(variable);
  } catch (error) {
    if (!(error instanceof ProxyError)) throw error;
    return [
      { id: 'proxy-unreachable', detail: error.message, remedy: `Write it as ${name}=http://host:port, or unset it.` },
    ];
  }
  const why = await probePort(withoutBrackets(proxy.url.hostname), Number(portOf(proxy.url)), proxyTimeoutMs);
  if (why === undefined) return [];
  return [
    {
      id: 'proxy-unreachable',
      detail: `The proxy ${proxy.url.host} of ${name} cannot be reached (${why})`,
      remedy: `Correct ${name}, or unset it if this network has no proxy.`,
    },
  ];
}
