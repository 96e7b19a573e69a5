// A gateway over HTTP for tests, at the addresses that the program gives it, and the reference server of this project.

import { createGateway, type Gateway, type UpstreamConfig } from '../../src/gateway/index.ts';
import { createServer, type HttpServer, serveHttp } from '../../src/index.ts';
import { everything } from '../../src/packs/everything/index.ts';
import { gatewayConfig } from './fixture.ts';

export interface ServedGateway {
  readonly gateway: Gateway;
  /** The address of all servers together. */
  readonly url: string;
  /** The address of one server by itself. */
  urlOf(slug: string): string;
  close(): Promise<void>;
}

/** Serves these servers, all together and each by itself. */
export async function serveGateway(servers: readonly UpstreamConfig[]): Promise<ServedGateway> {
  const gateway = createGateway(gatewayConfig(servers), { logger: false });
  const front = await serveHttp(gateway.server, {
    port: 0,
    graceMs: 100,
    hosts: (path) => (path.startsWith('/mcp/') ? gateway.serverAt(path.slice('/mcp'.length)) : undefined),
  });
  return {
    gateway,
    url: front.url,
    urlOf: (slug) => `${front.url}/s/${slug}`,
    async close() {
      await front.close();
      await gateway.close();
    },
  };
}

/** The server with everything that a test may need, over HTTP. */
export async function serveEverything(): Promise<HttpServer> {
  const server = createServer({ name: 'everything', version: '1.0.0' });
  await server.use(everything());
  return serveHttp(server, { port: 0, graceMs: 100 });
}
