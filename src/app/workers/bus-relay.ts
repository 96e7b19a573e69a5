// Passes on the messages of a bus between workers, and puts published ones into one order.

import type { Json } from '../../protocol/model.ts';
import { type BusOutcome, type BusPort, type FromRelay, relayProcess, type ToRelay } from './bus-messages.ts';

type WorkerPort = BusPort<FromRelay, ToRelay>;

/** Serves the requests of one topic in the process of the relay. */
export type RelayService = (data: Json) => Json | undefined | Promise<Json | undefined>;

export class BusRelay {
  readonly #ports = new Map<string, WorkerPort>();
  readonly #services = new Map<string, RelayService>();
  /** Larger than all positions of an earlier relay: they are stored with sessions, which outlive it. */
  #position = Date.now() * 1_000;

  /** Serves requests that workers send to the relay itself. */
  serve(topic: string, service: RelayService): void {
    this.#services.set(topic, service);
  }

  /** Connects a worker. Returns a function to call when it has ended. */
  add(port: WorkerPort): () => void {
    let process: string | undefined;
    port.onMessage((message) => {
      if (message.type === 'join') {
        process = message.process;
        this.#ports.set(process, port);
        this.#tellProcesses();
      } else if (process !== undefined) this.#receive(process, port, message);
    });
    return () => {
      if (process !== undefined && this.#ports.delete(process)) this.#tellProcesses();
    };
  }

  #tellProcesses(): void {
    const processes = [...this.#ports.keys()];
    for (const port of this.#ports.values()) port.send({ type: 'processes', processes, position: this.#position });
  }

  #receive(from: string, port: WorkerPort, message: ToRelay): void {
    switch (message.type) {
      case 'publish': {
        const { number, topic, data } = message;
        const position = ++this.#position;
        for (const each of this.#ports.values()) each.send({ type: 'published', position, from, number, topic, data });
        return;
      }
      case 'send': {
        const { to, topic, data } = message;
        return this.#ports.get(to)?.send({ type: 'sent', from, topic, data });
      }
      case 'request': {
        const { to, number, topic, data } = message;
        if (to === relayProcess) return this.#serve(port, number, topic, data);
        const target = this.#ports.get(to);
        if (target !== undefined) return target.send({ type: 'requested', from, number, topic, data });
        return port.send({ type: 'responded', number, outcome: { error: 'the process has ended' } });
      }
      case 'response': {
        const { to, number, outcome } = message;
        return this.#ports.get(to)?.send({ type: 'responded', number, outcome });
      }
      case 'check':
        return port.send({ type: 'checked' });
    }
  }

  #serve(port: WorkerPort, number: number, topic: string, data: Json): void {
    const service = this.#services.get(topic);
    void outcomeOf(() => service?.(data)).then((outcome) => port.send({ type: 'responded', number, outcome }));
  }
}

/** Runs a listener and turns what it returns or throws into an outcome. */
export async function outcomeOf(run: () => unknown): Promise<BusOutcome> {
  try {
    return { value: ((await run()) ?? null) as Json };
  } catch (error) {
    return { error: (error as Error).message };
  }
}
