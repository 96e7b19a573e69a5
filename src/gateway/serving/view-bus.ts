// The bus of one server of a gateway. All of them are connected to the same processes, each with topics of its own: views
// have the same name, and their sessions and changes must not be mixed up.

import type { Bus, BusListener, PastMessages } from '../../engine/ports.ts';
import type { Json } from '../../protocol/model.ts';

export class ViewBus implements Bus {
  readonly #bus: Bus;
  readonly #prefix: string;
  readonly #listeners = new Map<string, () => void>();

  /** `scope`: the same for this server in all processes. */
  constructor(bus: Bus, scope: string) {
    this.#bus = bus;
    this.#prefix = `${scope} `;
  }

  get process(): string {
    return this.#bus.process;
  }

  get processes(): ReadonlySet<string> {
    return this.#bus.processes;
  }

  get position(): number {
    return this.#bus.position;
  }

  get freshAtMs(): number {
    return this.#bus.freshAtMs;
  }

  get epoch(): string {
    return this.#bus.epoch ?? '';
  }

  publish(topic: string, data: Json): Promise<number> {
    return this.#bus.publish(this.#prefix + topic, data);
  }

  send(process: string, topic: string, data: Json): void {
    this.#bus.send(process, this.#prefix + topic, data);
  }

  request(process: string, topic: string, data: Json, timeoutMs: number): Promise<Json> {
    return this.#bus.request(process, this.#prefix + topic, data, timeoutMs);
  }

  /** A view that was removed from the configuration and is there again takes over the topics. */
  listen(topic: string, listener: BusListener): () => void {
    this.#listeners.get(topic)?.();
    const stop = this.#bus.listen(this.#prefix + topic, listener);
    this.#listeners.set(topic, stop);
    return stop;
  }

  onGap(listener: () => void): void {
    this.#bus.onGap(listener);
  }

  onLeave(listener: (process: string) => void): void {
    this.#bus.onLeave(listener);
  }

  past(topic: string): PastMessages {
    return this.#bus.past?.(this.#prefix + topic) ?? { from: this.position, messages: [] };
  }
}
