// The stateless wire on the bridge: every POST is alone, all of them share one pipe, so ids and tokens are made unique on the way in and
// restored on the way out. Statuses follow the error code; header rules are not played here, they belong to a real HTTP server.
import type { ServerResponse } from 'node:http';
import type { OpenPipe, Pipe } from './bridge.ts';
import type { Reply } from './reply.ts';
import { errorMessage, type Id, isObject, isRequest, isResponse, type Message, type Meta, metaKeys } from './wire.ts';

interface Open {
  readonly id: Id;
  readonly progressToken: unknown;
  readonly reply: Reply;
  readonly listening: boolean;
  readonly completeMeta: boolean;
}

export class StatelessChannel {
  readonly #open: OpenPipe;
  readonly #requests = new Map<Id, Open>();
  #pipe: Promise<Pipe> | undefined;
  #count = 0;

  constructor(open: OpenPipe) {
    this.#open = open;
  }

  async accept(message: Message, response: ServerResponse, reply: Reply): Promise<void> {
    const pipe = await this.#connect();
    if (!isRequest(message)) {
      pipe.send(message);
      response.writeHead(202).end();
      return;
    }
    const alias = `bridge-${++this.#count}`;
    const meta = message.params?._meta;
    this.#requests.set(alias, {
      id: message.id,
      progressToken: meta?.progressToken,
      reply,
      listening: message.method === 'subscriptions/listen',
      completeMeta: hasCompleteMeta(meta),
    });
    // Closing the stream is the cancellation of this wire; on a pipe it is spelt as a notification.
    response.once('close', () => {
      if (!this.#requests.delete(alias)) return;
      pipe.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: alias } });
    });
    pipe.send(renamed(message, alias));
  }

  async close(): Promise<void> {
    const pipe = await this.#pipe?.catch(() => undefined);
    await pipe?.close();
  }

  #connect(): Promise<Pipe> {
    this.#pipe ??= this.#open({
      message: (message) => this.#route(message),
      closed: (reason) => this.#abandon(reason),
    }).catch((cause: unknown) => {
      this.#pipe = undefined; // The next request tries again.
      throw cause;
    });
    return this.#pipe;
  }

  #route(message: Message): void {
    if (isResponse(message)) {
      const request = this.#requests.get(message.id);
      if (!request) return;
      this.#requests.delete(message.id);
      request.reply.answer(this.#restored(message, request), status(message, request));
      return;
    }
    const request = this.#owner(message);
    request?.reply.interim(this.#restored(message, request));
  }

  #owner(message: Message): Open | undefined {
    const subscription = message.params?._meta?.[metaKeys.subscriptionId];
    if (subscription !== undefined) return this.#requests.get(subscription as Id);
    const token = message.params?.progressToken;
    if (token !== undefined) return this.#requests.get(token as Id);
    // A log line names no request. With one call open it is that one's; of several, the newest is the likeliest.
    return [...this.#requests.values()].filter((request) => !request.listening).at(-1);
  }

  #restored(message: Message, request: Open): Message {
    const { id, params, result } = message;
    return {
      ...message,
      ...(id === undefined ? {} : { id: request.id }),
      ...(params ? { params: { ...params, ...restoredToken(params, request), ...restoredMeta(params, request) } } : {}),
      ...(isObject(result) ? { result: { ...result, ...restoredMeta(result, request) } } : {}),
    };
  }

  #abandon(reason: string): void {
    this.#pipe = undefined;
    for (const { id, reply } of this.#requests.values())
      reply.answer(errorMessage(id, -32603, `bridge: ${reason}`), 502);
    this.#requests.clear();
  }
}

function renamed(message: Message, alias: string): Message {
  const meta = message.params?._meta;
  if (!isObject(meta) || meta.progressToken === undefined) return { ...message, id: alias };
  return { ...message, id: alias, params: { ...message.params, _meta: { ...meta, progressToken: alias } } };
}

function restoredToken(params: object, request: Open): object {
  return 'progressToken' in params ? { progressToken: request.progressToken } : {};
}

function restoredMeta(part: { readonly _meta?: Meta }, request: Open): object {
  if (part._meta?.[metaKeys.subscriptionId] === undefined) return {};
  return { _meta: { ...part._meta, [metaKeys.subscriptionId]: request.id } };
}

function hasCompleteMeta(meta: Meta | undefined): boolean {
  return typeof meta?.[metaKeys.protocolVersion] === 'string' && isObject(meta[metaKeys.clientCapabilities]);
}

const badRequest = new Set([-32700, -32600, -32020, -32021, -32022]);

function status(message: Message, request: Open): number {
  const code = message.error?.code;
  if (code === undefined) return 200;
  if (code === -32601) return 404;
  // Invalid params are an ordinary answer, unless it is the envelope of the request itself that was rejected.
  return badRequest.has(code) || (code === -32602 && !request.completeMeta) ? 400 : 200;
}
