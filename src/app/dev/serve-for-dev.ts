// Serves the server of a file over HTTP for `mooring dev --http`, which forwards the requests of clients to it.

import type { Server } from '../../engine/server.ts';
import type { SessionHost } from '../../protocol/exchange.ts';
import type { ExpiringStore } from '../../protocol/ports.ts';
import { serveHttp } from '../../transports/http/node/serve.ts';
import { createNodeSealer } from '../../transports/node-sealer.ts';
import { type FrontMessage, type List, lists, type ServerMessage } from './http-messages.ts';
import { observeCalls } from './observe-calls.ts';

export async function serveForDev(host: Server, started: Promise<unknown[]>): Promise<void> {
  const [{ url, key, state }] = (await started) as [FrontMessage];
  const store = new Map(state.map((each) => [each.key, each]));
  const { port } = await serveHttp(host, {
    port: 0,
    allowedHosts: hostsAt(url),
    webSocket: false,
    sse: false,
    sealer: createNodeSealer(key),
    store: shared(store),
  });
  const announced = await listsOf(host);
  host.observe(observeCalls((call) => report({ kind: 'call', call })));
  report({ kind: 'listening', port, lists: announced });
  // A terminal that is closed sends it to all processes. `mooring dev` gets it, too, and ends this one with SIGTERM.
  process.on('SIGHUP', () => {});
  // `mooring dev` has ended, perhaps without a chance to end this process.
  process.once('disconnect', () => process.exit(0));
}

/** The names under which clients reach `mooring dev` at this URL, which names no port if that is 80. */
export function hostsAt(url: string): string[] {
  return ['localhost', '127.0.0.1'].map((name) => `${name}:${new URL(url).port || 80}`);
}

function report(message: ServerMessage): void {
  process.send?.(message);
}

/** A store whose entries are passed on to the process that replaces this one. */
function shared(entries: Map<string, FrontMessage['state'][number]>): ExpiringStore {
  const read = (key: string) => {
    const entry = entries.get(key);
    return entry !== undefined && entry.expiresAtMs > Date.now() ? entry.value : undefined;
  };
  const write: ExpiringStore['set'] = (key, value, ttlMs) => {
    const entry = { key, value, expiresAtMs: Date.now() + ttlMs };
    entries.set(key, entry);
    report({ kind: 'stored', state: entry });
  };
  return {
    get: read,
    set: write,
    add(key, value, ttlMs) {
      if (read(key) !== undefined) return false;
      void write(key, value, ttlMs);
      return true;
    },
    delete(key) {
      entries.delete(key);
      report({ kind: 'deleted', key });
    },
  };
}

/** The lists whose changes the server announces. */
function listsOf(host: SessionHost): Promise<List[]> {
  const version = host.handshakeVersions.at(-1);
  if (version === undefined) return Promise.resolve([...lists]);
  return new Promise((resolve) => {
    const answer = (text: string | undefined): void => {
      const capabilities = JSON.parse(text ?? '{}').result?.capabilities ?? {};
      channel.close();
      resolve(lists.filter((list) => capabilities[list]?.listChanged === true));
    };
    const outlet = { duplex: false, push: () => false, end: answer };
    const channel = host.connect({ transport: 'memory' }, outlet);
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'mooring dev', version } };
    channel.receive({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, { outlet });
  });
}
