import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

test.each([
  ['where the process has a clock of its own', process],
  ['where it has none', undefined],
])('%s, time is on the scale of performance.now() and never runs backwards', async (_, stub) => {
  vi.stubGlobal('process', stub);
  const { monotonicMs } = await import('./clock.ts');
  let last = monotonicMs();
  for (let n = 0; n < 1000; n++) {
    const before = performance.now();
    const now = monotonicMs();
    expect(now).toBeGreaterThanOrEqual(last);
    // The two are brought together once, and a busy machine may stop the process just then.
    expect(now).toBeGreaterThan(before - 1000);
    expect(now).toBeLessThan(performance.now() + 1000);
    last = now;
  }
});
