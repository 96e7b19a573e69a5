// A small HTTP proxy on loopback: CONNECT and absolute-form requests, with credentials if wanted. Names that do not exist
// can be mapped to ports of this machine.

import { createServer, type IncomingMessage, request } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface ProxyOptions {
  /** `user:password`; others are rejected with 407. */
  readonly credentials?: string;
  /** Rejects every request with this status. */
  readonly status?: number;
  /** A proxy that is itself reached with TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface TestProxy {
  readonly port: number;
  /** `CONNECT host:port` or `POST http://host/path`, in order. */
  readonly seen: string[];
  /** Where connections to `host:port` go. */
  readonly ports: Map<string, number>;
  close(): Promise<void>;
}

export async function startProxy({ credentials, status, tls }: ProxyOptions = {}): Promise<TestProxy> {
  const seen: string[] = [];
  const ports = new Map<string, number>();
  const sockets = new Set<Socket>();
  const expected = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  const rejection = ({ headers }: IncomingMessage): number | undefined =>
    status ?? (expected !== undefined && headers['proxy-authorization'] !== expected ? 407 : undefined);

  const server = tls === undefined ? createServer() : createSecureServer(tls);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', (incoming: IncomingMessage, response) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    const rejected = rejection(incoming);
    const target = URL.canParse(incoming.url ?? '') ? new URL(incoming.url as string) : undefined;
    if (rejected !== undefined || target === undefined) {
      response.writeHead(rejected ?? 400).end('rejected by the proxy');
      return;
    }
    const { 'proxy-authorization': _secret, ...headers } = incoming.headers;
    const port = ports.get(`${target.hostname}:${target.port || 80}`);
    const path = `${target.pathname}${target.search}`;
    const { method } = incoming;
    const forwarded = request({ host: '127.0.0.1', port, path, method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
      reply.on('error', () => response.destroy());
    });
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    seen.push(`CONNECT ${incoming.url}`);
    const rejected = rejection(incoming);
    if (rejected !== undefined) {
      socket.end(`HTTP/1.1 ${rejected} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const onward = connect(ports.get(incoming.url ?? '') ?? 1, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    ports,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
