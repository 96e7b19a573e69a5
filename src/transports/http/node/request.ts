// A node:http request before its body is read.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Principal } from '../../../protocol/callers/principal.ts';
import type { AdmittedRequest } from '../exchange.ts';

const address = Symbol('address');

/** Stores the remote address of a socket: reading it is slow, and impossible once the socket is closed. */
export function storeAddress(socket: Socket & { [address]?: string | undefined }): string | undefined {
  return (socket[address] = socket.remoteAddress);
}

/** The address that a request comes from. */
export function addressOf({ socket }: { readonly socket: Socket & { readonly [address]?: string | undefined } }) {
  return socket[address] ?? socket.remoteAddress;
}

export class NodeRequest implements AdmittedRequest {
  protected readonly incoming: IncomingMessage;
  #headers: IncomingHttpHeaders;
  readonly path: string;
  readonly query: string;
  principal: Principal | undefined = undefined;

  constructor(request: IncomingMessage, url = request.url as string) {
    this.incoming = request;
    this.#headers = request.headers;
    const mark = url.indexOf('?');
    this.path = mark === -1 ? url : url.slice(0, mark);
    this.query = mark === -1 ? '' : url.slice(mark + 1);
  }

  get method(): string {
    return this.incoming.method as string;
  }

  get raw(): IncomingMessage {
    return this.incoming;
  }

  get address(): string | undefined {
    return addressOf(this.incoming);
  }

  get port(): number | undefined {
    return this.incoming.socket.remotePort;
  }

  get httpVersion(): string {
    // HTTP/2 has no minor version.
    return this.incoming.httpVersionMajor > 1 ? `${this.incoming.httpVersionMajor}` : this.incoming.httpVersion;
  }

  get(name: string): string | undefined {
    return this.#headers[name] as string | undefined;
  }

  /** Frees memory: the request has no headers from now on. */
  protected releaseHeaders(): void {
    this.#headers = {};
  }
}
