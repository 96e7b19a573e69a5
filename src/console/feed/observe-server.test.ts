// When messages are observed: at the start, while a page is open, and for a minute after that.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createServer, type Server } from '../../engine/server.ts';
import { Capture } from './capture.ts';
import { Feed } from './feed.ts';
import { ServerObserver } from './observe-server.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function observed(keep: boolean): { observer: ServerObserver; count: () => number; server: Server } {
  const server = createServer({ name: 'observed', version: '1.0.0', logger: false });
  let attached = 0;
  const observe = server.observe.bind(server);
  server.observe = (observer) => {
    attached++;
    const remove = observe(observer);
    return () => {
      attached--;
      remove();
    };
  };
  const observer = new ServerObserver(server, new Feed(new Capture()), keep);
  return { observer, count: () => attached, server };
}

test('without a page it is detached after a minute', () => {
  const { observer, count } = observed(false);
  expect([observer.isAttached, count()]).toEqual([true, 1]);
  vi.advanceTimersByTime(60_000);
  expect([observer.isAttached, count()]).toEqual([false, 0]);
});

test('it is attached once while pages are open, and for a minute after the last one', () => {
  const { observer, count } = observed(false);
  vi.advanceTimersByTime(60_000);
  const [first, second] = [observer.watch(), observer.watch()];
  expect(count()).toBe(1);
  first();
  first();
  vi.advanceTimersByTime(120_000);
  expect(count()).toBe(1);
  second();
  vi.advanceTimersByTime(59_000);
  expect(count()).toBe(1);
  // A page that is loaded again goes on where it was.
  const again = observer.watch();
  vi.advanceTimersByTime(120_000);
  expect(count()).toBe(1);
  again();
  vi.advanceTimersByTime(60_000);
  expect(count()).toBe(0);
});

test('with keep it stays until the console is closed', () => {
  const { observer, count } = observed(true);
  vi.advanceTimersByTime(3_600_000);
  expect(count()).toBe(1);
  observer.close();
  expect(count()).toBe(0);
});
