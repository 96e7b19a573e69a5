// Which headers of a client's request may be forwarded to a server.

/** Belong to one connection (RFC 9110 §7.6.1), or are set by the gateway's own client. */
const ownHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'accept',
  'accept-encoding',
  'content-type',
  'content-length',
  'content-encoding',
  'origin',
  'last-event-id',
  'expect',
]);

/** Whether HTTP allows it as the name of a header. */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name);
}

/** Why a header cannot be forwarded; undefined if it can. The client's credentials are for the gateway only. */
export function forbiddenHeader(header: string): string | undefined {
  const name = header.toLowerCase();
  if (!isHeaderName(name)) return 'is not the name of a header';
  if (/^(authorization|cookie|proxy-.*|.*-api-key|x-auth-token)$/.test(name)) {
    return "the client's credentials are for the gateway and are never forwarded";
  }
  if (name.startsWith('mcp-')) return 'is a header of the protocol, which the gateway sets';
  if (ownHeaders.has(name)) return 'belongs to the connection and cannot be forwarded';
  return undefined;
}
