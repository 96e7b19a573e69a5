// Gateways of tests: configurations with all defaults, and upstreams in memory.

import { type Client, type ConnectOptions, connect, inMemory } from '../../src/client/index.ts';
import type { Server } from '../../src/engine/server.ts';
import {
  createGateway,
  type Gateway,
  type GatewayConfig,
  type GatewayOptions,
  type UpstreamConfig,
  type ViewConfig,
} from '../../src/gateway/index.ts';
import type { Closers } from '../support/closers.ts';

const all = { exclude: [] };

/** The configuration of an upstream with the defaults. */
export function upstream(slug: string, given: Partial<UpstreamConfig> = {}): UpstreamConfig {
  return {
    name: slug,
    slug,
    digest: `${slug} ${JSON.stringify(given)}`,
    identity: slug,
    entry: { url: `http://127.0.0.1:9/${slug}` },
    disabled: false,
    prefix: true,
    tools: all,
    prompts: all,
    resources: all,
    override: {},
    isolation: 'shared',
    start: 'lazy',
    idleMs: 600_000,
    restart: { minMs: 10, maxMs: 100, tries: 3, withinMs: 60_000 },
    maxProcesses: 8,
    timeoutMs: 10_000,
    maxTimeoutMs: 60_000,
    revision: 'auto',
    auth: { kind: 'none' },
    forwardHeaders: [],
    roots: undefined,
    asks: ['elicitation', 'sampling', 'roots'],
    pin: 'off',
    newTools: 'allow',
    refreshMs: 300_000,
    maxResultBytes: 8 * 1024 * 1024,
    required: false,
    validate: false,
    identify: false,
    inheritEnv: [],
    sandbox: undefined,
    ...given,
  };
}

export function view(name: string, given: Partial<ViewConfig> = {}): ViewConfig {
  return {
    name,
    servers: '*',
    tools: all,
    prompts: all,
    resources: all,
    mode: 'all',
    shortList: [],
    maxListBytes: 65_536,
    allow: undefined,
    tasks: 'by-server',
    instructions: undefined,
    ...given,
  };
}

export function gatewayConfig(servers: readonly UpstreamConfig[], given: Partial<GatewayConfig> = {}): GatewayConfig {
  return {
    servers,
    views: [],
    defaultView: view(''),
    bareNames: 'apps',
    drainMs: 1_000,
    firstListMs: 20_000,
    catalog: false,
    ...given,
  };
}

/** A gateway in front of servers in memory, by slug. */
export function gatewayOf(
  closers: Closers,
  servers: Readonly<Record<string, Server>>,
  given: Partial<UpstreamConfig> = {},
  options: GatewayOptions & { readonly config?: Partial<GatewayConfig> } = {},
): Gateway {
  const { config, ...rest } = options;
  const configs = Object.keys(servers).map((slug) => upstream(slug, given));
  const gateway = createGateway(gatewayConfig(configs, config), {
    logger: false,
    target: ({ slug }) => inMemory(servers[slug] as Server),
    ...rest,
  });
  closers.push(() => gateway.close());
  return gateway;
}

/** A client of a server in memory. */
export async function clientOf(closers: Closers, server: Server, options: ConnectOptions = {}): Promise<Client> {
  const client = await connect(inMemory(server), options);
  closers.push(() => client.close());
  return client;
}
