// A bus for tests: the relay and the buses of workers, connected within one process. Messages take a turn of the event loop and are
// encoded as JSON, as between processes.

import type { BusPort, FromRelay, ToRelay } from '../../src/app/workers/bus-messages.ts';
import { BusRelay } from '../../src/app/workers/bus-relay.ts';
import { joinBus, type RelayedBus } from '../../src/app/workers/relayed-bus.ts';
import { silentLogger } from '../../src/common/logger.ts';
import type { Server } from '../../src/engine/server.ts';

/** One direction of a connection. */
class Pipe<T> {
  #listener: ((message: T) => void) | undefined;
  #queue: string[] = [];
  #scheduled = false;
  paused = false;
  closed = false;

  send(message: T): void {
    if (this.closed) return;
    this.#queue.push(JSON.stringify(message));
    this.#schedule();
  }

  onMessage(listener: (message: T) => void): void {
    this.#listener = listener;
  }

  resume(): void {
    this.paused = false;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.paused) return;
      for (const text of this.#queue.splice(0)) if (!this.closed) this.#listener?.(JSON.parse(text) as T);
    });
  }
}

/** Waits until everything that was announced before has been announced to the clients of all these servers. */
export async function settled(...servers: readonly Server[]): Promise<void> {
  // What is announced in this turn is published at its end.
  await new Promise((resolve) => setImmediate(resolve));
  const positions = await Promise.all(servers.map(({ bus }) => bus?.publish('test', null)));
  const last = Math.max(...positions.map(Number));
  for (const server of servers) {
    while (server.changesPosition < last) await new Promise((resolve) => setImmediate(resolve));
  }
}

export interface TestProcess {
  readonly bus: RelayedBus;
  /** Nothing arrives until `resume`: the process is slow, or stopped. */
  pause(): void;
  resume(): void;
  /** As when the process is killed. */
  leave(): void;
}

export class TestBuses {
  readonly relay = new BusRelay();
  readonly #joined: TestProcess[] = [];

  async join(): Promise<TestProcess> {
    const up = new Pipe<ToRelay>();
    const down = new Pipe<FromRelay>();
    const remove = this.relay.add(port(down, up));
    const bus = await joinBus(port(up, down), silentLogger);
    const joined: TestProcess = {
      bus,
      pause: () => {
        down.paused = true;
      },
      resume: () => down.resume(),
      leave: () => {
        bus.close();
        up.closed = down.closed = true;
        remove();
      },
    };
    this.#joined.push(joined);
    return joined;
  }

  close(): void {
    for (const each of this.#joined) each.bus.close();
  }
}

function port<Out, In>(out: Pipe<Out>, incoming: Pipe<In>): BusPort<Out, In> {
  return { send: (message) => out.send(message), onMessage: (listener) => incoming.onMessage(listener) };
}
