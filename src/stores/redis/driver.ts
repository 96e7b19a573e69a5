// The one place that loads @redis/client, and only where Redis is configured: importing it takes longer than a whole server
// takes to start. The rest of this folder sees two functions, so that another library could take its place.

import type { RedisAddress, RedisHost } from './address.ts';
import { explainConnectError, notRedis, notTls, RedisConnectError } from './connect-error.ts';
import type { RedisDriver, Reply, UnconnectedDriver } from './driver-contract.ts';
import { findPlainPort } from './plain-port.ts';
import { createSentinelDriver } from './sentinels.ts';

export type { RedisDriver, Reply } from './driver-contract.ts';

export interface DriverOptions {
  readonly address: RedisAddress;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** For a Sentinel that has a password of its own. */
  readonly sentinelPassword?: string | undefined;
  /** PEM: authorities to trust instead of those of Node.js, and the certificate of this client. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
  /** A connection was lost or could not be made; it is tried again. */
  readonly onError: (error: Error) => void;
}

/** After this long without a response, the connection is replaced. Longer than any command may take while this process is not busy. */
const silenceMs = 5_000;
/** How long the first connection may take, and for each host. Sentinels are asked several times, and may be silent for long. */
const connectMs = 10_000;
/** How often an idle connection is pinged, so that it does not exceed that time. */
const pingMs = 1_000;
/** How long a Sentinel may take: the next one responds, and commands wait meanwhile. */
const sentinelMs = 2_000;
const firstDelayMs = 50;
const maxDelayMs = 2_000;

/** Connects, or throws a `RedisConnectError` that says why that is not possible. */
export async function connectRedis(options: DriverOptions): Promise<RedisDriver> {
  const library = await loadLibrary();
  const { address, onError } = options;
  let isConnected = false;
  const reported: Error[] = [];
  const driver = createDriver(library, options, {
    isConnected: () => isConnected,
    onError: (reason: unknown) => {
      // The library reports some errors as texts.
      const error = reason instanceof Error ? reason : new Error(String(reason));
      if (isConnected) onError(error);
      else reported.push(error);
    },
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const limitMs = connectMs + silenceMs * address.hosts.length;
    timer = setTimeout(() => reject(new Error(`timeout of ${limitMs} ms`)), limitMs);
  });
  const plainPort = address.tls ? findPlainPort(address.hosts) : undefined;
  const isPlain = plainPort?.found.then((): never => {
    throw notTls(address);
  });
  try {
    await Promise.race([driver.connect(), late, ...(isPlain === undefined ? [] : [isPlain])]);
    if ((await Promise.race([answerToPing(driver), late])) !== 'PONG') throw notRedis(address);
  } catch (error) {
    closeQuietly(driver);
    throw error instanceof RedisConnectError ? error : explainConnectError(address, [...reported, error]);
  } finally {
    clearTimeout(timer);
    plainPort?.stop();
  }
  isConnected = true;
  return driver;
}

/** Another program may accept what is sent when a connection is opened. A user without the permission gets an error of Redis. */
async function answerToPing(driver: RedisDriver): Promise<Reply> {
  try {
    return await driver.send(['PING'], 'mooring');
  } catch (error) {
    if (error instanceof Error && /^NOPERM /.test(error.message)) return 'PONG';
    throw error;
  }
}

function closeQuietly(driver: RedisDriver): void {
  try {
    driver.close();
  } catch {
    // The library throws if it was never connected, or has closed itself.
  }
}

function createDriver(
  library: typeof import('@redis/client'),
  options: DriverOptions,
  { isConnected, onError }: { isConnected: () => boolean; onError: (error: Error) => void },
): UnconnectedDriver {
  const { address, sentinelPassword, tls } = options;
  const username = options.username ?? address.username;
  const password = options.password ?? address.password;
  const socket = {
    connectTimeout: silenceMs,
    socketTimeout: silenceMs,
    // The first attempt reports why it failed. Later attempts continue forever, with growing, random delays.
    reconnectStrategy: (retries: number, cause: Error): number | Error =>
      isConnected() ? Math.min(firstDelayMs * 2 ** retries, maxDelayMs) * (0.5 + Math.random() / 2) : cause,
    ...(address.tls ? { tls: true as const, ...tls } : {}),
  };
  const common = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined || password === '' ? {} : { password }),
    ...(address.database === undefined ? {} : { database: address.database }),
    name: 'mooring',
    RESP: 2 as const,
    disableOfflineQueue: true,
    pingInterval: pingMs,
    maintNotifications: 'disabled' as const,
  };
  const [first] = address.hosts;
  if (address.kind === 'sentinel') {
    const sentinelOptions = {
      ...(sentinelPassword === undefined ? {} : { password: sentinelPassword }),
      RESP: 2 as const,
      // Without them, a Sentinel that has nothing to report is silent for long.
      pingInterval: pingMs,
      socket: { ...socket, connectTimeout: sentinelMs, socketTimeout: sentinelMs },
    };
    const create = (hosts: readonly RedisHost[], onError: (error: Error) => void): UnconnectedDriver => {
      const client = library.createSentinel({
        name: address.master as string,
        sentinelRootNodes: [...hosts],
        nodeClientOptions: { ...common, socket } as object,
        sentinelClientOptions: sentinelOptions as object,
        RESP: 2,
        // Each attempt takes a second.
        maxCommandRediscovers: 5,
        scanInterval: 1_000,
      });
      client.on('error', onError);
      return {
        connect: () => client.connect(),
        send: (args) => client.sendCommand(false, [...args]) as unknown as Promise<Reply>,
        // It rejects if it was never connected.
        close: () => void client.destroy().catch(() => {}),
      };
    };
    const responds = async (host: RedisHost): Promise<boolean> => {
      const client = library.createClient({
        ...sentinelOptions,
        socket: { ...sentinelOptions.socket, ...host, reconnectStrategy: false },
      });
      // They are reported when the Sentinel is asked for the server.
      client.on('error', () => {});
      const responded = await client
        .connect()
        .then(() => client.ping())
        .then(
          () => true,
          () => false,
        );
      if (client.isOpen) client.destroy();
      return responded;
    };
    return createSentinelDriver({ hosts: address.hosts, create, responds, onError });
  }
  if (address.kind === 'cluster') {
    const { database: _database, ...defaults } = common;
    const client = library.createCluster({
      rootNodes: address.hosts.map(({ host, port }) => ({ socket: { ...socket, host, port } })),
      defaults: { ...defaults, socket } as object,
      RESP: 2,
    });
    client.on('error', onError);
    return {
      connect: () => client.connect(),
      send: (args, key) => client.sendCommand(key, false, [...args]) as unknown as Promise<Reply>,
      close: () => void client.destroy(),
    };
  }
  const client = library.createClient({ ...common, socket: { ...socket, ...first } });
  client.on('error', onError);
  return {
    connect: () => client.connect(),
    send: (args) => client.sendCommand([...args]) as unknown as Promise<Reply>,
    close: () => client.destroy(),
  };
}

async function loadLibrary(): Promise<typeof import('@redis/client')> {
  try {
    return await import('@redis/client');
  } catch (cause) {
    throw new Error('The package @redis/client is not installed. Install it with: npm install @redis/client', {
      cause,
    });
  }
}
