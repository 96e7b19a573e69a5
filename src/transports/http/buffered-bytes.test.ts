import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BufferedBytes } from './buffered-bytes.ts';
import { defaultHttpLimits } from './limits.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const make = () =>
  new BufferedBytes({
    ...defaultHttpLimits,
    maxBufferedBytes: 1000,
    maxBufferedBytesPerCaller: 300,
    bufferWaitMs: 2000,
  });

test('a caller is full when it holds its share, and all callers are when the total is used up', () => {
  const pool = make();
  const ada = pool.open('ada');
  ada.set(299);
  expect(pool.isFull('ada')).toBe(false);
  ada.set(300);
  expect([pool.isFull('ada'), pool.isFull('grace'), pool.exhausted]).toEqual([true, false, false]);
  const others = ['b', 'c', 'd'].map((caller) => pool.open(caller));
  for (const each of others) each.set(250);
  expect([pool.isFull('grace'), pool.exhausted]).toEqual([true, true]);
  ada.release();
  expect([pool.isFull('grace'), pool.held]).toEqual([false, 750]);
});

test('a finished response may exceed the limit, but only up to a second limit', () => {
  const pool = make();
  const ada = pool.open('ada');
  ada.set(400);
  expect([pool.isFull('ada'), pool.isOverfull('ada')]).toEqual([true, false]);
  ada.set(600);
  expect(pool.isOverfull('ada')).toBe(true);
});

test('waiting requests continue in order once there is space, and not earlier', () => {
  const pool = make();
  const ada = pool.open('ada');
  ada.set(300);
  const gone: string[] = [];
  pool.whenRoom('ada', (hasRoom) => gone.push(`first ${hasRoom}`));
  pool.whenRoom('ada', (hasRoom) => gone.push(`second ${hasRoom}`));
  pool.whenRoom('grace', (hasRoom) => gone.push(`grace ${hasRoom}`));
  expect(gone).toEqual(['grace true']);
  ada.set(290);
  expect(gone).toEqual(['grace true', 'first true', 'second true']);
});

test('a request that uses the space leaves none for the next', () => {
  const pool = make();
  const ada = pool.open('ada');
  ada.set(300);
  const second = pool.open('ada');
  const gone: boolean[] = [];
  pool.whenRoom('ada', () => second.set(300));
  pool.whenRoom('ada', (hasRoom) => gone.push(hasRoom));
  ada.release();
  expect(gone).toEqual([]);
  vi.advanceTimersByTime(2000);
  expect(gone).toEqual([false]);
});

test('a request that stops waiting is not called, and beyond a number requests do not wait', () => {
  const pool = make();
  pool.open('ada').set(300);
  const gone: boolean[] = [];
  const stop = pool.whenRoom('ada', (hasRoom) => gone.push(hasRoom));
  stop();
  vi.advanceTimersByTime(2000);
  expect(gone).toEqual([]);
  for (let n = 0; n < 300; n++) pool.whenRoom('ada', (hasRoom) => gone.push(hasRoom));
  expect(gone).toEqual(Array.from({ length: 44 }, () => false));
});
