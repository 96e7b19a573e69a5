// A request on its way to its feature, through the middleware: outermost first, each calls `next` at most once and may
// answer without it.

import type { Call } from './call.ts';
import type { Feature } from './feature.ts';
import type { Gate, Middleware } from './ports.ts';

/** Everything a request passes before its feature. */
export class Layers {
  /** The gates outside of all other layers, as one: most servers have nothing else. */
  #gate: Gate | undefined;
  readonly #others: Middleware[] = [];

  /** Adds a layer inside those there are. */
  add(layer: Middleware): void {
    if (layer.gate === undefined || this.#others.length > 0) this.#others.push(layer);
    else this.#gate = this.#gate === undefined ? layer.gate : inTurn(this.#gate, layer.gate);
  }

  /** Runs a feature with all layers around it. */
  run(call: Call, feature: Feature): unknown {
    const gate = this.#gate;
    const held = gate === undefined ? undefined : gate(call);
    if (held !== undefined) return held.then(() => this.#pass(call, feature, 0));
    return this.#others.length === 0 ? feature.run(call) : this.#pass(call, feature, 0);
  }

  /** The layers from one on, then the feature. */
  #pass(call: Call, feature: Feature, from: number): unknown {
    const layers = this.#others;
    for (let at = from; at < layers.length; at++) {
      const layer = layers[at] as Middleware;
      if (layer.gate === undefined) return this.#wrap(layer, call, feature, at + 1);
      const held = layer.gate(call);
      if (held !== undefined) return held.then(() => this.#pass(call, feature, at + 1));
    }
    return feature.run(call);
  }

  #wrap(layer: Middleware, call: Call, feature: Feature, rest: number): unknown {
    let called = false;
    return layer(call, () => {
      if (called) throw new Error('next() was called twice by the same middleware');
      called = true;
      return this.#pass(call, feature, rest);
    });
  }
}

function inTurn(outer: Gate, inner: Gate): Gate {
  return (request) => {
    const held = outer(request);
    return held === undefined ? inner(request) : held.then(() => inner(request));
  };
}

/** Middleware that is nothing but a gate. */
export function gate(check: Gate): Middleware {
  const layer: Middleware = (request, next) => {
    const held = check(request);
    return held === undefined ? next() : held.then(next);
  };
  return Object.assign(layer, { gate: check });
}
