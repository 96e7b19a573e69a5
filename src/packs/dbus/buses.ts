// The buses of this server as one: which allowed services are running, and which of them changed.

import type { Logger } from '../../common/logger.ts';
import { socketPaths } from './address.ts';
import { BusConnection, BusError, theBus } from './connection.ts';
import type { ReadMessage } from './message.ts';
import { describeService, ownerOf, type ServiceInfo } from './service-info.ts';

export interface DbusListener {
  /** Allowed services started or stopped. */
  servicesChanged(): void;
  /** Properties of a followed service changed. */
  serviceChanged(name: string): void;
}

export interface BusesOptions {
  /** Addresses in the order in which they are tried. */
  readonly addresses: readonly string[];
  /** Names that may be shown: `org.freedesktop.NetworkManager`, `org.example.*`. */
  readonly services: readonly string[];
  readonly logger: Logger;
  readonly timeoutMs?: number;
}

/** Services whose changes are followed; each needs a match rule on the bus. */
const maxWatchedNames = 64;

export class Buses {
  readonly #options: BusesOptions;
  readonly #listener: DbusListener;
  readonly #buses: (FollowedBus | undefined)[];
  /** Connections that are being opened: requests at the same time share them. */
  readonly #opening = new Map<number, Promise<FollowedBus | undefined>>();
  /** Services whose changes are followed on every bus, also on one that was lost and is back. */
  readonly #followed = new Set<string>();

  constructor(options: BusesOptions, listener: DbusListener) {
    this.#options = options;
    this.#listener = listener;
    this.#buses = options.addresses.map(() => undefined);
  }

  /** Connects to every bus that responds; true if there is one. */
  async open(): Promise<boolean> {
    return (await this.#connected()).length > 0;
  }

  isAllowed(name: string): boolean {
    if (!/^[A-Za-z_-][\w-]*(?:\.[A-Za-z_-][\w-]*)+$/.test(name) || name.length > 255) return false;
    return this.#options.services.some((pattern) =>
      pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
    );
  }

  /** Names of allowed services that are running. A bus that fails has none: it must not hide the other resources. */
  async services(): Promise<string[]> {
    const lists = await Promise.all((await this.#connected()).map((bus) => this.#namesOf(bus)));
    return [...new Set(lists.flat().filter((name) => this.isAllowed(name)))].sort();
  }

  async #namesOf(bus: FollowedBus): Promise<string[]> {
    try {
      return await bus.names();
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      this.#options.logger.debug('a bus does not list its services', { reason: error.message });
      return [];
    }
  }

  async describe(name: string, signal: AbortSignal): Promise<ServiceInfo | undefined> {
    if (!this.isAllowed(name)) return undefined;
    for (const bus of await this.#connected()) {
      const info = await describeService(bus.connection, name, signal);
      if (info !== undefined) return info;
    }
    return undefined;
  }

  async follow(name: string): Promise<void> {
    if (!this.isAllowed(name)) return;
    if (this.#followed.size >= maxWatchedNames && !this.#followed.has(name)) return;
    this.#followed.add(name);
    for (const bus of await this.#connected()) await bus.follow(name);
  }

  close(): void {
    for (const bus of this.#buses) bus?.connection.close();
  }

  /** Connected buses; a lost connection is retried with every request. */
  async #connected(): Promise<FollowedBus[]> {
    const { addresses } = this.#options;
    const found = await Promise.all(addresses.map((address, at) => this.#buses[at] ?? this.#open(address, at)));
    return found.filter((bus) => bus !== undefined);
  }

  #open(address: string, at: number): Promise<FollowedBus | undefined> {
    const opening = this.#opening.get(at) ?? this.#connect(address, at).finally(() => this.#opening.delete(at));
    this.#opening.set(at, opening);
    return opening;
  }

  async #connect(address: string, at: number): Promise<FollowedBus | undefined> {
    const { logger, timeoutMs } = this.#options;
    for (const path of socketPaths(address)) {
      try {
        const connection = await BusConnection.open(path, timeoutMs === undefined ? {} : { timeoutMs });
        const bus = new FollowedBus(connection, this.#listener, (name) => this.isAllowed(name));
        await bus.watchNames();
        for (const name of this.#followed) await bus.follow(name);
        this.#buses[at] = bus;
        void connection.closed.then(() => (this.#buses[at] = undefined));
        // They may have changed while there was no connection.
        for (const name of this.#followed) this.#listener.serviceChanged(name);
        return bus;
      } catch (error) {
        if (!(error instanceof BusError)) throw error;
        logger.debug('a bus cannot be reached', { address, reason: error.message });
      }
    }
    return undefined;
  }
}

class FollowedBus {
  readonly connection: BusConnection;
  readonly #listener: DbusListener;
  readonly #isAllowed: (name: string) => boolean;
  /** Followed services, with the unique name that owns each now. */
  readonly #followed = new Map<string, string | undefined>();

  constructor(connection: BusConnection, listener: DbusListener, isAllowed: (name: string) => boolean) {
    this.connection = connection;
    this.#listener = listener;
    this.#isAllowed = isAllowed;
    connection.onSignal((signal) => this.#onSignal(signal));
  }

  async names(): Promise<string[]> {
    const [names] = await this.connection.call({ ...theBus, member: 'ListNames' });
    return Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string') : [];
  }

  async watchNames(): Promise<void> {
    await this.#match("type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'");
  }

  async follow(name: string): Promise<void> {
    if (this.#followed.has(name)) return;
    this.#followed.set(name, undefined);
    this.#followed.set(name, await ownerOf(this.connection, name));
    const signal = "interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'";
    await this.#match(`type='signal',sender='${name}',${signal}`);
  }

  async #match(rule: string): Promise<void> {
    await this.connection.call({ ...theBus, member: 'AddMatch', signature: 's', body: [rule] });
  }

  #onSignal({ member, sender, body }: ReadMessage): void {
    if (member === 'NameOwnerChanged' && sender === theBus.destination) {
      const [name, , owner] = body as [string, string, string];
      if (!this.#isAllowed(name)) return;
      if (this.#followed.has(name)) {
        this.#followed.set(name, owner === '' ? undefined : owner);
        this.#listener.serviceChanged(name);
      }
      this.#listener.servicesChanged();
    } else if (member === 'PropertiesChanged') {
      for (const [name, owner] of this.#followed) if (owner === sender) this.#listener.serviceChanged(name);
    }
  }
}
