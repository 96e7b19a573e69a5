// The console's own connections to the server: one per revision, opened when it is first needed and reused.

import type { Client, ConnectOptions, InputHandlers } from '../../client/index.ts';
import type { Logger } from '../../common/logger.ts';
import type { JsonObject } from '../api.ts';

/** Opens a connection to the server of this console. */
export type Connect = (options: ConnectOptions) => Promise<Client>;

/** What the connections report. */
export interface ClientEvents {
  readonly handlers: InputHandlers;
  onLog(message: { readonly level: string; readonly data: unknown }): void;
  onMessage?(direction: 'in' | 'out', text: string): void;
}

/** A connection that calls share, and the warnings of its client. */
export interface SharedClient {
  readonly client: Client;
  /** Problems that the client noticed, such as items that were left out of a list. */
  readonly warnings: string[];
}

/** Stops a server that causes warnings all the time from filling the memory. */
const maxWarnings = 100;

export class Clients {
  readonly #connect: Connect;
  readonly #events: ClientEvents;
  readonly #shared = new Map<string, Promise<SharedClient>>();
  #closed = false;

  constructor(connect: Connect, events: ClientEvents) {
    this.#connect = connect;
    this.#events = events;
  }

  /** The connection for a revision; without one, that which was negotiated. */
  get(revision = 'auto'): Promise<SharedClient> {
    const known = this.#shared.get(revision);
    if (known !== undefined) return known;
    const opening = this.#open(revision);
    this.#shared.set(revision, opening);
    // A connection that cannot be opened is tried again with the next request.
    opening.catch(() => this.#shared.delete(revision));
    return opening;
  }

  async #open(revision: string): Promise<SharedClient> {
    if (this.#closed) throw new Error('The console is closed');
    const warnings: string[] = [];
    const { handlers, onLog, onMessage } = this.#events;
    const client = await this.#connect({
      revision,
      handlers,
      cache: false,
      validateOutput: false,
      onLog,
      ...(onMessage === undefined ? {} : { onMessage }),
      logger: warningsInto(warnings),
    });
    return { client, warnings };
  }

  /** A separate connection for one purpose. It has no handlers for input requests, and is closed afterwards. */
  async once<T>(
    revision: string,
    options: Pick<ConnectOptions, 'onMessage'>,
    use: (client: Client) => Promise<T>,
  ): Promise<T> {
    const client = await this.#connect({ revision, cache: false, validateOutput: false, reconnect: false, ...options });
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const open = [...this.#shared.values()];
    this.#shared.clear();
    await Promise.all(open.map((each) => each.then(({ client }) => client.close({ graceMs: 500 })).catch(() => {})));
  }
}

/** Collects warnings as sentences. */
function warningsInto(warnings: string[]): Logger {
  const add = (message: string, fields?: JsonObject): void => {
    const details = fields === undefined ? '' : ` ${JSON.stringify(fields)}`;
    if (warnings.length < maxWarnings) warnings.push(`${message}${details}`.slice(0, 500));
  };
  const none = (): void => {};
  return { debug: none, info: none, notice: none, warn: add, error: add, enabled: () => false } as unknown as Logger;
}
