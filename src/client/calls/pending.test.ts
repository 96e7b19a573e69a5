import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { OutgoingCall } from './outgoing-call.ts';
import { PendingCalls } from './pending.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function table() {
  const expired: string[] = [];
  const calls = new PendingCalls(({ method }) => void expired.push(method));
  const add = (name: string): OutgoingCall => {
    const call = new OutgoingCall({ name }, '', () => undefined);
    call.timeoutMs = 100;
    call.maxTimeoutMs = 1_000;
    calls.add(call);
    return call;
  };
  return { calls, add, expired };
}

test('time limits of single calls are paused, and go on with the time that is left', () => {
  const { calls, add, expired } = table();
  const [held] = [add('held'), add('other')];
  vi.advanceTimersByTime(60);
  const release = calls.hold(new Set([held.options]));
  vi.advanceTimersByTime(500);
  expect(expired).toEqual(['other']);
  release();
  vi.advanceTimersByTime(30);
  expect(expired).toEqual(['other']);
  vi.advanceTimersByTime(20);
  expect(expired).toEqual(['other', 'held']);
});

test('a call that is held for two reasons gets the time once, when both have ended', () => {
  const { calls, add, expired } = table();
  const one = add('one');
  const [all, single] = [calls.hold(), calls.hold(new Set([one.options]))];
  add('later');
  vi.advanceTimersByTime(200);
  all();
  vi.advanceTimersByTime(150);
  expect(expired).toEqual(['later']);
  single();
  vi.advanceTimersByTime(90);
  expect(expired).toEqual(['later']);
  vi.advanceTimersByTime(20);
  expect(expired).toEqual(['later', 'one']);
});

test('what was held for one request does not count for the next request of the call', () => {
  const { calls, add, expired } = table();
  const call = add('again');
  const single = calls.hold(new Set([call.options]));
  calls.take(call.id);
  const all = calls.hold();
  calls.add(call);
  single();
  vi.advanceTimersByTime(300);
  expect(expired).toEqual([]);
  all();
  vi.advanceTimersByTime(110);
  expect(expired).toEqual(['again']);
});
