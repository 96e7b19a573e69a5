// A loopback web server for tests: routes are one function, every request is kept. Nothing of OAuth lives here.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it arrived. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What to answer. An object body is sent as JSON. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

/** A running server. */
export interface FakeHttp {
  readonly origin: string;
  readonly seen: SeenRequest[];
  /** Requests for one path, in order. */
  to(path: string): SeenRequest[];
  close(): Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1. */
export async function startFakeHttp(route: (request: SeenRequest) => Reply | Promise<Reply>): Promise<FakeHttp> {
  const seen: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', 'http://fake');
    const entry: SeenRequest = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    seen.push(entry);
    const { status = 200, headers = {}, body } = await route(entry);
    const json = typeof body === 'object' && body !== null;
    response.writeHead(status, { ...(json ? { 'content-type': 'application/json' } : {}), ...headers });
    response.end(json ? JSON.stringify(body) : body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    to: (path) => seen.filter((one) => one.path === path),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The answer of a place that does not exist. */
export const notFound: Reply = { status: 404, body: { error: 'not_found' } };
