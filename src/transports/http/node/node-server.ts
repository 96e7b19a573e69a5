// The server of node:http, or of node:https if there is a certificate. node:https is loaded only then.

import type { IncomingMessage, Server, ServerOptions } from 'node:http';
import { nodeHttp } from '../../../common/builtins.ts';
import type { HttpLimits } from '../limits.ts';
import type { TlsOptions } from '../options.ts';
import { emitsUpgrade } from './ignored-upgrade.ts';

/** A server that does not listen yet. */
export interface NodeServer {
  readonly server: Server;
  /** Replaces the certificate. Throws, and changes nothing, if certificate and key are invalid or do not match. */
  setTls(tls: TlsOptions): void;
}

interface OptionsOfLaterNode extends ServerOptions {
  /** From Node.js 22.21 and 24.9 on: which requests with an upgrade header are emitted as `upgrade`. */
  readonly shouldUpgradeCallback: (this: Server, request: IncomingMessage) => boolean;
}

export async function createNodeServer(limits: HttpLimits, tls: TlsOptions | undefined): Promise<NodeServer> {
  const options: OptionsOfLaterNode = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(5_000, limits.headersTimeoutMs),
    // A header that was sent twice is joined, so that it equals no allowed value: two Hosts are not a valid Host.
    joinDuplicateHeaders: true,
    shouldUpgradeCallback(request) {
      return this.listenerCount('upgrade') > 0 && emitsUpgrade(request);
    },
  };
  if (tls === undefined) {
    const setTls = (): never => {
      throw new TypeError('This server was started without `tls`, so it has no certificate to replace');
    };
    return { server: nodeHttp().createServer(options), setTls };
  }
  const { createServer: createHttpsServer } = await import('node:https');
  // A client that opens connections and does not finish the handshake must not hold them any longer than with headers.
  const server = createHttpsServer({ ...options, ...pem(tls), handshakeTimeout: limits.headersTimeoutMs });
  return { server, setTls: (next) => server.setSecureContext(pem(next)) };
}

/** In the types of Node, which know only its own kind of byte array. */
function pem({ cert, key }: TlsOptions): { cert: string | Buffer; key: string | Buffer } {
  const toNode = (value: string | Uint8Array) => (typeof value === 'string' ? value : Buffer.from(value));
  return { cert: toNode(cert), key: toNode(key) };
}
