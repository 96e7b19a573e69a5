// Messages within good requests: a session of Streamable HTTP with requests of both eras, each answered on its own POST,
// and the older transport of two endpoints, where answers come on one stream.

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { Answers, expectAnswers } from './oracle.ts';
import { converse, hello, idOf, patienceMs, startHttp, type Target, Watch } from './targets.ts';

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly session: string | undefined;
  readonly text: string;
}

async function post(url: string, body: Buffer, headers: Record<string, string>): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body: new Uint8Array(body),
    signal: AbortSignal.timeout(patienceMs),
  });
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    session: response.headers.get('mcp-session-id') ?? undefined,
    text: await response.text(),
  };
}

/** The messages in a body of either shape. */
function messagesIn({ type, text }: Reply): string[] {
  if (!type.startsWith('text/event-stream')) return type.startsWith('application/json') ? [text] : [];
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:') && line.length > 6)
    .map((line) => line.slice(5));
}

const header = (value: string): string =>
  /^[\x21-\x7e]+$/.test(value) ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;

/** The headers an honest client sends with a body: those of the stateless era where the body says so. */
function headersFor(body: Buffer, session: Record<string, string>): Record<string, string> {
  try {
    const { method, params } = JSON.parse(body.toString('utf8'));
    const version: unknown = params?._meta?.['io.modelcontextprotocol/protocolVersion'];
    if (typeof version !== 'string' || typeof method !== 'string') return session;
    const name: unknown = params.name ?? params.uri;
    return {
      'MCP-Protocol-Version': header(version),
      'Mcp-Method': header(method),
      ...(typeof name === 'string' ? { 'Mcp-Name': header(name) } : {}),
    };
  } catch {
    return session; // Not JSON: somebody's session then.
  }
}

export async function openSession(revision: string): Promise<Target> {
  const { server, port } = await startHttp();
  const url = `http://127.0.0.1:${port}/mcp`;
  const { session } = await post(url, Buffer.from(hello(revision)), {});
  if (session === undefined) throw new Error(`no session for ${revision}`);
  const known = { 'Mcp-Session-Id': session, 'MCP-Protocol-Version': revision };

  const exchange = async (body: Buffer): Promise<string | undefined> => {
    const answers = new Answers(expectAnswers([body]));
    const reply = await post(url, body, headersFor(body, known)).catch(String);
    if (typeof reply === 'string') return server.dead ?? `it hangs: ${reply}`;
    for (const message of messagesIn(reply)) answers.take(message);
    if (answers.flaw !== undefined) return answers.flaw;
    if (reply.status >= 500) return `status ${reply.status}: ${reply.text.slice(0, 500)}`;
    return answers.missing.length === 0 ? undefined : `status ${reply.status}, no answer to ${answers.missing}`;
  };
  return {
    name: 'session',
    async run(frames) {
      for (const frame of frames) {
        const why = (await exchange(frame)) ?? server.dead;
        if (why !== undefined) return why;
      }
      return undefined;
    },
    close: () => server.close(),
  };
}

export async function openSse(revision: string): Promise<Target> {
  const { server, port } = await startHttp();
  const watch = new Watch();
  server.child.on('exit', () => watch.stir());
  const origin = `http://127.0.0.1:${port}`;
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { Accept: 'text/event-stream' };
    httpRequest(`${origin}/sse`, { headers }, resolve).on('error', reject).end();
  });
  let endpoint: string | undefined;
  let closed: string | undefined;
  const state = {
    answers: undefined as Answers | undefined,
    pinged: undefined as string | undefined,
    watch,
    dead: () => server.dead ?? closed,
  };
  createInterface({ input: stream }).on('line', (line) => {
    if (!line.startsWith('data:')) return;
    const text = line.slice(5).trim();
    const id = idOf(text);
    if (endpoint === undefined) endpoint = text;
    else if (typeof id === 'string' && /^(ping-\d+|hello)$/.test(id)) state.pinged = id;
    else state.answers?.take(text);
    watch.stir();
  });
  stream.on('close', () => {
    closed = 'the stream was closed';
    watch.stir();
  });
  await watch.until(() => endpoint !== undefined || state.dead() !== undefined);
  let sending: Promise<void> = Promise.resolve();
  /** One after the other: the order in which posts arrive is the order of the messages. */
  const send = (bytes: Buffer): void => {
    sending = sending.then(async () => {
      const reply = await post(`${origin}${endpoint}`, bytes, {}).catch(String);
      if (typeof reply === 'string') closed ??= `a post is not answered: ${reply}`;
      // What never became a message is answered where it came from.
      else if (reply.status >= 400) for (const message of messagesIn(reply)) state.answers?.take(message);
      watch.stir();
    });
  };
  send(Buffer.from(hello(revision)));
  await watch.until(() => state.pinged === 'hello' || state.dead() !== undefined);
  return {
    name: 'sse',
    run: (frames, serial) => converse(frames, serial, frames, send, state),
    async close() {
      await sending;
      stream.destroy();
      await server.close();
    },
  };
}
