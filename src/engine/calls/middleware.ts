// The middleware of a server, around the feature that serves a request: the first added is the outermost. Each calls
// `next` at most once, and may return a result of its own instead. Middleware that only checks requests is run without
// `next`, which saves 0.5 of 3.4 KB that the engine allocates for a call with guards (bench guard, "mooring, both").

import type { Call, Feature } from '../contract.ts';
import type { Middleware, RequestCheck, RequestInfo } from '../ports.ts';
import { requireFunctionArgument } from '../server-arguments.ts';

type Next = () => unknown;

/** Everything a request passes before its feature. */
export class MiddlewareChain {
  readonly #all: Middleware[] = [];

  get size(): number {
    return this.#all.length;
  }

  /** Adds middleware inside all that was added before. */
  add(middleware: Middleware): void {
    requireFunctionArgument('around', '(request, next) => next()', middleware);
    this.#all.push(middleware);
  }

  /** Runs a feature with all middleware around it. */
  run(call: Call, feature: Feature): unknown {
    return this.#all.length === 0 ? feature.run(call) : runFrom(this.#all, 0, call, () => feature.run(call));
  }
}

function runFrom(all: readonly Middleware[], start: number, request: RequestInfo, next: Next): unknown {
  for (let index = start; index < all.length; index++) {
    const middleware = all[index] as Middleware;
    const check = checkOf(middleware);
    if (check === undefined) return middleware(request, nextOf(all, index, request, next));
    const pending = check(request);
    if (pending !== undefined) return pending.then(nextOf(all, index, request, next));
  }
  return next();
}

/** What middleware calls to run the rest. */
function nextOf(all: readonly Middleware[], index: number, request: RequestInfo, next: Next): Next {
  let called = false;
  return () => {
    if (called) throw new Error('next() was called twice by the same middleware');
    called = true;
    return runFrom(all, index + 1, request, next);
  };
}

/** Combines several middleware; the first is the outermost. Those that only check are combined to one that only checks. */
export function compose(all: readonly Middleware[]): Middleware {
  const checks = all.map(checkOf);
  if (!checks.every((check) => check !== undefined)) return (request, next) => runFrom(all, 0, request, next);
  return checkMiddleware((request) => checkFrom(checks, 0, request));
}

function checkFrom(checks: readonly RequestCheck[], start: number, request: RequestInfo): void | Promise<void> {
  for (let index = start; index < checks.length; index++) {
    const pending = checks[index]?.(request);
    if (pending !== undefined) return continueChecks(pending, checks, index + 1, request);
  }
}

async function continueChecks(
  pending: Promise<void>,
  checks: readonly RequestCheck[],
  start: number,
  request: RequestInfo,
): Promise<void> {
  await pending;
  await checkFrom(checks, start, request);
}

/** Middleware that only checks a request before it runs. */
interface CheckMiddleware extends Middleware {
  readonly check: RequestCheck;
}

export function checkMiddleware(check: RequestCheck): CheckMiddleware {
  const middleware: Middleware = (request, next) => {
    const pending = check(request);
    return pending === undefined ? next() : pending.then(next);
  };
  return Object.assign(middleware, { check });
}

/** The check of middleware that only checks. */
export const checkOf = (middleware: Middleware): RequestCheck | undefined =>
  (middleware as Partial<CheckMiddleware>).check;
