// What honest and hostile callers send: requests of both kinds of revision as bytes, and a client with kept connections.
import { Agent, request as httpRequest } from 'node:http';

export const statelessVersion = '2026-07-28';
export const sessionVersion = '2025-11-25';
const accept = 'application/json, text/event-stream';

/** @param {string} method @param {object} params @param {unknown} id @param {object} [meta] */
export const stateless = (method, params, id, meta = {}) => ({
  jsonrpc: '2.0',
  id,
  method,
  params: {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': statelessVersion,
      'io.modelcontextprotocol/clientInfo': { name: 'soak', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
      ...meta,
    },
  },
});

/** The headers a stateless request needs. @param {string} method @param {{ name?: string, uri?: string }} params */
export function statelessHeaders(method, { name = undefined, uri = undefined } = {}) {
  const subject = name ?? uri;
  return {
    'MCP-Protocol-Version': statelessVersion,
    'Mcp-Method': method,
    ...(subject === undefined || subject.length > 1000 ? {} : { 'Mcp-Name': subject }),
  };
}

export const initialize = (/** @type {string} */ protocolVersion) => ({
  jsonrpc: '2.0',
  id: 'initialize',
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'soak', version: '1.0.0' } },
});
export const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };

/** The bytes of one POST, for sockets that are written to directly. */
export function postBytes(port, token, body, headers = {}, path = '/mcp', length = undefined) {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Accept: ${accept}`,
    `Content-Length: ${length ?? bytes.length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]);
}

/** A client with its own token and connections. */
export class Caller {
  #port;
  #token;
  #agent;

  constructor(port, token, maxSockets = 8) {
    this.#port = port;
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, maxSockets });
  }

  get authorization() {
    return { Authorization: `Bearer ${this.#token}` };
  }

  /** The response as it begins. `signal` gives up. */
  open(method, path, body, headers = {}, signal = undefined) {
    const bytes = body === undefined ? undefined : Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    return new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: this.#port,
        method,
        path,
        agent: this.#agent,
        signal,
        headers: {
          ...this.authorization,
          Accept: accept,
          ...(bytes === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': bytes.length }),
          ...headers,
        },
      };
      httpRequest(options, resolve).on('error', reject).end(bytes);
    });
  }

  /** The whole answer, with the last message in it. */
  async send(method, path, body, headers = {}, timeoutMs = 10_000) {
    const response = await this.open(method, path, body, headers, AbortSignal.timeout(timeoutMs));
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    return { status: response.statusCode, headers: response.headers, message: lastMessage(response, text) };
  }

  post(body, headers = {}, timeoutMs = undefined) {
    return this.send('POST', '/mcp', body, headers, timeoutMs);
  }

  call(method, params, id = 1, meta = undefined) {
    return this.post(stateless(method, params, id, meta), statelessHeaders(method, params));
  }

  async openSession() {
    const { status, headers } = await this.post(initialize(sessionVersion));
    const id = headers['mcp-session-id'];
    if (status !== 200 || id === undefined) throw new Error(`initialize: status ${status}`);
    await this.post(initialized, { 'Mcp-Session-Id': id });
    return id;
  }

  close() {
    this.#agent.destroy();
  }
}

function lastMessage(response, text) {
  const type = response.headers['content-type'] ?? '';
  if (type.startsWith('application/json') && text !== '') return JSON.parse(text);
  if (!type.startsWith('text/event-stream')) return undefined;
  const data = text.split('\n').filter((line) => line.startsWith('data:') && line.length > 6);
  return data.length === 0 ? undefined : JSON.parse(data.at(-1).slice(5));
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
