// Connections through a proxy: a CONNECT request opens a tunnel, in which TLS is between us and the server. Uses the
// documented extension point of Node's agents, `createConnection`.

import type { ClientRequestArgs, Agent as HttpAgent, IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import { nodeHttp } from '../../common/builtins.ts';
import { type HttpProxy, ProxyError, portOf, withoutBrackets } from './environment.ts';

/** Stops a proxy that accepts a connection and never responds from holding a request forever. */
const connectMs = 30_000;

/** Node ignores the socket if there is an error. */
type Connected = (error: Error | null, socket: Duplex) => void;

/** The class of agents whose connections to a server, with TLS or without, go through a tunnel. */
export async function tunnelAgent(proxy: HttpProxy, secure: boolean): Promise<typeof HttpAgent> {
  const https = secure || proxy.url.protocol === 'https:' ? await import('node:https') : undefined;
  const tls = secure ? await import('node:tls') : undefined;
  const http = nodeHttp();
  const Agent = (secure ? https?.Agent : http.Agent) as typeof HttpAgent;
  const request = (proxy.url.protocol === 'https:' ? https?.request : http.request) as typeof http.request;

  return class extends Agent {
    /** Tunnels that are being opened. */
    readonly #opening = new Set<{ destroy(): void }>();

    // Returns nothing: the connection is passed to the callback.
    override createConnection(options: ClientRequestArgs, connected?: Connected): undefined {
      const { host, port } = options;
      const authority = `${isIP(host ?? '') === 6 ? `[${host}]` : host}:${port}`;
      const connecting = request({
        ...proxyAddress(proxy),
        method: 'CONNECT',
        path: authority,
        headers: ['Host', authority, 'Connection', 'keep-alive', ...proxyHeaders(proxy)],
        agent: false,
        timeout: connectMs,
      });
      this.#opening.add(connecting);
      const end = (error: Error | null, socket?: Duplex): void => {
        this.#opening.delete(connecting);
        connected?.(error, socket as Duplex);
      };
      connecting.once('connect', (response: IncomingMessage, socket: Socket, head: Buffer) => {
        socket.setTimeout(0);
        if (response.statusCode !== 200) {
          socket.destroy();
          end(rejectedByProxy(proxy, authority, response.statusCode ?? 0));
          return;
        }
        if (head.length > 0) socket.unshift(head);
        if (tls === undefined) {
          end(null, socket);
          return;
        }
        // Host and port are those of the server, whose certificate is verified; the connection already exists.
        const { path: _path, port: _port, ...rest } = options as ClientRequestArgs & ConnectionOptions;
        end(null, tls.connect({ ...rest, socket }));
      });
      connecting.once('timeout', () => connecting.destroy(new Error(`no response within ${connectMs} ms`)));
      connecting.once('error', (error) => end(unreachableProxy(proxy, error)));
      connecting.end();
      return undefined;
    }

    override destroy(): void {
      for (const each of this.#opening) each.destroy();
      super.destroy();
    }
  };
}

/** Where requests of Node's client go that a proxy forwards. */
export function proxyAddress({ url }: HttpProxy): { readonly host: string; readonly port: string } {
  return { host: withoutBrackets(url.hostname), port: portOf(url) };
}

/** The credentials for the proxy, as names and values in turn. */
export function proxyHeaders({ authorization }: HttpProxy): string[] {
  return authorization === undefined ? [] : ['Proxy-Authorization', authorization];
}

/** The status with which a proxy asks for credentials. */
export const proxyAuthenticationRequired = 407;

/** The error for a rejection by the proxy itself. */
export function rejectedByProxy(proxy: HttpProxy, target: string, status: number): ProxyError {
  const { url, variable, authorization } = proxy;
  const advice =
    status !== proxyAuthenticationRequired
      ? ''
      : authorization === undefined
        ? `; it requires credentials, write them into the URL: ${variable}=http://user:password@host:port`
        : `; it does not accept the credentials in ${variable}`;
  const message = `The proxy ${url.host} of ${variable} rejected a connection to ${target} with HTTP ${status}${advice}`;
  return new ProxyError('ERR_PROXY_CONNECTION', message);
}

/** The error for a proxy to which there is no connection. */
export function unreachableProxy({ url, variable }: HttpProxy, cause: Error): ProxyError {
  const why = cause.message || (cause as NodeJS.ErrnoException).code || 'no reason given';
  return new ProxyError(
    'ERR_PROXY_CONNECTION',
    `The proxy ${url.host} of ${variable} cannot be reached: ${why}`,
    cause,
  );
}
