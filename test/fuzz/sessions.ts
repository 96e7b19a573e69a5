// Messages within valid requests: a session of Streamable HTTP with requests of both eras, each answered on its own POST,
// and HTTP+SSE, where responses are sent on one stream.

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { Answers, expectAnswers } from './oracle.ts';
import type { ProfileName } from './profiles.ts';
import {
  converse,
  hello,
  idOf,
  initialized,
  patienceMs,
  startHttp,
  type Target,
  type TargetName,
  Watch,
} from './targets.ts';

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
    return session; // Not JSON: any session.
  }
}

/** Messages that are answered where they were posted. */
async function openPosts(
  name: TargetName,
  revision: string,
  profile: ProfileName,
  path: string,
  open: (url: string) => Promise<Record<string, string>>,
): Promise<Target> {
  const { server, port } = await startHttp(profile);
  const origin = `http://127.0.0.1:${port}`;
  const url = `${origin}${path}`;
  const opened = await open(origin);
  const { session } = await post(url, Buffer.from(hello(revision)), opened);
  if (session === undefined && name !== 'reply') throw new Error(`no session for ${revision}`);
  const known = { 'MCP-Protocol-Version': revision, ...(session === undefined ? {} : { 'Mcp-Session-Id': session }) };
  await post(url, Buffer.from(initialized), known);

  const exchange = async (body: Buffer): Promise<string | undefined> => {
    const answers = new Answers(expectAnswers([body]));
    const reply = await post(url, body, headersFor(body, known)).catch(String);
    if (typeof reply === 'string') return (await server.deadNow()) ?? `it hangs: ${reply}`;
    for (const message of messagesIn(reply)) answers.take(message);
    if (answers.flaw !== undefined) return answers.flaw;
    if (reply.status >= 500) return `status ${reply.status}: ${reply.text.slice(0, 500)}`;
    return answers.missing.length === 0 ? undefined : `status ${reply.status}, no answer to ${answers.missing}`;
  };
  return {
    name,
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

/** A session of Streamable HTTP. */
export const openSession = (revision: string, profile: ProfileName): Promise<Target> =>
  openPosts('session', revision, profile, '/mcp', async () => ({}));

/** Requests without a session, answered in the body. */
export const openReply = (revision: string): Promise<Target> =>
  openPosts('reply', revision, 'system', '/message', async () => ({}));

/** A session whose event stream opens before `initialize`. */
export const openEvents = (revision: string): Promise<Target> =>
  openPosts('events', revision, 'reference', '/mcp', async (origin) => {
    const stream = await openStream(`${origin}/mcp/sse`);
    const id = await new Promise<string>((resolve, reject) => {
      readLines(stream, (line) => {
        const given = /^data:.*"session_id":"([^"]+)"/.exec(line)?.[1];
        if (given !== undefined) resolve(given);
      });
      stream.on('close', () => reject(new Error('the event stream ended before it named its session')));
    });
    return { 'Mcp-Session-Id': id };
  });

function openStream(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest(url, { headers: { Accept: 'text/event-stream' } }, resolve)
      .on('error', reject)
      .end();
  });
}

/** The lines of a stream. One that breaks is found by its close and by the exit of the program. */
function readLines(stream: IncomingMessage, take: (line: string) => void): void {
  stream.on('error', () => {});
  createInterface({ input: stream })
    .on('line', take)
    .on('error', () => {});
}

export async function openSse(revision: string, profile: ProfileName): Promise<Target> {
  const { server, port } = await startHttp(profile);
  const watch = new Watch();
  server.child.on('exit', () => watch.stir());
  const origin = `http://127.0.0.1:${port}`;
  const stream = await openStream(`${origin}/sse`);
  let endpoint: string | undefined;
  let closed: string | undefined;
  const state = {
    answers: undefined as Answers | undefined,
    pinged: undefined as string | undefined,
    watch,
    dead: () => server.dead ?? closed,
  };
  readLines(stream, (line) => {
    if (!line.startsWith('data:')) return;
    const text = line.slice(5).trim();
    const id = idOf(text);
    if (endpoint === undefined) endpoint = text;
    else if (typeof id === 'string' && /^(ping-\d+|hello)$/.test(id)) state.pinged = id;
    else state.answers?.take(text);
    watch.stir();
  });
  stream.on('close', async () => {
    closed ??= (await server.deadNow()) ?? 'the stream was closed';
    watch.stir();
  });
  await watch.until(() => endpoint !== undefined || state.dead() !== undefined);
  let sending: Promise<void> = Promise.resolve();
  /** One after the other: the order in which posts arrive is the order of the messages. */
  const send = (bytes: Buffer): void => {
    sending = sending.then(async () => {
      const reply = await post(`${origin}${endpoint}`, bytes, {}).catch(String);
      if (typeof reply === 'string') closed ??= (await server.deadNow()) ?? `a post is not answered: ${reply}`;
      // What never became a message is answered where it came from.
      else if (reply.status >= 400) for (const message of messagesIn(reply)) state.answers?.take(message);
      watch.stir();
    });
  };
  send(Buffer.from(hello(revision)));
  await watch.until(() => state.pinged === 'hello' || state.dead() !== undefined);
  send(Buffer.from(initialized));
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
