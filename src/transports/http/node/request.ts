// A node:http request before its body is read.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Principal } from '../../../protocol/callers/principal.ts';
import type { AdmittedRequest } from '../exchange.ts';
import type { TrustedProxies } from '../trusted-proxies.ts';

const address = Symbol('address');
const proxies = Symbol('the trusted proxies, one of which has opened the connection');

/** A connection with what is known about its other end. */
type RemoteSocket = Socket & { [address]?: string | undefined; [proxies]?: TrustedProxies };

/** Stores the remote address of a socket: reading it is slow, and impossible once the socket is closed. */
export function storeAddress(socket: RemoteSocket, trusted: TrustedProxies | undefined): string | undefined {
  const remote = socket.remoteAddress;
  if (trusted?.includes(remote)) socket[proxies] = trusted;
  return (socket[address] = remote);
}

/** Whether a trusted proxy has opened a connection. */
export function isFromProxy(socket: RemoteSocket): boolean {
  return socket[proxies] !== undefined;
}

function remoteAddressOf(socket: RemoteSocket): string | undefined {
  return socket[address] ?? socket.remoteAddress;
}

/** The address of the client that a request comes from. */
export function addressOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string | undefined {
  const remote = remoteAddressOf(socket);
  const trusted = (socket as RemoteSocket)[proxies];
  if (trusted === undefined || remote === undefined) return remote;
  return trusted.clientOf(remote, headers['x-forwarded-for'] as string | undefined);
}

/** Whether the client sends a body. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

export class NodeRequest implements AdmittedRequest {
  protected readonly incoming: IncomingMessage;
  #headers: IncomingHttpHeaders;
  readonly path: string;
  readonly query: string;
  principal: Principal | undefined = undefined;
  /** The address of the client of a proxy, once the header with it is gone. */
  #client: string | undefined = undefined;

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
    return this.#client ?? addressOf(this.incoming);
  }

  /** A proxy does not say which port its client has. */
  get port(): number | undefined {
    const { socket } = this.incoming;
    return isFromProxy(socket) && this.address !== remoteAddressOf(socket) ? undefined : socket.remotePort;
  }

  get httpVersion(): string {
    // HTTP/2 has no minor version.
    return this.incoming.httpVersionMajor > 1 ? `${this.incoming.httpVersionMajor}` : this.incoming.httpVersion;
  }

  get(name: string): string | undefined {
    return this.#headers[name] as string | undefined;
  }

  releaseHeaders(): void {
    if (isFromProxy(this.incoming.socket)) this.#client = this.address;
    this.incoming.rawHeaders = [];
    this.incoming.headers = this.#headers = {};
  }
}
