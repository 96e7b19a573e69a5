// A session of the handshake revisions on the bridge: one pipe, many POSTs, one GET stream, and the rule which message goes where.
// A pipe has no streams, so the request a server message belongs to is inferred from ids, progress tokens and who is waiting.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { OpenPipe, Pipe } from './bridge.ts';
import type { Reply } from './reply.ts';
import { errorMessage, type Id, isRequest, isResponse, type Message } from './wire.ts';

interface Waiting {
  readonly reply: Reply;
  readonly progressToken: unknown;
  readonly headers: Record<string, string>;
}

export class Session {
  readonly id = randomUUID();
  readonly #waiting = new Map<Id, Waiting>();
  readonly #backlog: Message[] = [];
  #pipe: Pipe | undefined;
  #stream: Reply | undefined;
  #ended: string | undefined;

  /** Opens the pipe of a new session; `onEnd` is told when the server goes away by itself. */
  static async open(open: OpenPipe, onEnd: (session: Session) => void): Promise<Session> {
    const session = new Session();
    session.#pipe = await open({
      message: (message) => session.#route(message),
      closed: (reason) => {
        onEnd(session);
        session.#abandon(reason);
      },
    });
    return session;
  }

  /** Takes a POSTed message: a request waits for its answer, anything else is accepted at once. */
  accept(message: Message, response: ServerResponse, reply: Reply, headers: Record<string, string> = {}): void {
    if (isRequest(message)) {
      const waiting = { reply, progressToken: message.params?._meta?.progressToken, headers };
      this.#waiting.set(message.id, waiting);
      // A lost connection is not a cancellation on these revisions: the server goes on, the answer has no reader.
      response.once('close', () => {
        if (this.#waiting.get(message.id) === waiting) this.#waiting.delete(message.id);
      });
    } else {
      if (message.method === 'notifications/cancelled') this.#cancel(message.params?.requestId as Id);
      response.writeHead(202).end();
    }
    // A server that died while the session was being opened has left no one to wait for.
    if (this.#ended) this.#abandon(this.#ended);
    else this.#pipe?.send(message);
  }

  /** Makes this the GET stream; a newer one takes the place of an older one. */
  stream(reply: Reply): void {
    this.#stream?.end();
    this.#stream = reply;
    reply.open();
    for (const message of this.#backlog.splice(0)) reply.interim(message);
  }

  streamClosed(reply: Reply): void {
    if (this.#stream === reply) this.#stream = undefined;
  }

  async close(): Promise<void> {
    await this.#pipe?.close();
    this.#abandon('the session was ended');
  }

  #route(message: Message): void {
    if (isResponse(message)) {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      waiting?.reply.answer(message, 200, waiting.headers);
      return;
    }
    const reply = this.#destination(message);
    if (reply) reply.interim(message);
    else this.#backlog.push(message);
  }

  #destination(message: Message): Reply | undefined {
    const waiting = [...this.#waiting.values()];
    if (message.method === 'notifications/progress') {
      const token = message.params?.progressToken;
      return waiting.find((entry) => entry.progressToken === token)?.reply ?? this.#stream;
    }
    // Requests and logs are caused by a running call as a rule; list changes and updates by none in particular.
    const caused = isRequest(message) || message.method === 'notifications/message';
    return caused ? (waiting.at(-1)?.reply ?? this.#stream) : this.#stream;
  }

  #cancel(id: Id): void {
    this.#waiting.get(id)?.reply.end();
    this.#waiting.delete(id);
  }

  #abandon(reason: string): void {
    this.#ended = reason;
    for (const [id, { reply }] of this.#waiting) reply.answer(errorMessage(id, -32603, `bridge: ${reason}`), 502);
    this.#waiting.clear();
    this.#stream?.end();
    this.#stream = undefined;
  }
}
