// Middleware, outermost first. Each calls `next` at most once and may answer without it.

import type { Middleware, RequestInfo } from './ports.ts';

export function compose(middleware: readonly Middleware[], request: RequestInfo, last: () => unknown): unknown {
  const dispatch = (index: number): unknown => {
    const layer = middleware[index];
    if (layer === undefined) return last();
    let called = false;
    return layer(request, () => {
      if (called) throw new Error('next() was called twice by the same middleware');
      called = true;
      return dispatch(index + 1);
    });
  };
  return dispatch(0);
}
