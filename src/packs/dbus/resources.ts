// `dbus://service/…` resources: one per allowed service that is running, if a bus can be reached.

import { silentLogger } from '../../common/logger.ts';
import { subscribedUris } from '../../engine/changes/subscribed-uris.ts';
import type { Server } from '../../engine/server.ts';
import { callerKey } from '../../protocol/callers/caller-budget.ts';
import { CallerTurns } from '../../protocol/callers/caller-turns.ts';
import { WireError } from '../../protocol/errors.ts';
import type { Principal } from '../../protocol/exchange.ts';
import { busAddress } from './address.ts';
import { Buses } from './buses.ts';
import { BusError } from './connection.ts';
import type { ServiceInfo } from './service-info.ts';

export interface DbusOptions {
  /** `system`, `session`, or an address such as `unix:path=/run/bus`. Default: the system bus, then the session bus. */
  readonly buses?: readonly string[];
  /** Services that may be shown; a final `*` matches any ending. Default: `defaultServices`. */
  readonly services?: readonly string[];
  readonly timeoutMs?: number;
}

/** Services that describe the machine and hold no secrets. The bus itself comes first: every bus has it. */
const defaultServices: readonly string[] = [
  'org.freedesktop.DBus',
  'org.freedesktop.Avahi',
  'org.freedesktop.NetworkManager',
  'org.freedesktop.UPower',
  'org.freedesktop.hostname1',
  'org.freedesktop.locale1',
  'org.freedesktop.login1',
  'org.freedesktop.resolve1',
  'org.freedesktop.systemd1',
  'org.freedesktop.timedate1',
  'org.bluez',
];

/**
 * Reads at a time, of all callers and of each. A service may not respond, and a connection has a limited number of pending
 * calls: one caller must not use all of them.
 */
const reads = new CallerTurns(32, 8);
/** Lists and completions need one response of the bus itself, so they do not wait for reads. */
const lists = new CallerTurns(64, 16);

const prefix = 'dbus://service/';
const mimeType = 'application/json';

/** Installs the resources. Resolves to a function that closes them, or undefined when there is no bus. */
export async function installServices(server: Server, options: DbusOptions): Promise<(() => void) | undefined> {
  const logger = server.logger ?? silentLogger;
  const { buses: wanted = ['system', 'session'], services = defaultServices, timeoutMs } = options;
  const addresses = wanted.map((bus) => (bus === 'system' || bus === 'session' ? busAddress(bus) : bus));
  const buses = new Buses(
    { addresses, services, logger, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    {
      servicesChanged: () => server.resourcesChanged('each-process'),
      serviceChanged: (name) => server.resourceUpdated(prefix + name, undefined, 'each-process'),
    },
  );
  if (!(await buses.open())) {
    logger.info('no D-Bus resources: no bus can be reached', { addresses });
    return undefined;
  }
  const listed = (principal: Principal | undefined): Promise<string[]> =>
    lists.run(callerKey({ principal }), new AbortController().signal, () => buses.services());
  server.resourceTemplate('dbus://service/{name}', {
    name: 'D-Bus services',
    description: 'Identity, interfaces and properties of a D-Bus service',
    mimeType,
    list: async (principal) =>
      (await listed(principal)).map((name) => ({
        uri: prefix + name,
        name: `${name.slice(name.lastIndexOf('.') + 1)} Service Info`,
        mimeType,
      })),
    read: async ({ name }, ctx) => {
      const startedAt = performance.now();
      const describe = (): Promise<ServiceInfo | undefined> => reached(buses.describe(name, ctx.signal));
      const info = await reads.run(callerKey({ principal: ctx.principal }), ctx.signal, describe);
      if (info === undefined) return undefined;
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      ctx.log('info', `Indexed ${Object.keys(info.objects).length} objects of ${name} in ${seconds}s`, 'dbus-indexer');
      return JSON.stringify(info, undefined, 2);
    },
    complete: {
      name: async (value, _known, ctx) => (await listed(ctx.principal)).filter((name) => name.startsWith(value)),
    },
  });
  server.around((request, next) => {
    const uris = subscribedUris(request.method, request.params).filter((uri) => uri.startsWith(prefix));
    if (uris.length === 0) return next();
    return Promise.all(uris.map((uri) => reached(buses.follow(uri.slice(prefix.length))))).then(next);
  });
  return () => buses.close();
}

/** A failure of the bus is reported with its own message: "Internal error" would not help. */
async function reached<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof BusError ? new WireError('internal', `D-Bus: ${error.message}`, { cause: error }) : error;
  }
}
