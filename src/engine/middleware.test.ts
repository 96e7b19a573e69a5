import { expect, test } from 'vitest';
import type { Call, Feature } from './contract.ts';
import { checkMiddleware, MiddlewareChain } from './middleware.ts';
import type { Middleware } from './ports.ts';

/** Middleware that records its calls, around a feature that does too. */
function traced(...kinds: string[]) {
  const trace: string[] = [];
  const chain = new MiddlewareChain();
  for (const kind of kinds) chain.add(middlewareOf(kind, trace));
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
