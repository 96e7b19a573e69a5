// A request on its way to its feature, through the middleware: outermost first, each calls `next` at most once and may
// answer without it.

import type { Call } from './call.ts';
import type { Feature } from './feature.ts';
import type { Gate, Middleware } from './ports.ts';

/** Runs the middleware from `index` on, then the feature. */
export function compose(call: Call, feature: Feature, index = 0): unknown {
  const { middleware } = call.core;
  for (let at = index; at < middleware.length; at++) {
    const layer = middleware[at] as Middleware;
    if (layer.gate === undefined) return wrap(call, feature, at, layer);
    const held = layer.gate(call);
    if (held !== undefined) return held.then(() => compose(call, feature, at + 1));
  }
  return feature.run(call);
}

function wrap(call: Call, feature: Feature, at: number, layer: Middleware): unknown {
  let called = false;
  return layer(call, () => {
    if (called) throw new Error('next() was called twice by the same middleware');
    called = true;
    return compose(call, feature, at + 1);
  });
}

/** Adds a layer inside the others. Gates that follow each other become one: a request then passes a single call. */
export function addLayer(layers: Middleware[], layer: Middleware): void {
  const outer = layers.at(-1)?.gate;
  if (outer === undefined || layer.gate === undefined) layers.push(layer);
  else layers[layers.length - 1] = gate(inTurn(outer, layer.gate));
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
