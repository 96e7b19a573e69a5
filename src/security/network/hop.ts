// One request to one checked set of addresses, up to the response headers. Redirects, limits on the body and policy are
// elsewhere.

import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { nodeHttp } from '../../common/builtins.ts';
import { parseAddress } from '../../common/ip-address.ts';
import { networkErrors } from './errors.ts';
import { hostOf, portOf } from './policy.ts';
import { pinnedLookup } from './resolve.ts';

/** One request to send. */
export interface Hop {
  readonly url: URL;
  readonly addresses: readonly string[];
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly maxHeaderBytes: number;
  /** Certificates to trust instead of the system's. */
  readonly ca?: string | readonly string[];
}

// Informational responses (such as 103) come before the real one and may be repeated; a few are enough.
const maxInformational = 8;

/** Sends the request and resolves when the response headers have arrived. The signal ends it at any time. */
export function sendHop(hop: Hop, signal: AbortSignal): Promise<IncomingMessage> {
  const { url, body } = hop;
  const host = hostOf(url);
  const send = url.protocol === 'https:' ? httpsRequest : nodeHttp().request;
  return new Promise((resolve, reject) => {
    const request: ClientRequest = send({
      protocol: url.protocol,
      host,
      port: portOf(url),
      path: url.pathname + url.search,
      method: hop.method,
      headers: { ...hop.headers, ...(body === undefined ? {} : { 'content-length': body.length }) },
      // A separate connection: no pool with sockets that were opened under other conditions.
      agent: false,
      lookup: pinnedLookup(hop.addresses),
      servername: parseAddress(host) === undefined ? host : undefined,
      maxHeaderSize: hop.maxHeaderBytes,
      ca: hop.ca === undefined ? undefined : [hop.ca].flat(),
      minVersion: 'TLSv1.2',
      insecureHTTPParser: false,
      signal,
    });
    let informational = 0;
    request.on('information', () => {
      if (++informational > maxInformational) request.destroy(networkErrors.badResponse('too many interim responses'));
    });
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(networkErrors.badResponse('the server switched to another protocol'));
    });
    request.on('error', reject);
    request.on('response', (response) => {
      // Without a listener an error after the headers (a reset, the time limit) would end the process.
      response.on('error', () => {});
      resolve(response);
    });
    request.end(body);
  });
}
