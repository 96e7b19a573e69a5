// A client for tests that sends exactly what it is given, byte by byte where needed, and shows all of the response.

import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

/** A message of the server, as tests look at it. */
export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body where it is JSON. */
  readonly json: Message;
  readonly events: readonly StreamEvent[];
}

export interface StreamEvent {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly retry: string | undefined;
  readonly data: string | undefined;
}

export interface Wanted {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string | string[] | undefined>;
  readonly body?: unknown;
}

export const both = 'application/json, text/event-stream';
export const modernVersion = '2026-07-28';

/** Parses event blocks; comments and empty blocks are left out. */
export function parseEvents(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  for (const block of text.split('\n\n')) {
    const fields: Record<string, string> = {};
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':');
      if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, '');
    }
    if (Object.keys(fields).length > 0) {
      events.push({ event: fields['event'], id: fields['id'], retry: fields['retry'], data: fields['data'] });
    }
  }
  return events;
}

export class HttpTestClient {
  readonly #port: number;
  readonly #agent: Agent;

  /** `keepAlive`: whether connections are used again. */
  constructor(port: number, { keepAlive = true } = {}) {
    this.#port = port;
    this.#agent = new Agent({ keepAlive });
  }

  close(): void {
    this.#agent.destroy();
  }

  /**
   * Sends what gets 503 again until it is served, as clients do. For servers whose store may take longer than they wait for it on a busy
   * machine.
   */
  retriesUnavailable = false;

  /** Sends a request and gives the response as it begins. */
  async open(wanted: Wanted): Promise<IncomingMessage> {
    for (;;) {
      const response = await this.#open(wanted);
      if (!this.retriesUnavailable || response.statusCode !== 503) return response;
      response.resume();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  #open({ method = 'POST', path = '/mcp', headers = {}, body }: Wanted): Promise<IncomingMessage> {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const all: Record<string, string | string[]> = { Host: `127.0.0.1:${this.#port}` };
    if (text !== undefined) {
      Object.assign(all, { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) });
    }
    for (const [name, value] of Object.entries(headers)) {
      if (value === undefined) delete all[name];
      else all[name] = value;
    }
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#port, method, path, headers: all, agent: this.#agent };
      const outgoing = httpRequest(options, resolve);
      outgoing.on('error', reject);
      outgoing.end(text);
    });
  }

  async send(wanted: Wanted): Promise<Answer> {
    const response = await this.open(wanted);
    let text = '';
    response.setEncoding('utf8');
    for await (const chunk of response) text += chunk;
    const events = response.headers['content-type']?.startsWith('text/event-stream') ? parseEvents(text) : [];
    const json =
      response.headers['content-type']?.startsWith('application/json') && text !== '' ? JSON.parse(text) : undefined;
    return { status: response.statusCode as number, headers: response.headers, text, json, events };
  }

  /** A stateless request with all its headers; given values take precedence. */
  modern(method: string, params: Record<string, unknown> = {}, wanted: Wanted & { id?: unknown; meta?: object } = {}) {
    const { id = 1, meta = {}, ...rest } = wanted;
    return this.send({
      body: modernBody(method, params, id, meta),
      ...rest,
      headers: { ...modernHeaders(method, params), ...rest.headers },
    });
  }

  /** Opens a session and gives its id. */
  async initialize(wanted: Wanted & { version?: string; capabilities?: object } = {}): Promise<string> {
    const { version = '2025-11-25', capabilities = {}, ...rest } = wanted;
    const answer = await this.send({
      body: initializeBody(version, capabilities),
      ...rest,
      headers: { Accept: both, ...rest.headers },
    });
    const id = answer.headers['mcp-session-id'];
    if (answer.status !== 200 || typeof id !== 'string') throw new Error(`no session: ${answer.status} ${answer.text}`);
    await this.send({
      body: { jsonrpc: '2.0', method: 'notifications/initialized' },
      ...rest,
      headers: { ...rest.headers, Accept: both, 'Mcp-Session-Id': id },
    });
    return id;
  }

  /** A request within a session. */
  session(id: string, method: string, params: Record<string, unknown> = {}, wanted: Wanted & { id?: unknown } = {}) {
    const { id: requestId = 1, ...rest } = wanted;
    return this.send({
      body: { jsonrpc: '2.0', id: requestId, method, params },
      ...rest,
      headers: { Accept: both, 'Mcp-Session-Id': id, ...rest.headers },
    });
  }
}

export function initializeBody(protocolVersion: string, capabilities: object = {}): object {
  return {
    jsonrpc: '2.0',
    id: 'open',
    method: 'initialize',
    params: { protocolVersion, capabilities, clientInfo: { name: 'test', version: '1.0.0' } },
  };
}

export function modernBody(
  method: string,
  params: Record<string, unknown> = {},
  id: unknown = 1,
  meta: object = {},
): { readonly jsonrpc: string; readonly id: unknown; readonly method: string; readonly params: object } {
  return {
    jsonrpc: '2.0',
    id,
    method,
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': modernVersion,
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
        'io.modelcontextprotocol/clientCapabilities': {},
        ...meta,
      },
    },
  };
}

export function modernHeaders(method: string, params: Record<string, unknown> = {}): Record<string, string> {
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  return {
    Accept: both,
    'MCP-Protocol-Version': modernVersion,
    'Mcp-Method': method,
    ...(typeof name === 'string' ? { 'Mcp-Name': name } : {}),
  };
}

/** Reads an event stream as it comes. */
export class EventReader {
  readonly response: IncomingMessage;
  readonly events: StreamEvent[] = [];
  #text = '';
  #hasBegun = false;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      this.#hasBegun = true;
      this.#text += chunk;
      const whole = this.#text.lastIndexOf('\n\n');
      if (whole !== -1) {
        this.events.push(...parseEvents(this.#text.slice(0, whole + 2)));
        this.#text = this.#text.slice(whole + 2);
      }
      this.#wake?.();
    });
    const end = (): void => {
      this.#ended = true;
      this.#wake?.();
    };
    response.on('end', end).on('close', end).on('error', end);
  }

  get ended(): boolean {
    return this.#ended;
  }

  get messages(): Message[] {
    return this.events
      .filter(({ event, data }) => event !== 'endpoint' && data !== undefined && data !== '')
      .map(({ data }) => JSON.parse(data as string));
  }

  /** Waits until there are that many messages, or the end. */
  async until(count: number): Promise<Message[]> {
    while (this.messages.length < count && !this.#ended) await this.#more();
    return this.messages;
  }

  /** Waits until the server has sent something, if only a comment: from then on a stream of a session carries its messages. */
  async begun(): Promise<void> {
    while (!this.#hasBegun && !this.#ended) await this.#more();
  }

  async end(): Promise<Message[]> {
    while (!this.#ended) await this.#more();
    return this.messages;
  }

  cut(): void {
    this.response.destroy();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
