import { expect, test } from 'vitest';
import type { Call, Feature } from './contract.ts';
import { checkMiddleware, MiddlewareChain } from './middleware.ts';
import type { Middleware } from './ports.ts';

/** Layers that leave a trace, and a feature at their end. */
function traced(...kinds: string[]) {
  const trace: string[] = [];
  const layers = new MiddlewareChain();
  for (const kind of kinds) layers.add(layerOf(kind, trace));
  const feature = {
    run: () => {
      trace.push('feature');
      return 'answer';
    },
  } as unknown as Feature;
  return { trace, run: () => layers.run({} as Call, feature) };
}

function layerOf(kind: string, trace: string[]): Middleware {
  if (kind.startsWith('gate')) return checkMiddleware(() => void trace.push(kind));
  if (kind.startsWith('slow')) {
    return checkMiddleware(async () => {
      await Promise.resolve();
      trace.push(kind);
    });
  }
  if (kind.startsWith('shut')) {
    return checkMiddleware(() => {
      throw new Error(kind);
    });
  }
  return (_request, next) => {
    trace.push(`${kind} in`);
    const answer = next();
    trace.push(`${kind} out`);
    return answer;
  };
}

test('a feature without layers is run', () => {
  const { trace, run } = traced();
  expect(run()).toBe('answer');
  expect(trace).toEqual(['feature']);
});

test.each([
  [
    ['gate 1', 'gate 2', 'gate 3'],
    ['gate 1', 'gate 2', 'gate 3', 'feature'],
  ],
  [
    ['wrap 1', 'gate 2', 'wrap 3', 'gate 4'],
    ['wrap 1 in', 'gate 2', 'wrap 3 in', 'gate 4', 'feature', 'wrap 3 out', 'wrap 1 out'],
  ],
  [
    ['gate 1', 'wrap 2', 'gate 3'],
    ['gate 1', 'wrap 2 in', 'gate 3', 'feature', 'wrap 2 out'],
  ],
])('%j are met in the order they were added', (kinds, expected) => {
  const { trace, run } = traced(...kinds);
  expect(run()).toBe('answer');
  expect(trace).toEqual(expected);
});

test.each([[['slow 1', 'gate 2', 'slow 3', 'wrap 4']], [['gate 1', 'slow 2', 'wrap 3', 'slow 4']], [['slow 1']]])(
  'a gate of %j that takes its time holds up all that is inside of it',
  async (kinds) => {
    const { trace, run } = traced(...kinds);
    expect(await run()).toBe('answer');
    const met = trace.filter((step) => !step.endsWith('out')).map((step) => step.replace(' in', ''));
    expect(met).toEqual([...kinds, 'feature']);
  },
);

test.each([[['gate 1', 'shut 2', 'gate 3']], [['slow 1', 'shut 2', 'gate 3']], [['gate 1', 'wrap 1', 'shut 2']]])(
  'behind a gate of %j that is shut nothing is met',
  async (kinds) => {
    const { trace, run } = traced(...kinds);
    await expect((async () => run())()).rejects.toThrow('shut 2');
    expect(trace.join()).not.toContain('3');
    expect(trace).not.toContain('feature');
  },
);
