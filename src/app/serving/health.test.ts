import { expect, test, vi } from 'vitest';
import { type Health, HealthRegistry } from './health.ts';

test('every part is checked, and one that throws is a failed part', async () => {
  const health = new HealthRegistry();
  health.add('store', () => ({ status: 'ok' }));
  health.add('search', async () => ({ status: 'degraded', detail: 'slow' }));
  health.add('plugin weather', () => {
    throw new Error('no station');
  });
  expect(await health.check()).toEqual([
    { name: 'store', status: 'ok' },
    { name: 'search', status: 'degraded', detail: 'slow' },
    { name: 'plugin weather', status: 'failed', detail: 'no station' },
  ]);
});

test.each<[string, unknown, object]>([
  [
    'an unknown status',
    { status: 'fine', detail: 'x' },
    { status: 'failed', detail: 'the check returned no valid status' },
  ],
  ['no object', 5, { status: 'failed', detail: 'the check returned no valid status' }],
  ['a detail that is not a text', { status: 'ok', detail: { a: 1 } }, { status: 'ok' }],
  ['hidden characters', { status: 'ok', detail: '\x1b[31mred\u202e' }, { status: 'ok', detail: 'red' }],
  ['a long detail', { status: 'ok', detail: 'x'.repeat(100_000) }, { status: 'ok', detail: `${'x'.repeat(4_095)}…` }],
  [
    'a getter that throws',
    Object.defineProperty({}, 'status', { get: () => JSON.parse('{') }),
    { status: 'failed', detail: expect.any(String) },
  ],
])('a check that returns %s does not affect other parts', async (_, value, shown) => {
  const health = new HealthRegistry();
  health.add('plugin', () => value as Health);
  health.add('store', () => ({ status: 'ok' }));
  expect(await health.check()).toEqual([
    { name: 'plugin', ...shown },
    { name: 'store', status: 'ok' },
  ]);
});

test('a check that hangs is a failed part after two seconds', async () => {
  vi.useFakeTimers();
  try {
    const health = new HealthRegistry();
    health.add('stuck', () => new Promise(() => {}));
    const asked = health.check();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await asked).toEqual([{ name: 'stuck', status: 'failed', detail: 'no response within 2000 ms' }]);
  } finally {
    vi.useRealTimers();
  }
});

test('removing a part that was replaced keeps its replacement', async () => {
  const health = new HealthRegistry();
  const remove = health.add('a', () => ({ status: 'ok' }));
  health.add('a', () => ({ status: 'degraded' }));
  remove();
  expect(await health.check()).toEqual([{ name: 'a', status: 'degraded' }]);
});
