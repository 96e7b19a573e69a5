// The control socket of a running gateway: `mooring gateway status` and the other commands talk to it. One request per
// line and one response per line, as JSON. Only this user can connect.

import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { JsonObject } from '../../protocol/model.ts';
import { UsageError } from '../usage-error.ts';

/** A request longer than this is not one of ours. */
const maxLineChars = 1024 * 1024;
/** How long a command waits for a gateway; a restart may take that long. */
const responseMs = 60_000;
/** Longer paths of sockets are not possible on macOS. */
const maxPathBytes = 100;

export type ControlHandler = (params: JsonObject) => unknown;

export interface ControlSocket {
  readonly path: string;
  close(): void;
}

/** The folder of the sockets of this user: in the runtime folder if there is one, otherwise in the temporary folder. */
export function controlFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
  users = '/run/user',
): string {
  const { uid } = userInfo();
  const named = env['XDG_RUNTIME_DIR'];
  if (named?.startsWith('/')) return join(named, 'mooring');
  // Many clients start servers without that variable, and the commands of a terminal look for their sockets where it points to.
  const usual = join(users, String(uid));
  if (statSync(usual, { throwIfNoEntry: false })?.uid === uid) return join(usual, 'mooring');
  return join(tmpdir(), `mooring-${uid}`);
}

/** The sockets of gateways that may be running, by process id. */
export function findControlSockets(): ReadonlyMap<number, string> {
  if (process.platform === 'win32') return windowsPipes();
  const folder = controlFolder();
  if (!isOwnFolder(folder)) return new Map();
  const found = readdirSync(folder).flatMap((name): [number, string][] => {
    const pid = /^gateway-(\d+)\.sock$/.exec(name)?.[1];
    return pid === undefined ? [] : [[Number(pid), join(folder, name)]];
  });
  return new Map(found.sort(([a], [b]) => a - b));
}

/** Named pipes of Windows are listed like files. */
function windowsPipes(): ReadonlyMap<number, string> {
  const names = readdirSync('\\\\.\\pipe\\').flatMap((name): [number, string][] => {
    const pid = /^mooring-gateway-(\d+)$/.exec(name)?.[1];
    return pid === undefined ? [] : [[Number(pid), `\\\\.\\pipe\\${name}`]];
  });
  return new Map(names);
}

function socketPath(): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\mooring-gateway-${process.pid}`;
  return join(controlFolder(), `gateway-${process.pid}.sock`);
}

/** Listens until it is closed. Throws if no socket can be created; a gateway works without one. */
export async function openControlSocket(handlers: Readonly<Record<string, ControlHandler>>): Promise<ControlSocket> {
  const path = socketPath();
  if (process.platform !== 'win32') {
    checkSocketPath(path);
    makePrivate(dirname(path));
    // Of an earlier process with the same id.
    rmSync(path, { force: true });
  }
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // A command that goes away needs no response.
    socket.on('error', () => socket.destroy());
    readLines(socket, (line) => respond(socket, line, handlers));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  restrictSocket(path);
  // The gateway ends when its clients are gone, not when this socket is closed.
  server.unref();
  return {
    path,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      if (process.platform !== 'win32') rmSync(path, { force: true });
    },
  };
}

/** Only this user can connect to it. */
export function restrictSocket(path: string): void {
  if (process.platform !== 'win32') chmodSync(path, 0o600);
}

/** Rejects a path that the system would shorten: the socket would be in another folder, and several would have one name. */
export function checkSocketPath(path: string): void {
  if (process.platform !== 'win32' && Buffer.byteLength(path) > maxPathBytes) {
    throw new UsageError(
      `The path ${path} is too long for a socket. Set XDG_RUNTIME_DIR to a folder of yours with a path of up to 50 characters`,
    );
  }
}

/** Creates the folder for this user only; another user's folder of the same name is rejected. */
export function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isOwnFolder(folder)) {
    throw new UsageError(
      `${folder} belongs to another user, or is a link. Remove it, or set XDG_RUNTIME_DIR to a folder of yours`,
    );
  }
  if ((lstatSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/** Another user can create a folder of this name in the temporary folder, with sockets that respond as a gateway does. */
function isOwnFolder(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === process.getuid?.();
}

function readLines(socket: Socket, onLine: (line: string) => void): void {
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
    if (text.length > maxLineChars * 16) return socket.destroy();
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
      onLine(text.slice(0, end));
      text = text.slice(end + 1);
    }
  });
}

async function respond(
  socket: Socket,
  line: string,
  handlers: Readonly<Record<string, ControlHandler>>,
): Promise<void> {
  let response: object;
  try {
    if (line.length > maxLineChars) throw new Error('the request is too long');
    const { method, params = {} } = JSON.parse(line) as { method?: string; params?: Record<string, unknown> };
    const handler = method !== undefined && Object.hasOwn(handlers, method) ? handlers[method] : undefined;
    if (handler === undefined) throw new Error(`unknown method ${JSON.stringify(method)}`);
    response = { result: (await handler(params)) ?? null };
  } catch (error) {
    response = { error: (error as Error).message, isUsageError: error instanceof UsageError };
  }
  if (!socket.destroyed) socket.write(`${JSON.stringify(response)}\n`);
}

interface Response {
  readonly result?: unknown;
  readonly error?: string;
  /** The person at the command line can fix it. */
  readonly isUsageError?: boolean;
}

/** The gateway has ended, although its socket exists. */
export class GatewayGone extends Error {
  override readonly name = 'GatewayGone';
}

/** The gateway has not ended, but does not respond. */
export class GatewaySilent extends Error {
  override readonly name = 'GatewaySilent';
}

/** Sends one request to a gateway. Rejects with the gateway's own message, with `GatewayGone` or with `GatewaySilent`. */
export function askGateway(
  path: string,
  method: string,
  params: JsonObject = {},
  timeoutMs = responseMs,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const timer = setTimeout(() => {
      reject(new GatewaySilent('The gateway does not respond'));
      socket.destroy();
    }, timeoutMs);
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      settle();
      socket.destroy();
    };
    socket.on('connect', () => socket.write(`${JSON.stringify({ method, params })}\n`));
    socket.on('error', (error) => end(() => reject(new GatewayGone(error.message))));
    socket.on('close', () => end(() => reject(new GatewayGone('the connection was closed'))));
    readLines(socket, (line) =>
      end(() => {
        const { result, error, isUsageError } = JSON.parse(line) as Response;
        if (error === undefined) resolve(result);
        else reject(isUsageError === true ? new UsageError(error) : new Error(error));
      }),
    );
  });
}
