// connect(): connects to a server, negotiates a revision, and returns a client.

import { silentLogger } from '../common/logger.ts';
import { version } from '../common/version.ts';
import { unlessAborted, waitAtMost } from '../common/wait.ts';
import { ClientRevisions } from '../protocol/revisions/client-revisions.ts';
import { handshakeRevisions } from '../protocol/revisions/index.ts';
import { CacheView, ResponseCache } from './cache.ts';
import { ClientDeadlines } from './calls/deadline.ts';
import { Client, type ClientParts } from './client.ts';
import { ClientConnection } from './connection.ts';
import { type EraCache, sharedEraCache } from './era-cache.ts';
import { ClientError, clientErrors } from './errors.ts';
import { assertHandlers, InputResponder } from './input-requests.ts';
import { assertConnectOptions } from './known-options.ts';
import { hurriedGraceMs, Negotiation } from './negotiation.ts';
import { type ClientLimits, type ConnectOptions, resolveClientLimits } from './options.ts';
import { type Destination, type Target, toDestination } from './target.ts';

/**
 * Connects to a server of any revision.
 *
 * @example
 * const client = await connect('npx -y mooring');
 * const { content } = await client.callTool('time');
 * await client.close();
 */
export async function connect(target: Target, options: ConnectOptions = {}): Promise<Client> {
  assertConnectOptions(options);
  const limits = resolveClientLimits(options);
  const destination = toDestination(target, options, limits);
  assertHandlers(options.handlers ?? {});
  const inputs = new InputResponder(options.handlers ?? {}, options.capabilities);
  const logger = options.logger ?? silentLogger;
  const revisions = chooseRevisions(options, inputs);
  const eraCache = options.eraCache === false ? undefined : (options.eraCache ?? sharedEraCache);
  let client: Client | undefined;
  const deadlines = new ClientDeadlines();
  const events = Client.eventsFor(
    options,
    () => holdAll(deadlines, options),
    () => client,
  );

  const openAt = (target: Destination, tried: readonly string[], signal: AbortSignal): Negotiation => {
    const dial = async (kind: 'usual' | 'sse'): Promise<ClientConnection> => {
      const transport = await target.dial(kind);
      const connection = new ClientConnection(transport, inputs, limits, events, logger);
      try {
        await unlessAborted(transport.open(connection), signal);
      } catch (error) {
        await transport.close(signal.aborted ? hurriedGraceMs : undefined);
        throw error;
      }
      return connection;
    };
    const { hasSse, eraKey } = target;
    const { address } = destination;
    const path = target === destination || eraKey === undefined ? '' : new URL(eraKey).pathname;
    return new Negotiation({ address, hasSse, eraKey, revisions, limits, eraCache, dial, tried, path, signal });
  };
  const open = async (signal: AbortSignal): Promise<ClientConnection> => {
    const connection = await openHereOrElsewhere(destination, eraCache, (target, tried = []) =>
      openAt(target, tried, signal),
    );
    const ended = options.telemetry?.connected(connection.transport, connection.codec?.date ?? '');
    if (ended !== undefined) void connection.ended.then(() => ended(connection.over));
    return connection;
  };

  const began = performance.now();
  const connection = await inTime(options.signal, limits, destination, deadlines, open);
  client = new Client(connection, {
    address: destination.address,
    options,
    limits,
    logger,
    inputs,
    cache: cacheFor(options, destination),
    reopen: destination.redial ? (signal) => inTime(signal, limits, destination, deadlines, open) : undefined,
    deadlines,
  } satisfies ClientParts);
  await followLists(client, options, limits.connectTimeoutMs - (performance.now() - began));
  return client;
}

/**
 * Users often give the origin of a server without a path. If no server responds there, the usual path of that origin is
 * tried, and nothing else; the next connection goes there at once.
 */
async function openHereOrElsewhere(
  destination: Destination,
  eraCache: EraCache | undefined,
  openAt: (target: Destination, tried?: readonly string[]) => Negotiation,
): Promise<ClientConnection> {
  const { elsewhere, eraKey } = destination;
  if (elsewhere === undefined || eraKey === undefined) return openAt(destination).run();
  if (eraCache?.get(eraKey) === 'other-path') {
    const there = openAt(elsewhere);
    try {
      return await there.run();
    } catch (error) {
      if (!there.absent) throw error;
      eraCache.forget(eraKey);
    }
  }
  const here = openAt(destination);
  try {
    return await here.run();
  } catch (error) {
    if (!here.absent) throw error;
  }
  const connection = await openAt(elsewhere, here.tried).run();
  eraCache?.remember(eraKey, 'other-path');
  return connection;
}

/** Stops every clock: ours, and those the application has for itself. */
function holdAll(deadlines: ClientDeadlines, { onHold }: ConnectOptions): () => void {
  const releases = [deadlines.hold(), onHold?.()];
  return () => {
    for (const release of releases) release?.();
  };
}

/** The time limit of connecting, and the caller's own wish to stop. */
async function inTime(
  given: AbortSignal | undefined,
  { connectTimeoutMs }: ClientLimits,
  { address }: Destination,
  deadlines: ClientDeadlines,
  open: (signal: AbortSignal) => Promise<ClientConnection>,
): Promise<ClientConnection> {
  const controller = new AbortController();
  const expire = (): void => controller.abort(clientErrors.connectTimeout(address, []));
  const end = deadlines.start(connectTimeoutMs, expire);
  const stop = (): void => {
    const reason: unknown = given?.reason;
    controller.abort(reason instanceof ClientError ? reason : clientErrors.cancelled('connect', reason));
  };
  if (given?.aborted) stop();
  given?.addEventListener('abort', stop, { once: true });
  try {
    return await open(controller.signal);
  } finally {
    end();
    given?.removeEventListener('abort', stop);
  }
}

function chooseRevisions(
  { client, revision = 'auto', revisions }: ConnectOptions,
  inputs: InputResponder,
): ClientRevisions {
  const chosen = revision === 'auto' ? undefined : revision === 'handshake' ? handshakeRevisions : [revision];
  const enabled = revisions === undefined ? chosen : (chosen ?? revisions).filter((each) => revisions.includes(each));
  if (enabled?.length === 0)
    throw clientErrors.configuration('No revision is left: "revision" and "revisions" disagree');
  try {
    return new ClientRevisions(client ?? { name: 'mooring', version }, inputs.capabilities, enabled);
  } catch (cause) {
    throw clientErrors.configuration((cause as Error).message, cause);
  }
}

function cacheFor({ cache }: ConnectOptions, { address, eraKey }: Destination): CacheView | undefined {
  return cache === false ? undefined : new CacheView(cache ?? new ResponseCache(), eraKey ?? address);
}

/**
 * Announces changed lists on every revision, also where a subscription is necessary. Waits for that
 * no longer than for the rest of connecting.
 */
async function followLists(client: Client, { onListChanged, logger }: ConnectOptions, leftMs: number): Promise<void> {
  if (onListChanged === undefined || !client.mustListen) return;
  const wanted = (['tools', 'prompts', 'resources'] as const).filter((kind) => client.announces(kind));
  if (wanted.length === 0) return;
  const following = client.watch(Object.fromEntries(wanted.map((kind) => [kind, true]))).then(
    () => {},
    (error: unknown) => logger?.warn('changes of lists cannot be followed', { error }),
  );
  await waitAtMost(Math.max(leftMs, 0), following);
}
