// The gateway as the console shows it: the state of its servers, their tools before and after its rules, and their pins.

import type { ConsoleGateway, UpstreamRow } from '../../console/index.ts';
import type { Server } from '../../engine/server.ts';
import type { GatewayConfig } from '../../gateway/config/gateway-config.ts';
import type { Gateway, ServedAs } from '../../gateway/index.ts';
import { diffDefinitions, type PinDifference, type Pins } from '../../gateway/pins/index.ts';

type UpstreamMessageListener = Parameters<ConsoleGateway['observe']>[0];

/** Passes on the messages of all connections to servers. */
export class UpstreamMessages {
  readonly #listeners = new Set<UpstreamMessageListener>();

  /** For one connection to a server. */
  of(slug: string): (direction: 'in' | 'out', text: string) => void {
    const connection = {};
    return (direction, text) => {
      for (const listener of this.#listeners) listener(slug, connection, direction, text);
    };
  }

  observe(listener: UpstreamMessageListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The servers of a gateway: one for each view and each single server, created when it is first used. */
export class GatewayServers {
  readonly #servers: Server[] = [];
  readonly #listeners: ((server: Server) => void)[] = [];

  add(server: Server): void {
    this.#servers.push(server);
    for (const listener of this.#listeners) listener(server);
  }

  each(listener: (server: Server) => void): void {
    this.#listeners.push(listener);
    for (const server of this.#servers) listener(server);
  }
}

export interface ConsoleGatewayOptions {
  readonly gateway: Gateway;
  readonly config: () => Pick<GatewayConfig, 'servers'>;
  readonly pins: Pins;
  /** What is served at the endpoint. */
  readonly as: ServedAs;
  readonly messages: UpstreamMessages;
  readonly servers: GatewayServers;
}

export function consoleGateway({
  gateway,
  config,
  pins,
  as,
  messages,
  servers,
}: ConsoleGatewayOptions): ConsoleGateway {
  // A server may have had another command or URL before.
  const differencesNow = (): readonly PinDifference[] => {
    const identities = new Set(config().servers.map(({ identity }) => identity));
    return pins.list().differences.filter(({ identity }) => identities.has(identity));
  };
  return {
    upstreams() {
      const differences = differencesNow();
      const shown = gateway.exposed(as);
      return gateway.status().map((status): UpstreamRow => {
        const { slug } = status;
        const own = gateway.exposed({ upstream: slug });
        const tools = [...(own?.tools ?? []), ...(own?.withheldTools ?? [])].map(({ original }) => {
          const exposed = shown?.tools.find((each) => each.slug === slug && each.original === original)?.exposed;
          const isWithheld = own?.withheldTools.some((each) => each.original === original) === true;
          return {
            original,
            ...(exposed === undefined ? {} : { exposed }),
            ...(isWithheld ? { withheld: true as const } : {}),
          };
        });
        return { ...status, tools, pins: differences.filter((each) => each.slug === slug).map(pinOf) };
      });
    },
    eachServer: (listener) => servers.each(listener),
    restart: (slug) => gateway.restart(slug),
    accept(slug, tool) {
      const identities = differencesNow().filter((each) => each.slug === slug);
      for (const identity of new Set(identities.map((each) => each.identity))) pins.accept(identity, slug, tool);
      gateway.recheckPins(slug);
    },
    observe: (listener) => messages.observe(listener),
  };
}

function pinOf({ tool, kind, accepted, seen }: PinDifference): UpstreamRow['pins'][number] {
  return {
    tool,
    kind,
    differences: diffDefinitions(accepted, seen).map(({ path, before, after }) => ({
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    })),
  };
}
