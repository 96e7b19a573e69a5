// One plain HTTP request, to see how an address responds. It uses one valid request and knows nothing else of the protocol.

import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { findRoute } from '../../transports/proxy/http-route.ts';

export type ProbeResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly type: string;
      readonly body: string;
      header(name: string): string;
    }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** Enough of a body to recognise an error page or a JSON-RPC message. */
const maxBodyBytes = 16 * 1024;

/** Servers of all revisions respond to this, with a result or an error. */
const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'mooring-doctor', version: '1' } },
});

/**
 * Sends a request, through the proxy of the environment if there is one. A stream counts as complete with its first
 * bytes, and a body that has not ended in time with what has arrived. Redirects are not followed.
 */
export async function probe(
  method: 'GET' | 'POST',
  url: URL,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<ProbeResult> {
  const body = method === 'POST' ? initialize : undefined;
  const route = await findRoute(url);
  const { host, port, path, headers: fixed } = route.toTarget(url);
  const all: Record<string, string> = {
    Accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...headers,
  };
  for (let at = 0; at < fixed.length; at += 2) all[fixed[at] as string] = fixed[at + 1] as string;
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void =>
      resolve({ ok: false, code: error.code ?? '', message: error.message || (error.code ?? 'no reason given') });
    const options = { host, port, path, method, headers: all, agent: new route.Agent() };
    let onLate = (): void => {
      request.destroy(Object.assign(new Error(`no response within ${timeoutMs} ms`), { code: 'ETIMEDOUT' }));
    };
    const request = route.request(options, (response) => {
      const rejection = route.rejection?.(url, response.statusCode ?? 0);
      if (rejection !== undefined) request.destroy(rejection);
      const header = (name: string): string => String(response.headers[name] ?? '');
      const type = header('content-type').split(';', 1)[0]?.trim().toLowerCase() ?? '';
      let text = '';
      const done = (): void => {
        resolve({ ok: true, status: response.statusCode ?? 0, type, body: text, header });
        request.destroy();
      };
      onLate = done;
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > maxBodyBytes || type === 'text/event-stream') done();
      });
      response.on('end', done);
      response.on('error', done);
      // A stream may stay silent for long.
      if (type === 'text/event-stream' && method === 'GET') done();
    });
    request.on('error', (error) => fail(route.explain?.(error) ?? error));
    // Not the timeout of the socket, which begins again with every byte.
    const timer = setTimeout(() => onLate(), timeoutMs);
    request.once('close', () => clearTimeout(timer));
    request.end(body);
  });
}

/** Whether something accepts connections there; undefined if it does, otherwise why not. */
export function probePort(host: string, port: number, timeoutMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connectTcp({ host, port, timeout: timeoutMs });
    const end = (why: string | undefined): void => {
      socket.destroy();
      resolve(why);
    };
    socket.once('connect', () => end(undefined));
    socket.once('timeout', () => end('no response'));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}

/** Whether a TLS handshake succeeds there; the certificate does not matter. */
export function speaksTls(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTls({ host, port, rejectUnauthorized: false, timeout: timeoutMs });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('secureConnect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}
