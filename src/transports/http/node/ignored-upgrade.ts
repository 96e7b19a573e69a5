// A request that offers a protocol we do not speak is served as if it had not (RFC 9110 §7.8): `curl --http2` and the client
// of the JDK offer h2c with every request. node:http hands such a request over without reading on, so that it has to be
// read again without the offer.

import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

const offers = new Set(['upgrade', 'http2-settings']);
const readAgain = Symbol('read again');

/** True for a connection that the server has seen before. */
export function isReadAgain(socket: Duplex & { readonly [readAgain]?: boolean }): boolean {
  return socket[readAgain] === true;
}

/** Has the server read a request again, without what it says about other protocols. `head`: what followed it. */
export function ignoreUpgrade(
  server: Server,
  request: IncomingMessage,
  socket: Duplex & { [readAgain]?: boolean },
  head: Buffer,
): void {
  socket[readAgain] = true;
  socket.unshift(Buffer.concat([Buffer.from(headText(request), 'latin1'), head]));
  server.emit('connection', socket);
}

function headText({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
    const lower = name.toLowerCase();
    if (lower === 'connection') {
      const options = value.split(',').filter((each) => !offers.has(each.trim().toLowerCase()));
      if (options.length > 0) lines.push(`${name}: ${options.join(',')}`);
    } else if (!offers.has(lower)) lines.push(`${name}: ${value}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}
