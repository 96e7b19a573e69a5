// An upgrade to an unsupported protocol is ignored (RFC 9110 §7.8): `curl --http2` and the client of the JDK offer h2c with
// every request. node:http stops parsing at such a request, so it has to be parsed again without the upgrade headers.

import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { hasBody } from './request.ts';

const upgradeHeaders = new Set(['upgrade', 'http2-settings']);
const reparsed = Symbol('parsed again');

/**
 * Whether the server should treat a request as an upgrade. If Node.js asks for it, it may have parsed a body before, which could
 * not be parsed again; without an upgrade it serves such a request like any other. What a client sends in the same packet after
 * it is lost, but clients wait for the response to a POST before they send another request (RFC 9112 §9.3.2).
 */
export function emitsUpgrade(request: IncomingMessage): boolean {
  return !hasBody(request);
}

/** True for a connection whose request is parsed again: the server has counted it already. */
export function isReparsed(socket: Duplex & { readonly [reparsed]?: boolean }): boolean {
  return socket[reparsed] === true;
}

/** Makes the server parse a request again, without its upgrade headers. `head`: the bytes that followed it. */
export function ignoreUpgrade(
  server: Server,
  request: IncomingMessage,
  socket: Duplex & { [reparsed]?: boolean },
  head: Buffer,
): void {
  socket[reparsed] = true;
  socket.unshift(Buffer.concat([Buffer.from(headText(request), 'latin1'), head]));
  // The event at which the server begins to parse; at `connection` node:https would begin another handshake.
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
}

function headText({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
    const lower = name.toLowerCase();
    if (lower === 'connection') {
      const options = value.split(',').filter((each) => !upgradeHeaders.has(each.trim().toLowerCase()));
      if (options.length > 0) lines.push(`${name}: ${options.join(',')}`);
    } else if (!upgradeHeaders.has(lower)) lines.push(`${name}: ${value}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}
