// The middleware of a server, around the feature that serves a request: the first added is the outermost. Each calls
// `next` at most once, and may return a result of its own instead.

import type { Call, Feature } from './contract.ts';
import type { Middleware, RequestCheck } from './ports.ts';

/** Everything a request passes before its feature. */
export class MiddlewareChain {
  readonly #all: Middleware[] = [];
  readonly #composed = compose(this.#all);

  get size(): number {
    return this.#all.length;
  }

  /** Adds middleware inside all that was added before. */
  add(middleware: Middleware): void {
    this.#all.push(middleware);
  }

  /** Runs a feature with all middleware around it. */
  run(call: Call, feature: Feature): unknown {
    return this.#all.length === 0 ? feature.run(call) : this.#composed(call, () => feature.run(call));
  }
}

/** Combines several middleware; the first is the outermost. Middleware that is added to the list later runs too. */
export function compose(all: readonly Middleware[]): Middleware {
  const runFrom = (index: number, request: Parameters<Middleware>[0], next: () => unknown): unknown => {
    const middleware = all[index];
    if (middleware === undefined) return next();
    let called = false;
    return middleware(request, () => {
      if (called) throw new Error('next() was called twice by the same middleware');
      called = true;
      return runFrom(index + 1, request, next);
    });
  };
  return (request, next) => runFrom(0, request, next);
}

/** Middleware that only checks a request before it runs. */
export function checkMiddleware(check: RequestCheck): Middleware {
  return (request, next) => {
    const pending = check(request);
    return pending === undefined ? next() : pending.then(next);
  };
}
