// The HTTP server of `mooring dev --http`: forwards requests to the process of the server, on a port of its own. While
// that process is replaced, requests wait and event streams stay open; then the streams are opened again on the new one,
// and their clients are notified that lists changed. Sessions outlive the process because their ids are sealed with our key.

import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nodeHttp } from '../../common/builtins.ts';
import { explainListenError } from '../serving/serve-http.ts';
import { ForwardedRequest, type ListeningServer } from './forwarded-request.ts';
import type { FrontMessage, ServerMessage, StoredState } from './http-messages.ts';
import type { RelayedCall } from './relayed-call.ts';
import type { ProcessLink } from './server-process.ts';

const host = '127.0.0.1';
/** Stops a request from filling the memory; the server has limits of its own. */
const maxBodyBytes = 64 * 1024 * 1024;

export class HttpFront implements ProcessLink {
  readonly args = ['--http'];
  readonly stdio = ['ignore', process.stderr, 'inherit', 'pipe', 'ipc'] as const;
  readonly #onCall: (call: RelayedCall) => void;
  readonly #open = new Set<ForwardedRequest>();
  readonly #key = randomBytes(32).toString('base64');
  readonly #state = new Map<string, StoredState>();
  #url = '';
  /** The server that runs at the moment, when it listens. */
  #starting: ListeningServer | undefined;
  /** The same when streams are open on it. */
  #server: ListeningServer | undefined;
  /** The error for all requests while there is no server; undefined while it is about to run. */
  #stopped: string | undefined;

  constructor(onCall: (call: RelayedCall) => void) {
    this.#onCall = onCall;
  }

  /** Listens; resolves with the URL of the endpoint. */
  async listen(port: number): Promise<string> {
    const server = nodeHttp().createServer((incoming, response) => void this.#accept(incoming, response));
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(explainListenError(error, { host, port })));
      server.listen(port, host, resolve);
    });
    this.#url = `http://${host}:${(server.address() as AddressInfo).port}/mcp`;
    return this.#url;
  }

  // The server process.

  start(child: ChildProcess, isCurrent: () => boolean, onServing: () => void): void {
    const now = Date.now();
    const state = [...this.#state.values()].filter(({ expiresAtMs }) => expiresAtMs > now);
    // A process that ends before it listens is reported by its exit.
    child.send({ url: this.#url, key: this.#key, state } satisfies FrontMessage, () => {});
    child.on('message', (message) => {
      if (isCurrent()) this.#receive(message as ServerMessage, onServing);
    });
  }

  #receive(message: ServerMessage, onServing: () => void): void {
    switch (message.kind) {
      case 'listening':
        onServing();
        void this.#resume(message);
        break;
      case 'call':
        this.#onCall(message.call);
        break;
      case 'stored':
        this.#state.set(message.state.key, message.state);
        break;
      case 'deleted':
        this.#state.delete(message.key);
        break;
    }
  }

  /** Streams are opened first, so that they miss nothing of what requests cause. */
  async #resume(server: ListeningServer): Promise<void> {
    this.#starting = server;
    await Promise.all([...this.#open].filter((each) => each.isOpenStream).map((each) => each.send(server)));
    if (this.#starting !== server) return;
    this.#server = server;
    for (const each of this.#open) if (!each.isSent) void each.send(server);
  }

  restart(message: string): void {
    this.#stopped = undefined;
    this.#starting = undefined;
    this.#server = undefined;
    for (const each of this.#open) each.interrupt(message);
  }

  fail(message: string): void {
    this.restart(message);
    this.#stopped = message;
    for (const each of this.#open) each.fail(message);
  }

  // Clients.

  async #accept(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming);
    if (body === undefined) {
      response.writeHead(413, { Connection: 'close' }).end();
      return;
    }
    const forwarded = new ForwardedRequest(incoming, body, response, this.#onCall);
    this.#open.add(forwarded);
    response.once('close', () => {
      this.#open.delete(forwarded);
      forwarded.close();
    });
    if (this.#server !== undefined) void forwarded.send(this.#server);
    else if (this.#stopped !== undefined) forwarded.fail(this.#stopped);
  }
}

/** Undefined if the body is too large or incomplete. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming) {
      size += (chunk as Buffer).length;
      if (size > maxBodyBytes) return undefined;
      chunks.push(chunk as Buffer);
    }
  } catch {
    return undefined; // The client has disconnected.
  }
  return Buffer.concat(chunks);
}
