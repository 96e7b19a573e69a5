// Plays a transcript over HTTP: each message of the client is a request, sent to a server that `pick` chooses.
import { both, EventReader, type HttpTestClient, modernHeaders, modernVersion } from './http-client.ts';
import type { ConnectStory } from './transcript.ts';

export const overHttp =
  (revision: string, pick: () => HttpTestClient): ConnectStory =>
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
      // A request may be answered after the next message, which answers the server; everything else is answered at once.
      send: (text) => (isRequest(text) ? void post(text).catch((error) => receive(String(error))) : post(text)),
      async opened() {
        if (session === undefined) return;
        const headers = { ...sessionHeaders(), Accept: 'text/event-stream' };
        void read(new EventReader(await pick().open({ method: 'GET', headers })));
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
