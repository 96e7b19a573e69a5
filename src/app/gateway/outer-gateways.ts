// The gateways that this process was started by, and those that are connected to it. An entry that leads back to the gateway it
// belongs to, as in the file of a client that contains both, would otherwise start processes, or make lists longer, endlessly.

import { realpathSync } from 'node:fs';
import { UsageError } from '../usage-error.ts';

/** Gateways put this into the environment of the servers that they start. */
export const outerGatewaysVariable = 'MOORING_OUTER_GATEWAYS';

/** The gateways that this process was started by, by their ids. */
export function startedBy(env: NodeJS.ProcessEnv = process.env): readonly string[] {
  return env[outerGatewaysVariable]?.split(' ') ?? [];
}

/** Throws if a gateway with one of these files, and this view, has started this process. Returns their ids. */
export function requireNotWithin(
  files: readonly string[],
  view = '',
  env: NodeJS.ProcessEnv = process.env,
): readonly string[] {
  const outer = startedBy(env);
  // Loaded by name: every server is in one file with this module, and an import would load it at each start.
  const { hash } = process.getBuiltinModule('node:crypto');
  // Hashes: servers need not know the paths of the user's files.
  const ids = files.map((file) => hash('sha256', `${realpathSync(file)}?${view}`, 'base64url'));
  const again = ids.findIndex((gateway) => outer.includes(gateway));
  if (again === -1) return ids;
  throw new UsageError(`${files[again]} has an entry that starts this gateway again. Remove it, or disable it there`);
}

/** A client that has gateways above it. */
export interface OuterClient {
  /** It is served. */
  accept(): void;
  end(): void;
}

/** What a gateway knows about those above it. */
export class OuterGateways {
  /** Its configuration. */
  readonly files: readonly string[];
  /** Of this gateway: of its files, as which it is known before it runs, and of its process. */
  readonly ids: readonly string[];
  readonly #startedBy: readonly string[];
  readonly #accepted = new Set<readonly string[]>();
  /** Of clients about which it is not decided yet whether they are served. */
  readonly #asking = new Set<readonly string[]>();

  /** Throws if the same gateway, with the same file and view, has started this one. */
  constructor(files: readonly string[], view = '', env: NodeJS.ProcessEnv = process.env) {
    this.files = files;
    this.ids = [...requireNotWithin(files, view, env), crypto.randomUUID()];
    this.#startedBy = startedBy(env);
  }

  /** The ids of all gateways above it. */
  get above(): readonly string[] {
    return [...new Set([...this.accepted, ...[...this.#asking].flat()])];
  }

  /** Without those of clients that may be rejected. */
  get accepted(): readonly string[] {
    return [...new Set([...this.#startedBy, ...[...this.#accepted].flat()])];
  }

  /** What its servers get. */
  get env(): Readonly<Record<string, string>> {
    return { [outerGatewaysVariable]: [...this.accepted, ...this.ids].join(' ') };
  }

  /** A client with these gateways above it has connected. */
  connected(ids: readonly string[]): OuterClient {
    // Of its own: clients of one gateway have the same ids.
    const client = [...ids];
    this.#asking.add(client);
    return {
      accept: () => {
        if (this.#asking.delete(client)) this.#accepted.add(client);
      },
      end: () => {
        this.#asking.delete(client);
        this.#accepted.delete(client);
      },
    };
  }
}
