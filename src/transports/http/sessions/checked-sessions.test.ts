import { expect, test, vi } from 'vitest';
import type { Bus } from '../../../protocol/ports.ts';
import { CheckedSessions } from './checked-sessions.ts';

function fakeBus() {
  const gaps: (() => void)[] = [];
  const bus = { freshAtMs: 0, onGap: (listener: () => void) => void gaps.push(listener) };
  const gap = (): void => {
    for (const listener of gaps) listener();
  };
  return { bus: bus as unknown as Bus & { freshAtMs: number }, gap };
}

const session = (key = 'k') => ({ key, checkedAtMs: Number.NEGATIVE_INFINITY });

test('without a bus the store is asked once a second', () => {
  const checked = new CheckedSessions(undefined);
  const it = session();
  expect(checked.isCurrent(it, 10_000)).toBe(false);
  it.checkedAtMs = 10_000;
  expect([checked.isCurrent(it, 10_999), checked.isCurrent(it, 11_000)]).toEqual([true, false]);
});

test('with a bus that is up to date the store is asked once', () => {
  const { bus } = fakeBus();
  const checked = new CheckedSessions(bus);
  const it = session();
  bus.freshAtMs = 99_500;
  expect(checked.isCurrent(it, 100_000)).toBe(false);
  it.checkedAtMs = 10_000;
  expect(checked.isCurrent(it, 100_000)).toBe(true);
  expect(checked.isCurrent(it, 100_500)).toBe(false);
});

test('while the bus is not up to date, the store is asked each time, also right after it has answered', () => {
  const { bus } = fakeBus();
  const checked = new CheckedSessions(bus);
  const it = session();
  bus.freshAtMs = 8_000;
  it.checkedAtMs = 10_000;
  expect(checked.isCurrent(it, 10_001)).toBe(false);
  bus.freshAtMs = 9_900;
  expect(checked.isCurrent(it, 10_002)).toBe(true);
});

test('a changed session is looked up again by every request until the store has answered', () => {
  const { bus } = fakeBus();
  const checked = new CheckedSessions(bus);
  const it = session();
  bus.freshAtMs = it.checkedAtMs = 10_000;
  checked.changed('other');
  expect(checked.isCurrent(it, 10_001)).toBe(true);
  checked.changed('k');
  expect([checked.isCurrent(it, 10_002), checked.isCurrent(it, 10_003)]).toEqual([false, false]);
  it.checkedAtMs = 10_002;
  expect(checked.isCurrent(it, 10_004)).toBe(true);
});

test('a session that is changed while the store is asked is not served as it was', () => {
  const { bus } = fakeBus();
  const checked = new CheckedSessions(bus, 5_000);
  const it = session();
  bus.freshAtMs = it.checkedAtMs = 10_000;
  expect(checked.mayBeStale(it, 12_000)).toBe(true);
  checked.changed('k');
  expect(checked.mayBeStale(it, 12_000)).toBe(false);
  // Another request has begun to ask again.
  expect(checked.isCurrent(it, 12_000)).toBe(false);
  expect(checked.mayBeStale(it, 12_000)).toBe(false);
});

test('after a gap, and after more changes than are remembered, every session is looked up again', () => {
  vi.useFakeTimers({ now: 0 });
  const { bus, gap } = fakeBus();
  const checked = new CheckedSessions(bus);
  const it = session();
  const now = performance.now();
  bus.freshAtMs = it.checkedAtMs = now;
  expect(checked.isCurrent(it, now)).toBe(true);
  gap();
  expect(checked.isCurrent(it, now)).toBe(false);
  it.checkedAtMs = now + 1;
  expect(checked.isCurrent(it, now + 1)).toBe(true);
  vi.advanceTimersByTime(10);
  for (let n = 0; n < 10_001; n++) checked.changed(`k ${n}`);
  expect(checked.isCurrent(it, now + 11)).toBe(false);
  vi.useRealTimers();
});
