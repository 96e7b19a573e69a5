// Checks the proxy that the environment names for a URL. Many clients and package managers use these variables.

import type { Report } from './findings.ts';
import { probePort } from './probe.ts';

type Env = Readonly<Record<string, string | undefined>>;

const proxyTimeoutMs = 2_000;

/** The reports about the proxy for this URL. */
export async function checkProxy(url: URL, env: Env): Promise<Report[]> {
  const secure = /^(https|wss):$/.test(url.protocol);
  const names = secure ? ['HTTPS_PROXY', 'https_proxy'] : ['HTTP_PROXY', 'http_proxy'];
  const name = [...names, 'ALL_PROXY', 'all_proxy'].find((each) => env[each]);
  if (name === undefined) return [];
  const value = env[name] as string;
  if (isExcluded(url, env['NO_PROXY'] ?? env['no_proxy'] ?? '')) return [];
  if (isLoopback(url.hostname)) {
    return [
      {
        id: 'proxy-for-loopback',
        detail: `${name} is set, and NO_PROXY does not exclude ${url.hostname}: some programs ask the proxy for it`,
        remedy: 'Set NO_PROXY=localhost,127.0.0.1,::1.',
      },
    ];
  }
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const proxy = URL.canParse(text) ? new URL(text) : undefined;
  if (proxy === undefined || proxy.hostname === '') {
    const remedy = `Write it as ${name}=http://host:port, or unset it.`;
    return [{ id: 'proxy-unreachable', detail: `${name} is not a URL: ${JSON.stringify(value)}`, remedy }];
  }
  const port = Number(proxy.port || (proxy.protocol === 'https:' ? 443 : 80));
  const why = await probePort(proxy.hostname.replace(/^\[|\]$/g, ''), port, proxyTimeoutMs);
  if (why === undefined) return [];
  return [
    {
      id: 'proxy-unreachable',
      detail: `The proxy ${proxy.host} of ${name} cannot be reached (${why})`,
      remedy: `Correct ${name}, or unset it if this network has no proxy.`,
    },
  ];
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}

/** The rules of curl: names with their subdomains, addresses, optionally with a port, or `*`. */
function isExcluded({ hostname, port }: URL, list: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return list
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((each) => {
      if (each === '*') return true;
      const [, name = '', only] = /^\.?\[?(.+?)\]?(?::(\d+))?$/.exec(each.toLowerCase()) ?? [];
      if (only !== undefined && !each.includes('::') && only !== port) return false;
      return host === name || host === each.toLowerCase() || host.endsWith(`.${name}`);
    });
}
