// Checks a URL: the address, TLS, proxies, redirects, credentials and the path of the endpoint. If all of that is right,
// the server itself is checked.

import { AuthError, createAuthorizer, createFileStore } from '../../client/index.ts';
import { checkProxy } from './check-proxy.ts';
import { checkConnection, type ServerCheckOptions } from './check-server.ts';
import type { Report } from './findings.ts';
import { type ProbeResult, probe, speaksTls } from './probe.ts';
import { explainSignIn } from './sign-in.ts';

export interface UrlEntry {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As configured: `sse`, `http` … */
  readonly type: string | undefined;
}

/** Where servers have their endpoint, most usual first. */
const usualPaths = ['/mcp', '/sse', '/', '/api/mcp', '/mcp/sse', '/v1/mcp'];

/** A probe gets less time than the start of a server. */
const maxProbeMs = 5_000;

/** The reports about a URL. */
export async function checkUrl(entry: UrlEntry, options: ServerCheckOptions): Promise<Report[]> {
  const url = URL.canParse(entry.url) ? new URL(entry.url) : undefined;
  if (url === undefined || !/^(https?|wss?):$/.test(url.protocol)) return [invalidUrl(entry.url)];
  const reports: Report[] = [...wildcard(url), ...(await checkProxy(url, process.env))];
  if (reports.some(({ id }) => id === 'proxy-unreachable')) return reports;
  if (/^wss?:$/.test(url.protocol)) {
    const { reports: found } = await checkConnection(entry.url, options, { headers: entry.headers });
    return [...reports, ...found];
  }
  const probeMs = Math.min(options.timeoutMs, maxProbeMs);
  const first = await probe('POST', url, entry.headers, probeMs);
  const problem = first.ok
    ? await explainStatus(url, first, entry, options)
    : await explainFailure(url, first, probeMs);
  if (problem !== undefined) return [...reports, problem];

  // Our client would also try /mcp for a bare origin, but other clients do not.
  const absent = first.ok && (first.status === 404 || first.status === 405);
  if (!(absent && url.pathname === '/')) {
    const {
      reports: found,
      error,
      transport,
    } = await checkConnection({ ...entry, type: entry.type ?? 'http' }, options);
    if (error === undefined) return [...reports, ...found, ...olderTransport(transport, entry.type)];
    if (!found.some(({ id }) => id === 'not-mcp' || id === 'connection-failed')) return [...reports, ...found];
    const failure = first.ok ? explainJsonRpcError(url, first) : undefined;
    if (failure !== undefined) return [...reports, failure];
  }
  return [...reports, await findEndpoint(url, first, entry.headers, probeMs)];
}

function invalidUrl(text: string): Report {
  const bare = /^[\w.-]+(:\d+)?(\/|$)/.test(text) && !text.includes('://');
  const remedy = bare
    ? `Write the scheme too: http://${text}`
    : 'A URL begins with http://, https://, ws:// or wss://, such as http://127.0.0.1:8000/mcp.';
  return { id: 'url-invalid', detail: `${JSON.stringify(text)} is not a URL of an MCP server`, remedy };
}

function wildcard({ hostname, href }: URL): Report[] {
  if (hostname !== '0.0.0.0' && hostname !== '[::]') return [];
  return [
    {
      id: 'wildcard-address',
      detail: `${hostname} means "all addresses" to a server, and does not work as a destination everywhere`,
      remedy: `Use ${href.replace(hostname, '127.0.0.1')}.`,
    },
  ];
}

function olderTransport(transport: string | undefined, type: string | undefined): Report[] {
  if (transport !== 'sse' || type === 'sse') return [];
  return [
    {
      id: 'sse-transport',
      detail: 'The server has only the HTTP+SSE transport of the first protocol revision',
      remedy: 'Configure it with "type": "sse" where the client has that, and update the server.',
    },
  ];
}

const certificates: Readonly<Record<string, Omit<Report, 'detail'>>> = {
  CERT_HAS_EXPIRED: { id: 'certificate-expired', remedy: 'Renew the certificate of the server.' },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    id: 'certificate-wrong-host',
    remedy: 'Use the name in the certificate, or get a certificate for this name.',
  },
};
const untrusted = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
];

/** Why there was no response. */
async function explainFailure(url: URL, failure: ProbeResult & { ok: false }, timeoutMs: number): Promise<Report> {
  const { code, message } = failure;
  const { host, hostname, protocol } = url;
  const secure = protocol === 'https:';
  const certificate = certificates[code];
  if (certificate !== undefined) return { ...certificate, detail: `${host}: ${message}` };
  if (untrusted.includes(code)) {
    const remedy = 'If you trust it, set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority.';
    return { id: 'certificate-untrusted', detail: `${host}: ${message}`, remedy };
  }
  if (code === 'ERR_PROXY_CONNECTION') {
    const remedy = 'Correct the URL of the proxy, ask its operator, or exclude the server with NO_PROXY.';
    return { id: 'proxy-rejected', detail: message, remedy };
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return {
      id: 'host-not-found',
      detail: `${hostname} cannot be resolved`,
      remedy: 'Check the name and the network.',
    };
  }
  if (code === 'ECONNREFUSED') {
    const remedy = 'Start the server, or correct the port. In a container, the server must listen on 0.0.0.0.';
    return { id: 'connection-refused', detail: `No program listens on ${host}`, remedy };
  }
  if (secure && /EPROTO|ERR_SSL|WRONG_VERSION_NUMBER/i.test(`${code} ${message}`)) return usePlain(url);
  const port = Number(url.port || (secure ? 443 : 80));
  if (!secure && (await speaksTls(hostname.replace(/^\[|\]$/g, ''), port, timeoutMs))) return useTls(url);
  if (code === 'ETIMEDOUT') {
    const remedy = 'Check the address and firewalls; give the server more time with --timeout.';
    return { id: 'no-response', detail: `${host}: ${message}`, remedy };
  }
  return {
    id: 'connection-failed',
    detail: `${host}: ${message}`,
    remedy: 'Check the address, and the log of the server.',
  };
}

const usePlain = (url: URL): Report => ({
  id: 'tls-on-plain-http',
  detail: `${url.host} does not use TLS`,
  remedy: `Use ${url.href.replace(/^https:/, 'http:')}.`,
});

const useTls = (url: URL): Report => ({
  id: 'plain-http-on-tls',
  detail: `${url.host} uses TLS`,
  remedy: `Use ${url.href.replace(/^http:/, 'https:')}.`,
});

/** The finding for a status that explains itself; undefined if connecting will show more. */
async function explainStatus(
  url: URL,
  reply: ProbeResult & { ok: true },
  { headers }: UrlEntry,
  options: ServerCheckOptions,
): Promise<Report | undefined> {
  const { status, body } = reply;
  if (status === 400 && /HTTP request (was sent )?to (an )?HTTPS (port|server)/i.test(body)) return useTls(url);
  if (status >= 300 && status < 400) {
    const location = reply.header('location');
    const to = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (to === undefined || to.origin === url.origin) return undefined;
    const detail = `${url.href} redirects to ${to.href}, and credentials are never sent to another origin`;
    return { id: 'redirected', detail, remedy: `Use ${to.href} if that is the right server.` };
  }
  if (status === 401 || (status === 403 && reply.header('www-authenticate') !== '')) {
    if (await hasStoredSignIn(url, headers, options)) return undefined;
    return explainSignIn(url, reply, headers, options.timeoutMs);
  }
  if (status === 403) {
    const said = body.replace(/\s+/g, ' ').trim().slice(0, 200);
    return {
      id: 'forbidden',
      detail: `${url.host} denies access (403)${said === '' ? '' : `: ${said}`}`,
      remedy: /host|origin/i.test(said)
        ? 'The server does not accept this host name. A Mooring server does with --allow-host NAME.'
        : 'Check the credentials and the address. The server may accept only certain host names or networks.',
    };
  }
  if (status >= 500 || status === 429) {
    const detail = `${url.href} responds with HTTP ${status}`;
    return { id: 'server-error', detail, remedy: 'Look at the log of the server, and of the proxy in front of it.' };
  }
  return undefined;
}

/** The finding for an endpoint that is in the right place but rejects even the first request. */
function explainJsonRpcError({ href }: URL, reply: ProbeResult & { ok: true }): Report | undefined {
  if (!isEndpoint(reply)) return undefined;
  const { code, message } = jsonRpcErrorIn(reply.body);
  if (code === undefined) return undefined;
  const detail = `${href} is an MCP endpoint, but it responds with an error: ${message} (${code})`;
  return { id: 'server-error', detail, remedy: 'Correct what the error says, and look at the log of the server.' };
}

function jsonRpcErrorIn(body: string): { readonly code?: number; readonly message?: string } {
  try {
    return JSON.parse(body)?.error ?? {};
  } catch {
    return {}; // A stream, or too long to be an error.
  }
}

/** Whether an earlier sign-in with `mooring` is still valid. */
async function hasStoredSignIn(url: URL, headers: UrlEntry['headers'], options: ServerCheckOptions): Promise<boolean> {
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')) return false;
  try {
    const authorizer = createAuthorizer({ server: url.href, store: createFileStore(), redirector: false });
    const { error } = await checkConnection(url.href, options, { authorizer, headers });
    return error === undefined;
  } catch (error) {
    if (error instanceof AuthError) return false;
    throw error;
  }
}

/** Looks for the endpoint at the usual paths. */
async function findEndpoint(
  url: URL,
  first: ProbeResult,
  headers: UrlEntry['headers'],
  timeoutMs: number,
): Promise<Report> {
  for (const path of usualPaths) {
    const candidate = new URL(path, url);
    if (candidate.pathname === url.pathname) continue;
    const isSse = path.endsWith('/sse');
    const reply = await probe(isSse ? 'GET' : 'POST', candidate, headers, timeoutMs);
    if (!reply.ok || !(isSse ? reply.type === 'text/event-stream' : isEndpoint(reply))) continue;
    return {
      id: 'wrong-path',
      detail: `There is no MCP endpoint at ${url.pathname}, but there is one at ${path}`,
      remedy: `Use ${candidate.href}.`,
    };
  }
  const isPage = first.ok && first.type === 'text/html' && first.status < 400;
  if (isPage) {
    const remedy = 'Look up the URL of the MCP endpoint in the documentation of the server.';
    return { id: 'not-mcp', detail: `${url.href} is a web page, not an MCP server`, remedy };
  }
  if (first.ok && first.status < 400) {
    const detail = `${url.href} responds (HTTP ${first.status}, ${first.type || 'no content type'}), but not as an MCP server`;
    return { id: 'not-mcp', detail, remedy: 'Check that an MCP server runs there.' };
  }
  const status = first.ok ? ` (HTTP ${first.status})` : '';
  return {
    id: 'endpoint-not-found',
    detail: `There is no MCP endpoint at ${url.pathname}${status}, nor at ${usualPaths.join(', ')}`,
    remedy: 'Look up the path of the endpoint in the documentation of the server.',
  };
}

/** A JSON-RPC message, a stream, or a request for credentials. */
function isEndpoint({ status, type, body }: ProbeResult & { ok: true }): boolean {
  if (status === 401) return true;
  if (type === 'text/event-stream') return status < 300;
  return type === 'application/json' && /"jsonrpc"\s*:\s*"2\.0"/.test(body) && status !== 404;
}
