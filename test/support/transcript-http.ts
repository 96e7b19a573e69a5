// Plays a transcript over HTTP: each message of the client is a request, sent to a server that `pick` chooses.
import { both, EventReader, type HttpTestClient, modernHeaders, modernVersion } from './http-client.ts';
import type { ConnectTestCase } from './transcript.ts';

/** What the servers have received. HTTP has no order between two requests; a case has. */
export class ReceivedRequests {
  readonly #counts = new Map<string, number>();
  #arrived = (): void => {};

  /** A server has received a message. */
  add(message: unknown): void {
    const key = keyOf(message as Sent);
    if (key === undefined) return;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#arrived();
  }

  /** To call before a request is sent. The promise resolves when a server has received it. */
  next(text: string): Promise<void> {
    const key = keyOf(parse(text)) ?? '';
    const before = this.#counts.get(key) ?? 0;
    return new Promise((resolve) => {
      const earlier = this.#arrived;
      this.#arrived = () => {
        earlier();
        if ((this.#counts.get(key) ?? 0) > before) resolve();
      };
    });
  }

  /** Forgets all, between two cases. */
  clear(): void {
    this.#counts.clear();
    this.#arrived = () => {};
  }
}

const keyOf = ({ id, method }: Sent): string | undefined =>
  id === undefined || method === undefined ? undefined : `${JSON.stringify(id)} ${method}`;

export const overHttp =
  (revision: string, pick: () => HttpTestClient, received: ReceivedRequests): ConnectTestCase =>
  (receive) => {
    const readers: EventReader[] = [];
    let session: string | undefined;
    const read = async (reader: EventReader): Promise<void> => {
      readers.push(reader);
      for (let at = 0; ; ) {
        const messages = await reader.until(at + 1);
        if (messages.length === at) return;
        for (; at < messages.length; at++) receive(JSON.stringify(messages[at]));
      }
    };
    const post = async (text: string): Promise<void> => {
      const isStateless = revision === modernVersion || text.includes(modernVersion);
      const headers = isStateless ? headersOf(text, revision) : { Accept: both, ...sessionHeaders() };
      const response = await pick().open({ body: text, headers });
      const id = response.headers['mcp-session-id'];
      if (typeof id === 'string') session = id;
      if (response.headers['content-type']?.startsWith('text/event-stream')) return read(new EventReader(response));
      let body = '';
      response.setEncoding('utf8');
      for await (const chunk of response) body += chunk;
      if (body !== '') receive(body);
    };
    const sessionHeaders = (): Record<string, string> =>
      session === undefined ? {} : { 'Mcp-Session-Id': session, 'MCP-Protocol-Version': revision };
    return {
      isUnordered: true,
      // The response to a request may follow after the next message, which answers the server; everything else is acknowledged.
      send: (text) => {
        if (!isRequest(text)) return post(text);
        const arrived = received.next(text);
        // One that is rejected may never arrive.
        return Promise.race([arrived, post(text).catch((error) => receive(String(error)))]);
      },
      async opened() {
        if (session === undefined) return;
        const headers = { ...sessionHeaders(), Accept: 'text/event-stream' };
        const reader = new EventReader(await pick().open({ method: 'GET', headers }));
        await reader.begun();
        void read(reader);
      },
      close: () => {
        for (const reader of readers) reader.cut();
      },
    };
  };

interface Sent {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly _meta?: Record<string, unknown> };
}

function parse(text: string): Sent {
  try {
    return (JSON.parse(text) ?? {}) as Sent;
  } catch {
    return {};
  }
}

function isRequest(text: string): boolean {
  const { id, method } = parse(text);
  return id !== undefined && method !== undefined;
}

/** A stateless message has its method and version in headers too, and belongs to no session. */
function headersOf(text: string, revision: string): Record<string, string> {
  const { method, params } = parse(text);
  const version = params?._meta?.['io.modelcontextprotocol/protocolVersion'] ?? revision;
  if (method === undefined || typeof version !== 'string') return { Accept: both };
  return { ...modernHeaders(method, params), 'MCP-Protocol-Version': version };
}
