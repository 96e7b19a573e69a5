import { expect, test, vi } from 'vitest';
import { HealthRegistry } from './health.ts';

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
