import { expect, test } from 'vitest';
import type { Call, Feature } from '../contract.ts';
import type { Middleware } from '../ports.ts';
import { checkMiddleware, checkOf, compose, MiddlewareChain } from './middleware.ts';

/** Middleware that records its calls, around a feature that does too. */
function traced(...kinds: string[]) {
  return tracedAs((all) => all, ...kinds);
}

/** The same, with the middleware that `combine` makes of it. */
function tracedAs(combine: (all: readonly Middleware[]) => readonly Middleware[], ...kinds: string[]) {
  const trace: string[] = [];
  const chain = new MiddlewareChain();
  for (const middleware of combine(kinds.map((kind) => middlewareOf(kind, trace)))) chain.add(middleware);
  const feature = {
    run: () => {
      trace.push('feature');
      return 'result';
    },
  } as unknown as Feature;
  return { trace, run: () => chain.run({} as Call, feature) };
}

function middlewareOf(kind: string, trace: string[]): Middleware {
  if (kind.startsWith('check')) return checkMiddleware(() => void trace.push(kind));
  if (kind.startsWith('slow')) {
    return checkMiddleware(async () => {
      await Promise.resolve();
      trace.push(kind);
    });
  }
  if (kind.startsWith('throw')) {
    return checkMiddleware(() => {
      throw new Error(kind);
    });
  }
  return (_request, next) => {
    trace.push(`${kind} in`);
    const result = next();
    trace.push(`${kind} out`);
    return result;
  };
}

test('a feature without middleware runs', () => {
  const { trace, run } = traced();
  expect(run()).toBe('result');
  expect(trace).toEqual(['feature']);
});

test.each([
  [
    ['check 1', 'check 2', 'check 3'],
    ['check 1', 'check 2', 'check 3', 'feature'],
  ],
  [
    ['wrap 1', 'check 2', 'wrap 3', 'check 4'],
    ['wrap 1 in', 'check 2', 'wrap 3 in', 'check 4', 'feature', 'wrap 3 out', 'wrap 1 out'],
  ],
  [
    ['check 1', 'wrap 2', 'check 3'],
    ['check 1', 'wrap 2 in', 'check 3', 'feature', 'wrap 2 out'],
  ],
])('%j run in the order in which they were added', (kinds, expected) => {
  const { trace, run } = traced(...kinds);
  expect(run()).toBe('result');
  expect(trace).toEqual(expected);
});

test.each([[['slow 1', 'check 2', 'slow 3', 'wrap 4']], [['check 1', 'slow 2', 'wrap 3', 'slow 4']], [['slow 1']]])(
  'a slow check of %j delays everything inside it',
  async (kinds) => {
    const { trace, run } = traced(...kinds);
    expect(await run()).toBe('result');
    const order = trace.filter((step) => !step.endsWith('out')).map((step) => step.replace(' in', ''));
    expect(order).toEqual([...kinds, 'feature']);
  },
);

test.each([
  [['check 1', 'throw 2', 'check 3']],
  [['slow 1', 'throw 2', 'check 3']],
  [['check 1', 'wrap 1', 'throw 2']],
])('after a check of %j that throws, nothing runs', async (kinds) => {
  const { trace, run } = traced(...kinds);
  await expect((async () => run())()).rejects.toThrow('throw 2');
  expect(trace.join()).not.toContain('3');
  expect(trace).not.toContain('feature');
});

const mixed = [
  ['check 1', 'check 2', 'check 3'],
  ['check 1', 'slow 2', 'check 3', 'slow 4'],
  ['slow 1', 'wrap 2', 'check 3'],
  ['wrap 1', 'slow 2', 'wrap 3'],
  ['slow 1', 'throw 2', 'check 3'],
  ['check 1', 'wrap 2', 'throw 3'],
  [],
];

test.each(mixed.map((kinds) => [kinds]))('%j run as one exactly as they run one by one', async (kinds) => {
  const outcomeOf = async ({ trace, run }: ReturnType<typeof traced>) => ({
    outcome: await (async () => run())().catch(String),
    trace,
  });
  const expected = await outcomeOf(traced(...kinds));
  expect(await outcomeOf(tracedAs((all) => [compose(all)], ...kinds))).toEqual(expected);
  const halves = (all: readonly Middleware[]) => [compose(all.slice(0, 1)), compose([compose(all.slice(1))])];
  expect(await outcomeOf(tracedAs(halves, ...kinds))).toEqual(expected);
  // As a function, without its check.
  const functions = (all: readonly Middleware[]) =>
    all.map(
      (each): Middleware =>
        (request, next) =>
          each(request, next),
    );
  expect(await outcomeOf(tracedAs(functions, ...kinds))).toEqual(expected);
});

test('combined middleware is a check if all of it is', () => {
  const check = checkMiddleware(() => {});
  expect(checkOf(compose([check, check]))).toBeTypeOf('function');
  expect(checkOf(compose([check, (_request, next) => next()]))).toBeUndefined();
});

test('middleware that calls next twice fails, inside others too', async () => {
  const chain = new MiddlewareChain();
  let count = 0;
  chain.add(checkMiddleware(() => {}));
  chain.add((_request, next) => [next(), next()]);
  expect(() => chain.run({} as Call, { run: () => count++ } as unknown as Feature)).toThrow('next() was called twice');
  expect(count).toBe(1);
});
