// One request to one checked set of addresses, up to the answer's headers. Redirects, caps on the body and policy
// live elsewhere.

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { parseAddress } from './address.ts';
import { networkErrors } from './errors.ts';
import { hostOf, portOf } from './policy.ts';
import { pinnedLookup } from './resolve.ts';

/** What goes out in one hop. */
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

// Informational answers (103 and kin) come before the real one and may be repeated; nobody needs more than a few.
const maxInformational = 8;

/** Sends the hop and resolves with the answer once its headers are in. The signal ends it at any time. */
export function sendHop(hop: Hop, signal: AbortSignal): Promise<IncomingMessage> {
  const { url, body } = hop;
  const host = hostOf(url);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request: ClientRequest = send({
      protocol: url.protocol,
      host,
      port: portOf(url),
      path: url.pathname + url.search,
      method: hop.method,
      headers: { ...hop.headers, ...(body === undefined ? {} : { 'content-length': body.length }) },
      // A connection of its own: no pool in which a socket opened under other circumstances could wait.
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
      if (++informational > maxInformational) request.destroy(networkErrors.badResponse('too many interim answers'));
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
