// A TCP proxy in front of a server: it can stop to pass data on, as a network that is cut does, or break its connections.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** The first bytes that the client sent, to tell connections apart. */
  sent: string;
}

export interface TcpProxy {
  readonly port: number;
  /** Passes nothing on, in both directions. `matches`: only connections whose client has sent this. */
  pause(matches?: string): void;
  resume(): void;
  /** Breaks connections, all or those whose client has sent this; new ones are rejected until `accept`. */
  cut(matches?: string): void;
  accept(): void;
  close(): Promise<void>;
}

const maxRemembered = 100_000;

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let isCut = false;
  let paused: string | undefined;
  const isPaused = ({ sent }: Pair): boolean => paused !== undefined && sent.includes(paused);
  const update = (pair: Pair): void => {
    const act = isPaused(pair) ? 'pause' : 'resume';
    pair.client[act]();
    pair.server[act]();
  };
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const pair: Pair = { client, server: connect(target, '127.0.0.1'), sent: '' };
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      pair.server.destroy();
    };
    client.on('data', (data) => {
      if (pair.sent.length < maxRemembered) pair.sent += data.toString('latin1');
      pair.server.write(data);
      if (paused !== undefined) update(pair);
    });
    pair.server.on('data', (data) => client.write(data));
    for (const socket of [client, pair.server]) {
      socket.setNoDelay(true);
      socket.once('close', end);
      socket.once('error', end);
    }
    if (paused !== undefined) update(pair);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (matches = ''): void => {
    isCut = true;
    for (const { client, server: other, sent } of pairs) {
      if (!sent.includes(matches)) continue;
      client.destroy();
      other.destroy();
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    pause(matches = '') {
      paused = matches;
      for (const pair of pairs) update(pair);
    },
    resume() {
      paused = undefined;
      for (const pair of pairs) update(pair);
    },
    cut,
    accept() {
      isCut = false;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
