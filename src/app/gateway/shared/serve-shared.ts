// Serves the clients that connect to the socket of a shared gateway, each as if the gateway were on its stdin and stdout.

import { fstatSync, ftruncateSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { Logger } from '../../../common/logger.ts';
import { pause } from '../../../common/wait.ts';
import type { Server } from '../../../engine/server.ts';
import type { Principal } from '../../../protocol/callers/principal.ts';
import { type StreamServer, serveStream } from '../../../transports/stream.ts';
import type { GatewayHost } from '../host-contract.ts';
import { unknownView } from '../known-tools.ts';
import { type Circle, findCircle, gatewaysAbove } from './circles.ts';
import { type ConnectRequest, readFirstLine, writeLine } from './first-line.ts';
import { listenAlone } from './listen.ts';

export interface SharedOptions {
  /** The socket to listen on. */
  readonly path: string;
  readonly gateway: GatewayHost;
  readonly principal: Principal | undefined;
  readonly logger: Logger;
  /** How long it listens while no client is connected. */
  readonly idleMs: number;
  /** No client has connected for that long; it does not listen any more. */
  readonly onIdle: () => void;
}

/** A gateway that listens for clients. */
export interface SharedServer {
  /** How many clients are connected. */
  readonly clients: number;
  /** Stops listening, and lets open calls finish. */
  close(): Promise<void>;
}

/** How long a client may take for its first line. */
const firstLineMs = 5_000;
/** The log is emptied beyond this size: a gateway may run for months. */
const maxLogBytes = 16 * 1024 * 1024;
const logCheckMs = 60_000;
/** How long other gateways may take to decide about their clients, and how often they are asked. */
const decisionMs = 2_000;
const decisionPollMs = 50;
const stderr = 2;

export async function serveShared(options: SharedOptions): Promise<SharedServer> {
  const { path, logger } = options;
  const sockets = new Set<Socket>();
  const connections = new Set<StreamServer>();
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;

  const listener = createServer({ allowHalfOpen: true }, (socket) => {
    clearTimeout(idle);
    sockets.add(socket);
    // A client that goes away ends its connection; there is nothing to report.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      waitForClients();
    });
    void accept(socket);
  });

  const waitForClients = (): void => {
    if (isClosed || sockets.size > 0) return;
    clearTimeout(idle);
    idle = setTimeout(() => {
      // A client that connects in this very moment is disconnected, and starts another gateway.
      stopListening();
      options.onIdle();
    }, options.idleMs);
  };

  const accept = async (socket: Socket): Promise<void> => {
    try {
      const request = (await readFirstLine(socket, firstLineMs)) as ConnectRequest;
      const server = (await circleOf(options.gateway, socket, request)) ?? serverFor(options.gateway, request);
      if (typeof server === 'string') {
        writeLine(socket, { pid: process.pid, rejected: server });
        socket.end();
        return;
      }
      writeLine(socket, { pid: process.pid });
      await serveClient(server, socket, request);
    } catch (error) {
      logger.warn(`a client could not connect: ${(error as Error).message}`);
    }
    socket.destroy();
  };

  const serveClient = async (server: Server, socket: Socket, { pid }: ConnectRequest): Promise<void> => {
    // If loading fails, the call that needs it reports the error.
    server.prepare().catch(() => {});
    const address = `pid ${pid}`;
    const { principal } = options;
    const peer = { transport: 'stdio' as const, address, ...(principal === undefined ? {} : { principal }) };
    const connection = serveStream(server, socket, socket, peer, { logger });
    connections.add(connection);
    await connection.closed;
    connections.delete(connection);
    // The client has stopped reading: what it has not read by now would be kept for as long as it runs.
    if (socket.writableLength > 0) return;
    await new Promise<void>((ended) => {
      socket.once('close', ended);
      socket.end(ended);
    });
  };

  const stopListening = (): void => {
    isClosed = true;
    clearTimeout(idle);
    clearInterval(logCheck);
    listener.close();
  };

  await listenAlone(listener, path);
  listener.on('error', (error) => logger.error('a connection could not be accepted', { error }));
  waitForClients();
  const logCheck = setInterval(emptyLongLog, logCheckMs).unref();
  return {
    get clients() {
      return connections.size;
    },
    async close() {
      if (!isClosed) stopListening();
      await Promise.all([...connections].map((each) => each.stop()));
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Why a client cannot be served that is a server of this gateway, directly or through others. */
async function circleOf(
  { outer }: GatewayHost,
  socket: Socket,
  { outer: ids = [] }: ConnectRequest,
): Promise<string | undefined> {
  if (ids.length === 0) return undefined;
  // Before the others are asked: of two gateways that connect to each other at once, each knows of the other by then.
  const client = outer.connected(ids);
  socket.once('close', client.end);
  const find = async (): Promise<Circle> => findCircle(outer.ids, ids, await gatewaysAbove());
  let circle = await find();
  for (const until = performance.now() + decisionMs; circle === 'undecided' && performance.now() < until; ) {
    await pause(decisionPollMs);
    circle = await find();
  }
  if (circle === 'none') {
    client.accept();
    return undefined;
  }
  client.end();
  const what = outer.files.length === 0 ? 'The shared gateway' : outer.files.join(', ');
  return (
    `${what} leads back to the gateway that has this entry: each would show the tools of the other without end. ` +
    'Remove one of the two entries, or disable it'
  );
}

/** What a client is served; a text if it cannot be. */
function serverFor({ gateway, server, serverAt }: GatewayHost, { view }: ConnectRequest): Server | string {
  if (view === undefined) return server;
  return serverAt(`/v/${view}`) ?? unknownView(view, gateway.viewNames);
}

/** Stderr is the log file, opened for appending. */
function emptyLongLog(): void {
  try {
    const { size } = fstatSync(stderr);
    if (size > maxLogBytes) ftruncateSync(stderr, 0);
  } catch {
    // Stderr is not a file.
  }
}
