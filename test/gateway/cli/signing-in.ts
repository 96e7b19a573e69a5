// What tests of users who sign in to servers need: a browser, and servers that demand tokens for some of their requests.

import { createServer as createHttpServer, type Server as NodeServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Awaitable } from '../../../src/common/awaitable.ts';
import { createServer, serveHttp } from '../../../src/index.ts';
import { type FakeAuthorizationServer, startAuthorizationServer } from '../../client/auth/fake-provider.ts';

export interface Shown {
  readonly status: number;
  readonly text: string;
}

/** A browser: follows redirects and keeps cookies. */
export class Browser {
  readonly #cookies = new Map<string, string>();
  /** Of the page that is shown. */
  #referrerPolicy = '';
  /** The URLs that it was at. */
  readonly visited: URL[] = [];

  async open(url: string, form?: Record<string, string>, headers: Record<string, string> = {}): Promise<Shown> {
    const shown = await this.step(url, form, headers);
    return shown.location === undefined ? shown : this.open(shown.location);
  }

  /** Follows no redirect. */
  async step(
    url: string,
    form?: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Shown & { readonly location?: string }> {
    const to = new URL(url);
    this.visited.push(to);
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(to, {
      redirect: 'manual',
      headers: { ...(cookie === '' ? {} : { cookie }), ...headers },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const each of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (each.split(';')[0] as string).split('=');
      this.#cookies.set(name, value);
    }
    this.#referrerPolicy = response.headers.get('referrer-policy') ?? '';
    const location = response.headers.get('location');
    const shown = { status: response.status, text: await response.text() };
    return location === null ? shown : { ...shown, location: new URL(location, to).href };
  }

  /** Presses the button of the page that is shown. */
  submit(form: Record<string, string> = {}): Promise<Shown> {
    const { href, origin } = this.visited.at(-1) as URL;
    // https://fetch.spec.whatwg.org/#append-a-request-origin-header
    const sent = this.#referrerPolicy === 'no-referrer' ? 'null' : origin;
    return this.open(href, form, { 'sec-fetch-site': 'same-origin', origin: sent });
  }
}

export const linkIn = (text: string): string => /http\S+\/login\/\S+/.exec(text)?.[0] as string;

/** One request to a protected server. */
export interface Guarded {
  readonly method: string;
  readonly token: string | undefined;
  /** The name of the tool, if one is called. */
  readonly tool: string | undefined;
}

export interface ProtectedServer {
  readonly url: string;
  readonly provider: FakeAuthorizationServer;
  /** Requests of clients, in their order. */
  readonly seen: Guarded[];
  /** Decides on a request: `ok`, or the error of the challenge. */
  decide: (request: Guarded) => Awaitable<'ok' | 'unauthorized' | { readonly scope: string }>;
  close(): Promise<void>;
}

/** Starts a server with the tools `who` and `send` behind an authorization server. */
export async function startProtected(name = 'mail'): Promise<ProtectedServer> {
  const provider = await startAuthorizationServer();
  const server = createServer({ name, version: '1.0.0', logger: false });
  server.tool('who', { run: () => name });
  server.tool('send', { run: () => 'sent' });
  const inner = await serveHttp(server, { port: 0, graceMs: 100 });
  const metadataPath = '/.well-known/oauth-protected-resource/mcp';
  const http: NodeServer = createHttpServer(async (request, response) => {
    if (request.url === metadataPath) {
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ resource: own.url, authorization_servers: [provider.issuer] }));
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method = request.method ?? '', params } = (body === '' ? {} : JSON.parse(body)) as {
      method?: string;
      params?: { name?: string };
    };
    const token = request.headers.authorization?.slice('Bearer '.length);
    const guarded = { method, token, tool: method === 'tools/call' ? params?.name : undefined };
    own.seen.push(guarded);
    const decision = await own.decide(guarded);
    if (decision !== 'ok') {
      const metadata = `resource_metadata="${new URL(metadataPath, own.url).href}"`;
      const more = typeof decision === 'string' ? '' : `, error="insufficient_scope", scope="${decision.scope}"`;
      response.writeHead(decision === 'unauthorized' ? 401 : 403, { 'www-authenticate': `Bearer ${metadata}${more}` });
      return response.end();
    }
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
    const ended = new AbortController();
    response.once('close', () => ended.abort());
    try {
      const answer = await fetch(inner.url, {
        method: request.method ?? 'POST',
        headers: headers as Record<string, string>,
        signal: ended.signal,
        ...(body === '' ? {} : { body }),
      });
      const {
        'content-encoding': _encoding,
        'transfer-encoding': _transfer,
        ...kept
      } = Object.fromEntries(answer.headers);
      response.writeHead(answer.status, kept);
      for await (const chunk of answer.body ?? []) response.write(chunk);
    } catch {
      // The client has gone.
    }
    response.end();
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const own: ProtectedServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    provider,
    seen: [],
    decide: ({ token }) => (token === undefined ? 'unauthorized' : 'ok'),
    async close() {
      http.closeAllConnections();
      await Promise.all([new Promise((resolve) => http.close(resolve)), inner.close(), provider.close()]);
    },
  };
  return own;
}
