// A mixed load on one address: stateless calls, calls of sessions, calls that stream, and standalone streams. Each client sends
// its requests one after the other, and checks that each response is its own.
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { both, initializeBody, modernBody, modernHeaders, parseEvents } from '../../support/http-client.ts';

/** How long a request may take before it counts as hanging. */
const hangsAfterMs = 20_000;

export type Outcome =
  | 'ok'
  /** The connection broke: the process was killed while it worked on the request. */
  | 'broken'
  /** There was no connection. */
  | 'refused'
  | 'hangs'
  /** Another status than 200, or the response of another request. */
  | 'wrong';

export interface SentRequest {
  readonly kind: ClientKind;
  readonly sentAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: Outcome;
  readonly detail: string;
}

export type ClientKind = 'stateless' | 'session' | 'stream';

export interface LoadOptions {
  readonly clients: Readonly<Record<ClientKind, number>>;
  /** Whether each request opens a connection. Default: each client has one that it keeps. */
  readonly freshConnections?: boolean;
  /** Between two requests of a client, so that a load that goes on while a process starts or ends leaves it the processors. Default: 0. */
  readonly pauseMs?: number;
  /** By client: its name. Default: none. */
  token?(client: number): string;
  /** Where the next request goes; the address may change. */
  url(): string;
}

export class Load {
  readonly requests: SentRequest[] = [];
  readonly #options: LoadOptions;
  readonly #agents: Agent[] = [];
  #stopped = false;
  readonly #running: Promise<void>[] = [];
  #count = 0;
  inFlight = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    let client = 0;
    for (const kind of Object.keys(options.clients) as ClientKind[]) {
      for (let n = 0; n < options.clients[kind]; n++) this.#running.push(this.#run(kind, client++));
    }
  }

  /** Resolves when so many more requests have ended. */
  async more(count: number): Promise<void> {
    const until = this.requests.length + count;
    while (this.requests.length < until) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async stop(): Promise<readonly SentRequest[]> {
    this.#stopped = true;
    await Promise.all(this.#running);
    for (const agent of this.#agents) agent.destroy();
    return this.requests;
  }

  async #run(kind: ClientKind, client: number): Promise<void> {
    const agent = new Agent({ keepAlive: this.#options.freshConnections !== true, maxSockets: 1 });
    this.#agents.push(agent);
    const token = this.#options.token?.(client);
    const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const send: Send = async (more, body) => {
      for (;;) {
        const answer = await exchange(this.#options.url(), agent, { ...headers, ...more }, body);
        if (!isStoreLate(answer)) return answer;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const session = kind === 'stateless' ? undefined : await openSession(send);
    const { pauseMs = 0 } = this.#options;
    while (!this.#stopped) {
      await this.#call(kind, client, send, session);
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async #call(kind: ClientKind, client: number, send: Send, session: string | undefined): Promise<void> {
    const sentAtMs = performance.now();
    const text = `client ${client} request ${++this.#count}`;
    this.inFlight++;
    const [outcome, detail] = await outcomeOf(call(kind, text, send, session));
    this.inFlight--;
    this.requests.push({ kind, sentAtMs, endedAtMs: performance.now(), outcome, detail });
    // A client that cannot connect tries again a little later.
    if (outcome === 'refused') await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

type Send = (headers: Record<string, string>, body: object) => Promise<{ response: IncomingMessage; text: string }>;

/** On a busy machine Redis may take longer than a request waits for it: the client tries again later, as it is told. */
const isStoreLate = ({ response, text }: Awaited<ReturnType<Send>>): boolean =>
  response.statusCode === 503 && text.includes('The store of this server cannot be reached');

async function openSession(send: Send): Promise<string> {
  const { response, text } = await send({ Accept: both }, initializeBody('2025-11-25'));
  const session = response.headers['mcp-session-id'];
  if (typeof session !== 'string') throw new Error(`no session: ${response.statusCode} ${text}`);
  await send({ Accept: both, 'Mcp-Session-Id': session }, { jsonrpc: '2.0', method: 'notifications/initialized' });
  return session;
}

async function call(kind: ClientKind, text: string, send: Send, session: string | undefined): Promise<void> {
  const params: Record<string, unknown> =
    kind === 'stream'
      ? { name: 'slow', arguments: { ms: 20, text }, _meta: { progressToken: 1 } }
      : { name: 'echo', arguments: { text } };
  const isStateless = session === undefined;
  const headers = isStateless ? modernHeaders('tools/call', params) : { Accept: both, 'Mcp-Session-Id': session };
  const body = isStateless ? modernBody('tools/call', params) : { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const answer = await send(headers, body);
  const isStream = answer.response.headers['content-type']?.startsWith('text/event-stream') === true;
  const last = isStream ? parseEvents(answer.text).findLast(({ data }) => data)?.data : answer.text;
  const { result } = (answer.response.statusCode === 200 ? JSON.parse(last ?? '{}') : {}) as Partial<{
    result: { content: { text: string }[] };
  }>;
  // Whatever names a client and a request in the bytes that came, names this one.
  const named = answer.text.match(/client \d+ request \d+/g) ?? [];
  if (result?.content[0]?.text !== text || named.some((each) => each !== text))
    throw new WrongResponse(`${answer.response.statusCode} ${answer.text}`);
}

class WrongResponse extends Error {}

async function outcomeOf(work: Promise<void>): Promise<[Outcome, string]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'hangs'>((resolve) => {
    timer = setTimeout(() => resolve('hangs'), hangsAfterMs);
  });
  try {
    return [(await Promise.race([work, late])) ?? 'ok', ''];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof WrongResponse || error instanceof SyntaxError) return ['wrong', message];
    return [code === 'ECONNREFUSED' ? 'refused' : 'broken', `${code} ${message}`];
  } finally {
    clearTimeout(timer);
  }
}

function exchange(
  url: string,
  agent: Agent,
  headers: Record<string, string>,
  body: object,
): Promise<{ response: IncomingMessage; text: string }> {
  const text = JSON.stringify(body);
  const all = { ...headers, 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', headers: all, agent }, (response) => {
      let received = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        received += chunk;
      });
      response.once('end', () => resolve({ response, text: received }));
      response.once('error', reject);
      response.once('close', () => reject(new Error('the response is not complete')));
    });
    sent.once('error', reject);
    sent.end(text);
  });
}

/** Requests that were not answered as they should be, by outcome. */
export function failures(requests: readonly SentRequest[]): SentRequest[] {
  return requests.filter(({ outcome }) => outcome !== 'ok');
}
