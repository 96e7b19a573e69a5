// Middleware, outermost first. Each calls `next` at most once and may answer without it.

import type { Middleware, RequestInfo } from './ports.ts';

/** Runs the middleware from `index` on, then `last`. */
export function compose(
  middleware: readonly Middleware[],
  request: RequestInfo,
  last: () => unknown,
  index = 0,
): unknown {
  const layer = middleware[index];
  if (layer === undefined) return last();
  let called = false;
  return layer(request, () => {
    if (called) throw new Error('next() was called twice by the same middleware');
    called = true;
    return compose(middleware, request, last, index + 1);
  });
}
